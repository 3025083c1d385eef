"""The table of clients, actions and results that ``make test-clients`` prints.

Each test names its client and what the client does: ``@pytest.mark.client("npm", "install", "update")``.
A client's name may contain a parameter of the test, such as ``skills {skills}``.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

RESULTS = ("passed", "left out", "failed")  # from the best to the worst
_HEAD = ("client", "action", "result")
_rows: dict[tuple[str, str], str] = {}


def named_actions(items: Iterable[pytest.Item]) -> set[tuple[str, str]]:
    """Each client and action that the tests name."""
    return {pair for item in items for pair in _pairs(item)}


def _pairs(item: pytest.Item) -> list[tuple[str, str]]:
    params = getattr(getattr(item, "callspec", None), "params", {})
    return [
        (mark.args[0].format(**params), action)
        for mark in item.iter_markers("client")
        for action in mark.args[1:]
    ]


def record(item: pytest.Item, report: pytest.TestReport) -> None:
    """Keeps the worst result of each action that the test names."""
    if report.when != "call" and report.passed:
        return
    result = "left out" if report.skipped else "failed" if report.failed else "passed"
    for pair in _pairs(item):
        _rows[pair] = max(result, _rows.get(pair, "passed"), key=RESULTS.index)


def lines() -> list[str]:
    """The table in Markdown, sorted by client; empty if no test named an action."""
    rows = [_HEAD, ("---",) * 3, *((*pair, result) for pair, result in sorted(_rows.items()))]
    return [f"| {' | '.join(row)} |" for row in rows] if _rows else []
