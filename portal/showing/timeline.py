"""A run as rows of time: how long it waited, what the platform did, and the skill's own steps.

Waiting for somebody's leave takes days where a run takes seconds: it is told, and the scale begins after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from django.db.models import Count
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from portal.showing.charts import Bar, Span, bars
from portal.showing.results import Shown, shown
from portal.showing.texts import json_text
from worker.models import Approval, Attempt, Run, Status, Step, StepKind

PLATFORM = {
    "unpack": _("Unpack the package"),
    "dependencies": _("Wait for what the scripts depend on"),
    "sandbox": _("Start the sandbox"),
    "execute": _("Run the script"),
    "collect": _("Collect files"),
    "record": _("Record the outcome"),
}
MOST = 500  # steps that a page draws
_VALUES = 3000  # of all their inputs, and as many of their outputs
_LONGEST_ERROR = 10_000  # characters


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
    about: str = ""  # what kind of step, where it is not simply one of the skill's own
    child: str = ""  # the run that it started

    @property
    def input_id(self) -> str:
        return f"step-{self.attempt}-{self.seq}-input"

    @property
    def output_id(self) -> str:
        return f"step-{self.attempt}-{self.seq}-output"

    @property
    def has_detail(self) -> bool:
        return bool(self.input or self.output or self.error or self.child)


def timeline(run: Run) -> list[Row]:
    """The rows in their order, bars on one scale; waiting for somebody's leave has none."""
    asked = Approval.objects.filter(run=run).first()
    let_at = (asked.decided_at if asked else None) or run.created_at
    rows = _waiting(run, let_at)
    for attempt in run.attempts.order_by("number"):
        platform = _platform(attempt, run, let_at)
        own = run.steps.filter(attempt=attempt.number).select_related("child").order_by("seq")
        steps = list(own.defer("child__request", "child__result")[:MOST])
        rows += _with_steps(platform, steps, let_at)
    drawn = bars([Span(row.start_ms, row.duration_ms or 0) for row in rows])
    apart = [_asked(run, asked)] if asked else []
    return apart + [replace(row, bar=bar) for row, bar in zip(rows, drawn, strict=True)]


def left_off(run: Run) -> int:
    """How many of the skill's steps the rows leave out."""
    counts = run.steps.order_by().values_list("attempt").annotate(Count("pk"))
    return sum(max(0, count - MOST) for _attempt, count in counts)


def _asked(run: Run, asked: Approval) -> Row:
    until = asked.decided_at or run.finished_at or timezone.now()
    waited = max(0.0, (until - run.created_at).total_seconds() * 1000)
    return Row(str(_("Waiting for somebody's leave")), "waiting", waited, 0.0)


def _waiting(run: Run, let_at: datetime) -> list[Row]:
    if not run.started_at or run.cached_from_id:
        return []
    waited = max(0.0, (run.started_at - let_at).total_seconds() * 1000)
    return [Row(str(_("Waiting in the queue")), "waiting", waited, 0.0)]


def _platform(attempt: Attempt, run: Run, let_at: datetime) -> list[Row]:
    """What the platform did; a script that was stopped because somebody asked has not failed."""
    now, let_ms = timezone.now().timestamp() * 1000, let_at.timestamp() * 1000
    stopped = run.status == Status.CANCELLED
    rows = []
    for step in attempt.steps:
        begun = _number(step.get("started_at")) or let_ms
        duration = _number(step.get("duration_ms"))
        going = duration is None and not attempt.finished_at
        name = str(step.get("name", ""))
        rows.append(
            Row(
                str(PLATFORM.get(name, name)),
                "platform",
                max(0.0, now - begun) if going else duration,
                max(0.0, begun - let_ms),
                failed=step.get("status") == "failed" and not stopped,
                error="" if stopped else _error(step.get("error")),
                attempt=attempt.number,
            )
        )
    return rows


def _with_steps(platform: list[Row], steps: Sequence[Step], let_at: datetime) -> list[Row]:
    """The skill's steps beneath the platform step that ran the script."""
    title = str(PLATFORM["execute"])
    place = next((n for n, row in enumerate(platform) if row.name == title), len(platform) - 1)
    base = platform[place].start_ms if platform else 0.0
    return platform[: place + 1] + _steps(steps, let_at, base) + platform[place + 1 :]


def _steps(steps: Sequence[Step], let_at: datetime, base: float) -> list[Row]:
    rows, at = [], base
    let_ms = let_at.timestamp() * 1000
    most = _VALUES // max(len(steps), 1)
    for step in steps:
        duration = _number(step.duration_ms)
        begun = _number(step.timestamp)
        start = begun - let_ms if begun and base <= begun - let_ms <= base + 3_600_000 else at
        rows.append(
            Row(
                step.name or step.step_id,
                "skill",
                duration,
                start,
                seq=step.seq,
                failed=bool(step.error),
                input=_shown(step.input, most),
                output=_shown(step.output, most),
                error=_error(step.error),
                attempt=step.attempt,
                about="" if step.kind == StepKind.SKILL else step.get_kind_display(),
                child=step.child.uid if step.child else "",
            )
        )
        at = start + (duration or 0.0)
    return rows


def _shown(value: object, most: int) -> Shown | None:
    return None if value is None else shown(value, most=most)


def _number(value: object) -> float | None:
    sound = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15
    return float(value) if sound else None  # type: ignore[arg-type]


def _error(error: object) -> str:
    """Name and message, then the stack where it adds something."""
    if not error:
        return ""
    if not isinstance(error, Mapping):
        return str(error)[:_LONGEST_ERROR]
    head = ": ".join(str(error[key])[:_LONGEST_ERROR] for key in ("name", "message") if error.get(key))
    stack = str(error.get("stack") or "")[:_LONGEST_ERROR]
    if stack and head and stack.startswith(head):
        return stack
    return "\n".join(part for part in (head, stack) if part) or json_text(dict(error))


def waited_ms(run: Run, now: Any) -> float:
    end = run.started_at or run.finished_at or now
    return max(0.0, (end - run.created_at).total_seconds() * 1000)


def ran_ms(run: Run, now: Any) -> float | None:
    if not run.started_at or run.cached_from_id:
        return None
    return max(0.0, ((run.finished_at or now) - run.started_at).total_seconds() * 1000)
