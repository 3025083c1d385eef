"""The suites: which tests ``--suite`` runs.

- ``sample`` (``make test``): of each matrix, and of a test with many cases, a seeded choice; of the tests of
  pages, and of those with a browser, a fifth, drawn by the seed; of those of the API, the registry and the
  worker, two fifths; all others; the main path of each page in two forms.
- ``fast`` (``make test-fast``): the tests that need no database, browser, sandbox or real client.
- ``services`` (second pass of ``.ci/run``): the tests that touch database, broker or storage;
  of the tests of pages, a fourth, and of the API, half, drawn by the seed.
- ``clients`` (``make test-clients``): the tests with real clients, which no other suite runs.
- ``full`` (``make test-full``): every combination of each matrix (with ``full_at_most``, that many, drawn by
  the seed), the tests marked ``full``, and the cases and tests of pages that ``sample`` with the same
  seed leaves out.
"""

from __future__ import annotations

import os
import secrets
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from random import Random

import pytest

SUITES = ("sample", "fast", "services", "clients", "full")
SLOW_FOLDERS = ("api", "attacks", "browser", "clients", "examples", "faults", "sandbox", "soak")
DATABASE_FIXTURES = {"db", "transactional_db", "live_server", "django_db_setup"}
SHARES = {  # of the tests in these folders and files; of others, all
    "sample": {
        "portal": 1 / 5,
        "browser": 1 / 5,
        "browser/test_main_paths.py": 1,
        "api": 2 / 5,
        "registry": 2 / 5,
        "worker": 2 / 5,
    },
    "services": {"portal": 1 / 4, "api": 1 / 2},
}
CASES_AT_MOST = 4  # of a parametrized test without a matrix, in every suite but ``full``
_SEED = "TEST_SEED"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--suite", choices=SUITES, default="sample", help="the tests to run: see tests/suites.py"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Draws the seed once, before the processes of the run start and inherit it."""
    os.environ.setdefault(_SEED, secrets.token_hex(3))


def pytest_report_header(config: pytest.Config) -> str:
    return f"suite: {config.getoption('--suite')}, {_SEED}={os.environ[_SEED]}"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    is_fast = config.getoption("--suite") == "fast"
    return True if is_fast and collection_path.is_dir() and collection_path.name in SLOW_FOLDERS else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("lf"):
        return  # Only the failed cases were collected, too few to draw the same ones again.
    suite = config.getoption("--suite")
    sampled = _sample(items, os.environ[_SEED], "full_at_most" if suite == "full" else "at_most")
    left_out = _cases_left_out(items, os.environ[_SEED])
    named = {Path(argument.partition("::")[0]).resolve() for argument in config.args}
    kept = [item for item in items if _belongs(item, suite, sampled, left_out, named)]
    if len(kept) < len(items):
        chosen = set(kept)
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = kept


def _belongs(
    item: pytest.Item,
    suite: str,
    sampled: set[pytest.Item],
    left_out: set[pytest.Item],
    named: set[Path],
) -> bool:
    """``named`` are the files and folders of the command line: a file of pages runs whole if it is named."""
    is_client = item.path.parent.name == "clients"
    if is_client or suite == "clients":
        return is_client and suite == "clients"
    if item.get_closest_marker("postgresql") is not None and suite in ("services", "full"):
        return suite == "services"
    is_full = item.get_closest_marker("full") is not None
    is_matrix = _matrix_values(item) is not None
    if suite == "full":
        is_drawn = item in sampled or not _has_mark(item, "full_at_most")
        is_rest = item in left_out or not _is_drawn(item, "sample")
        return is_drawn and (is_rest or is_full or is_matrix)
    if is_full or item in left_out:
        return False
    if suite == "fast":
        return not _uses_database(item) and item.get_closest_marker("slow") is None
    if is_matrix and item not in sampled:
        return False
    is_drawn = item.path in named or _is_drawn(item, suite)
    return is_drawn and (suite == "sample" or _uses_services(item))


