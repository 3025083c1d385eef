"""A run as rows of time: how long it waited, what the platform did, and the skill's own steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from django.utils.translation import gettext_lazy as _

from portal.charts import Bar, Span, bars
from portal.results import Shown, shown
from portal.texts import json_text
from worker.models import Attempt, Run, Step

_PLATFORM = {
    "unpack": _("Unpack the package"),
    "sandbox": _("Start the sandbox"),
    "execute": _("Run the script"),
    "collect": _("Collect files"),
    "record": _("Record the outcome"),
}
MOST = 500  # steps that a page draws


@dataclass(frozen=True)
class Row:
    """One row of the waterfall; ``error`` is text, its stack with it."""

    name: str
    kind: Literal["waiting", "platform", "skill"]
    duration_ms: float | None
    start_ms: float
    bar: Bar | None = None
    seq: int = 0
    failed: bool = False
    input: Shown | None = None
    output: Shown | None = None
    error: str = ""
    attempt: int = 1

    @property
    def has_detail(self) -> bool:
        return bool(self.input or self.output or self.error)


def timeline(run: Run, *, readable: bool) -> list[Row]:
    """The rows in their order, bars on one scale; a skill's steps only for who may read the run."""
    rows = _waiting(run)
    for attempt in run.attempts.order_by("number"):
        offset = max(0.0, (attempt.started_at - run.created_at).total_seconds() * 1000)
        platform = _platform(attempt, offset)
        steps = list(run.steps.filter(attempt=attempt.number).order_by("seq")[:MOST]) if readable else []
        rows += _with_steps(platform, steps, run, offset)
    drawn = bars([Span(row.start_ms, row.duration_ms or 0) for row in rows])
    return [replace(row, bar=bar) for row, bar in zip(rows, drawn, strict=True)]


def _waiting(run: Run) -> list[Row]:
    if not run.started_at or run.cached_from_id:
        return []
    waited = max(0.0, (run.started_at - run.created_at).total_seconds() * 1000)
    return [Row(str(_("Waiting in the queue")), "waiting", waited, 0.0)]


def _platform(attempt: Attempt, offset: float) -> list[Row]:
    rows, at = [], offset
    for step in attempt.steps:
        duration = _number(step.get("duration_ms"))
        start = offset + start_ms if (start_ms := _number(step.get("start_ms"))) is not None else at
        name = str(step.get("name", ""))
        error = step.get("error")
        rows.append(
            Row(
                str(_PLATFORM.get(name, name)),
                "platform",
                duration,
                start,
                failed=bool(error) or step.get("status") == "failed",
                error=_error(error),
                attempt=attempt.number,
            )
        )
        at = start + (duration or 0.0)
    return rows


def _with_steps(platform: list[Row], steps: Sequence[Step], run: Run, offset: float) -> list[Row]:
    """The skill's steps beneath the platform step that ran the script."""
    title = str(_PLATFORM["execute"])
    place = next((n for n, row in enumerate(platform) if row.name == title), len(platform) - 1)
    base = platform[place].start_ms if platform else offset
    return platform[: place + 1] + _steps(steps, run, base) + platform[place + 1 :]


def _steps(steps: Sequence[Step], run: Run, base: float) -> list[Row]:
    rows, at = [], base
    created = run.created_at.timestamp() * 1000
    for step in steps:
        duration = _number(step.duration_ms)
        begun = _number(step.timestamp)
        start = begun - created if begun and base <= begun - created <= base + 3_600_000 else at
        rows.append(
            Row(
                step.name or step.step_id,
                "skill",
                duration,
                start,
                seq=step.seq,
                failed=bool(step.error),
                input=_shown(step.input),
                output=_shown(step.output),
                error=_error(step.error),
                attempt=step.attempt,
            )
        )
        at = start + (duration or 0.0)
    return rows


def _shown(value: object) -> Shown | None:
    return None if value is None else shown(value)


def _number(value: object) -> float | None:
    sound = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15
    return float(value) if sound else None  # type: ignore[arg-type]


def _error(error: object) -> str:
    """Name and message, then the stack where it adds something."""
    if not error:
        return ""
    if not isinstance(error, Mapping):
        return str(error)
    head = ": ".join(str(error[key]) for key in ("name", "message") if error.get(key))
    stack = str(error.get("stack") or "")
    if stack and head and stack.startswith(head):
        return stack
    return "\n".join(part for part in (head, stack) if part) or json_text(dict(error))


def duration_words(milliseconds: float | None) -> str:
    """A duration as people read it: "0.4 ms", "320 ms", "4.2 s", "3 min 05 s", "1 h 02 min"."""
    if milliseconds is None:
        return "—"
    seconds = milliseconds / 1000
    if seconds < 1:
        return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.2g} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def waited_ms(run: Run, now: Any) -> float:
    end = run.started_at or run.finished_at or now
    return max(0.0, (end - run.created_at).total_seconds() * 1000)


def ran_ms(run: Run, now: Any) -> float | None:
    if not run.started_at or run.cached_from_id:
        return None
    return max(0.0, ((run.finished_at or now) - run.started_at).total_seconds() * 1000)
