"""Presents a run as a timeline: waiting times, the platform's steps and the skill's own steps.

The time scale begins after the approval, because waiting for approval can take days.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from django.db.models import Count
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from portal.presenters.charts import Bar, bars, round_up
from portal.presenters.content.text import json_text
from portal.presenters.results import DisplayValue, display_value
from registry.core.sql import Reads, reader
from worker.core.display_budget import MAX_TEXT
from worker.models import Approval, Attempt, Run, RunStatus, Step, StepKind

PLATFORM = {
    "unpack": _("Unpack the package"),
    "dependencies": _("Wait for dependencies"),
    "sandbox": _("Start the sandbox"),
    "execute": _("Run the script"),
    "collect": _("Collect files"),
    "record": _("Record the outcome"),
}
MAX_STEPS = 300  # number of steps shown on a page
_MAX_VALUES = 3000  # number of values of all inputs together, and of all outputs
_MAX_EPOCH_MS = 2e14  # in the year 8307; datetime supports years up to 9999
_MAX_ERROR = 10_000  # characters, fewer for many steps


@dataclass(frozen=True)
class TimelineRow:
    """One row of the timeline. ``start_ms`` is relative to the start of the time scale.

    ``error`` is a text that includes the stack.
    """

    name: str
    kind: Literal["waiting", "platform", "skill"]
    duration_ms: float | None
    start_ms: float
    bar: Bar | None = None
    seq: int = 0
    failed: bool = False
    input: DisplayValue | None = None
    output: DisplayValue | None = None
    error: str = ""
    attempt: int = 1
    about: str = ""  # the kind of step, "" for ordinary steps of the skill
    child: str = ""  # uid of the run that the step started
    step_id: str = ""
    started_at: datetime | None = None

    @property
    def input_id(self) -> str:
        return f"step-{self.attempt}-{self.seq}-input"

    @property
    def output_id(self) -> str:
        return f"step-{self.attempt}-{self.seq}-output"

    @property
    def has_detail(self) -> bool:
        return bool(self.input or self.output or self.error or self.child or self.step_id)


@reader
def timeline(run: Run) -> Reads[list[TimelineRow]]:
    """The rows in order, with bars on one time scale. The row for the approval has no bar."""
    approvals, attempts = Approval.objects.filter(run=run)[:1], run.attempts.order_by("number")
    own = run.steps.select_related("child").defer("child__request", "child__result").order_by("seq")
    steps = {number: own.filter(attempt=number)[:MAX_STEPS] for number in range(1, max(run.attempt, 1) + 1)}
    yield approvals, attempts, *steps.values()
    approval = next(iter(approvals), None)
    scale_start = (approval.decided_at if approval else None) or run.created_at
    rows = _waiting(run, scale_start)
    for attempt in attempts:
        platform = _platform(attempt, run, scale_start)
        rows += _with_steps(platform, list(steps.get(attempt.number, ())), scale_start)
    first = [_approval_row(run, approval)] if approval else []
    return first + _drawn(rows)


def on_own_scale(rows: Sequence[TimelineRow]) -> list[TimelineRow]:
    """The rows with times and bars on a scale from the first start to the latest end among them."""
    start = min((row.start_ms for row in rows), default=0.0)
    return _drawn([replace(row, start_ms=row.start_ms - start) for row in rows])


@dataclass(frozen=True)
class TimeAxis:
    """The end of the time axis of rows on one scale, a round number of milliseconds."""

    end_ms: float

    @property
    def middle_ms(self) -> float:
        return self.end_ms / 2


def time_axis(rows: Sequence[TimelineRow]) -> TimeAxis:
    """The axis of the rows that have a bar."""
    return TimeAxis(_scale_ms([row for row in rows if row.bar]))


def _scale_ms(rows: Sequence[TimelineRow]) -> float:
    return round_up(max((row.start_ms + (row.duration_ms or 0) for row in rows), default=0.0))


def _drawn(rows: Sequence[TimelineRow]) -> list[TimelineRow]:
    drawn = bars([(row.start_ms, row.duration_ms or 0) for row in rows], _scale_ms(rows))
    return [replace(row, bar=bar) for row, bar in zip(rows, drawn, strict=True)]


@reader
def omitted_steps(run: Run) -> Reads[int]:
    """The number of steps of the skill that ``timeline`` omits: those beyond ``MAX_STEPS`` per attempt."""
    yield (counts := run.steps.order_by().values_list("attempt").annotate(Count("pk")))
    return sum(max(0, count - MAX_STEPS) for _attempt, count in counts)


def _approval_row(run: Run, approval: Approval) -> TimelineRow:
    until = approval.decided_at or run.finished_at or timezone.now()
    waited = max(0.0, (until - run.created_at).total_seconds() * 1000)
    return TimelineRow(str(_("Waiting for approval")), "waiting", waited, 0.0)


def _waiting(run: Run, scale_start: datetime) -> list[TimelineRow]:
    if not run.started_at or run.cached_from_id:
        return []
    waited = max(0.0, (run.started_at - scale_start).total_seconds() * 1000)
    return [TimelineRow(str(_("Waiting in the queue")), "waiting", waited, 0.0)]


def _platform(attempt: Attempt, run: Run, scale_start: datetime) -> list[TimelineRow]:
    """The platform's steps of one attempt. In a cancelled run, no step counts as failed."""
    now, scale_start_ms = timezone.now().timestamp() * 1000, scale_start.timestamp() * 1000
    stopped = run.status == RunStatus.CANCELLED
    rows = []
    for step in attempt.steps:
        started = _number(step.get("started_at")) or scale_start_ms
        duration = _number(step.get("duration_ms"))
        is_running = duration is None and not attempt.finished_at
        name = str(step.get("name", ""))
        rows.append(
            TimelineRow(
                str(PLATFORM.get(name, name)),
                "platform",
                max(0.0, now - started) if is_running else duration,
                max(0.0, started - scale_start_ms),
                failed=step.get("status") == "failed" and not stopped,
                error="" if stopped else _error(step.get("error")),
                attempt=attempt.number,
            )
        )
    return rows