def _cases_left_out(items: list[pytest.Item], seed: str) -> set[pytest.Item]:
    """The cases that ``sample`` leaves out: of each test without a matrix, all but CASES_AT_MOST."""
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in sorted(items, key=lambda item: item.nodeid):
        if _matrix_values(item) is None and item.get_closest_marker("every_case") is None:
            tests[item.nodeid.partition("[")[0]].append(item)
    left_out = set()
    for name, cases in tests.items():
        Random(f"{seed}:{name}").shuffle(cases)
        left_out.update(cases[CASES_AT_MOST:])
    return left_out


def _uses_database(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    return item.get_closest_marker("django_db") is not None or bool(fixtures & DATABASE_FIXTURES)


def _uses_services(item: pytest.Item) -> bool:
    """Tests with a browser see the same pages on every database; those of a whole site name it as a fault."""
    marks = ("cluster", "faults")
    is_browser = item.get_closest_marker("browser") is not None
    return not is_browser and (_uses_database(item) or any(map(item.get_closest_marker, marks)))


def _is_drawn(item: pytest.Item, suite: str) -> bool:
    """Whether the seed draws the test for the suite; True for a test without a share."""
    test = item.nodeid.split("[")[0]
    path = test.split("::")[0].removeprefix("tests/")
    drawn = Random(f"{os.environ[_SEED]}:{test}").random()
    shares = SHARES[suite]
    return drawn < shares.get(path, shares.get(path.split("/")[0], 1))


def _matrix_values(item: pytest.Item) -> tuple[object, ...] | None:
    """The item's values of the axes of its ``matrix`` mark, its own name if the mark names none.

    None if the item has no mark or none of the axes.
    """
    mark = item.get_closest_marker("matrix")
    params = getattr(getattr(item, "callspec", None), "params", {})
    if mark is not None and not mark.args:
        return (item.name,)
    if mark is None or not set(mark.args) & set(params):
        return None
    values = (params.get(axis) for axis in mark.args)
    return tuple(repr(value) if isinstance(value, dict) else value for value in values)


def _has_mark(item: pytest.Item, limit: str) -> bool:
    mark = item.get_closest_marker("matrix")
    return mark is not None and limit in mark.kwargs


def _sample(items: list[pytest.Item], seed: str, limit: str) -> set[pytest.Item]:
    """The items with a ``matrix`` mark whose combination of the named parameters was drawn for their file."""
    groups: dict[tuple[Path, tuple[str, ...], int], dict[pytest.Item, tuple[object, ...]]] = defaultdict(dict)
    for item in items:
        mark, values = item.get_closest_marker("matrix"), _matrix_values(item)
        if mark is not None and values is not None:
            groups[item.path, mark.args, mark.kwargs.get(limit, 0)][item] = values
    return {
        item
        for (path, _axes, at_most), members in groups.items()
        for drawn in [_draw(set(members.values()), Random(f"{seed}:{path.name}"), at_most)]
        for item, values in members.items()
        if values in drawn
    }


def _draw(combos: set[tuple[object, ...]], random: Random, at_most: int) -> set[tuple[object, ...]]:
    """A few combinations in which each value occurs, and of three axes or more each pair of values.

    With ``at_most``, that many at random.
    """
    waiting = sorted(combos, key=repr)
    random.shuffle(waiting)
    if at_most:
        return set(waiting[:at_most])
    strength = 2 if waiting and len(waiting[0]) > 2 else 1
    parts = {combo: set(combinations(enumerate(combo), strength)) for combo in waiting}
    open_parts = set().union(*parts.values()) if parts else set()
    drawn: set[tuple[object, ...]] = set()
    while open_parts:
        best = max(waiting, key=lambda combo: len(parts[combo] & open_parts))
        drawn.add(best)
        open_parts -= parts[best]
    return drawn