def _with_steps(
    platform: list[TimelineRow], steps: Sequence[Step], scale_start: datetime
) -> list[TimelineRow]:
    """The platform's steps, with the skill's steps after the platform step that ran the script."""
    title = str(PLATFORM["execute"])
    place = next((n for n, row in enumerate(platform) if row.name == title), len(platform) - 1)
    base = platform[place].start_ms if platform else 0.0
    return platform[: place + 1] + _steps(steps, scale_start, base) + platform[place + 1 :]


def _steps(steps: Sequence[Step], scale_start: datetime, base: float) -> list[TimelineRow]:
    rows, at = [], base
    scale_start_ms = scale_start.timestamp() * 1000
    limit, max_error = _MAX_VALUES // max(len(steps), 1), MAX_TEXT // max(len(steps), 1)
    for step in steps:
        duration = _number(step.duration_ms)
        started = _number(step.timestamp)
        start = (
            started - scale_start_ms
            if started and base <= started - scale_start_ms <= base + 3_600_000
            else at
        )
        rows.append(
            TimelineRow(
                step.name or step.step_id,
                "skill",
                duration,
                start,
                seq=step.seq,
                failed=bool(step.error),
                input=_display(step.input, limit),
                output=_display(step.output, limit),
                error=_error(step.error, min(_MAX_ERROR, max_error)),
                attempt=step.attempt,
                about="" if step.kind == StepKind.SKILL else step.get_kind_display(),
                child=step.child.uid if step.child else "",
                step_id=step.step_id,
                started_at=_moment(started),
            )
        )
        at = start + (duration or 0.0)
    return rows


def _moment(epoch_ms: float | None) -> datetime | None:
    return datetime.fromtimestamp(epoch_ms / 1000, UTC) if epoch_ms and epoch_ms < _MAX_EPOCH_MS else None


def _display(value: object, limit: int) -> DisplayValue | None:
    return None if value is None else display_value(value, max_values=limit)


def _number(value: object) -> float | None:
    sound = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15
    return float(value) if sound else None  # type: ignore[arg-type]


def _error(error: object, limit: int = _MAX_ERROR) -> str:
    """The error's name and message, followed by the stack; only the stack if it already begins with them."""
    if not error:
        return ""
    if not isinstance(error, Mapping):
        return str(error)[:limit]
    head = ": ".join(str(error[key])[:limit] for key in ("name", "message") if error.get(key))
    stack = str(error.get("stack") or "")[:limit]
    if stack and head and stack.startswith(head):
        return stack
    return "\n".join(part for part in (head, stack) if part) or json_text(dict(error))[:limit]


def waited_ms(run: Run, now: Any) -> float:
    end = run.started_at or run.finished_at or now
    return max(0.0, (end - run.created_at).total_seconds() * 1000)


def ran_ms(run: Run, now: Any) -> float | None:
    if not run.started_at or run.cached_from_id:
        return None
    return max(0.0, ((run.finished_at or now) - run.started_at).total_seconds() * 1000)
