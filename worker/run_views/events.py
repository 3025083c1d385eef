"""The events of a run since a position, read from the database."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from registry.core.time import rfc3339
from worker.attempts.recording import read_log_pieces
from worker.models import Attempt, Run, RunStatus, Step
from worker.queue.states import ENDED

POLL_S = 0.25
_MAX_STEPS = 1_000  # steps of the skill per batch
_MAX_LOG_BYTES = 65_536  # bytes per batch; the same amount may be buffered for a slow reader


@dataclass(frozen=True)
class _Position:
    """The position of a reader in a run's events. As text, it is the id of the last event."""

    attempt: int = 0
    offset: int = 0
    status: str = ""
    progress: str = ""
    steps: int = 0
    own: int = 0  # number of the skill's steps

    def __str__(self) -> str:
        return f"{self.attempt}.{self.offset}.{self.status}.{self.progress}.{self.steps}.{self.own}"


def _parse_position(text: str) -> _Position:
    parts = text.split(".")
    numbers = [parts[i] for i in (0, 1, 4, 5)] if len(parts) == 6 else [""]
    if not all(number.isascii() and number.isdigit() and len(number) < 16 for number in numbers):
        return _Position()
    if parts[2] not in ("", *RunStatus.values) or not re.fullmatch("[0-9]{0,3}", parts[3]):
        return _Position()
    return _Position(int(parts[0]), int(parts[1]), parts[2], parts[3], int(parts[4]), int(parts[5]))


def position_of(run: Run) -> str:
    """The position after all events of the run that are stored now."""
    attempt = Attempt.objects.filter(run=run, number=run.attempt).values_list("steps", flat=True).first()
    own = Step.objects.filter(run=run, attempt=run.attempt).count()
    progress = "" if run.progress is None else str(run.progress)
    return str(_Position(run.attempt, run.log_bytes, run.status, progress, len(_ended_steps(attempt)), own))


Event = dict[str, Any]  # {"event": "log" | "progress" | "status" | "step", "data": {…}, "id": position after}


class Head(NamedTuple):
    """The columns of a run that change with its events. An unchanged head means that there are no new
    events.
    """

    attempt: int
    status: str
    progress: int | None
    log_bytes: int

    @property
    def ended(self) -> bool:
        return self.status in ENDED

    @property
    def needs_approval(self) -> bool:
        return self.status == RunStatus.WAITING_APPROVAL


@dataclass(frozen=True)
class EventBatch:
    """New events. If ``more``, the caller should read again at once, otherwise when the head has changed."""

    events: list[Event]
    position: str
    ended: bool
    head: Head | None = None
    more: bool = False

    @property
    def text(self) -> str:
        """The events as server-sent events; each id is the position after it, for resuming."""
        return "".join(map(_event_text, self.events))


def _event_text(event: Event) -> str:
    text = json.dumps(event["data"], ensure_ascii=False, separators=(",", ":"))
    return f"id: {event['id']}\nevent: {event['event']}\ndata: {text}\n\n"


def read_heads(uids: Collection[str]) -> dict[str, Head]:
    """The heads of runs by uid, read with one query; omits runs that do not exist."""
    rows = Run.objects.filter(uid__in=uids).values_list("uid", *Head._fields)
    return {uid: Head(*row) for uid, *row in rows.order_by()}


def events_since(uid: str, position: str = "") -> EventBatch:
    """The events since ``position``, with about ``_MAX_LOG_BYTES`` of log at most.

    "" and invalid positions mean the beginning. Needs one small query if nothing is new. The ``status`` event
    comes last, so that it never overtakes the log. A run that does not exist has ended, without events.
    """
    seen = _parse_position(position)
    row = Run.objects.filter(uid=uid).values("id", *Head._fields, "failure_code", "finished_at").first()
    if row is None:
        return EventBatch([], position, True)
    head = Head(*(row[name] for name in Head._fields))
    builder = _EventBuilder(seen if head.attempt == seen.attempt else _Position(head.attempt))
    seen = builder.seen
    _add_log(row, builder)
    caught_up = builder.seen.offset >= head.log_bytes
    changed = head.status != seen.status and (caught_up or not head.ended)
    if builder.events or changed or _progress(row) not in ("", seen.progress):
        _add_platform_steps(row, builder)
        _add_skill_steps(row, builder)
        _add_progress(row, builder)
    if changed:
        _add_status(row, builder)
    more = not caught_up and builder.seen.offset > seen.offset
    return EventBatch(builder.events, str(builder.seen), head.ended and caught_up, head, more)


class _EventBuilder:
    def __init__(self, seen: _Position) -> None:
        self.seen = seen
        self.events: list[Event] = []

    def add(self, event: str, data: Mapping[str, Any], **moved: Any) -> None:
        self.seen = replace(self.seen, **moved)
        self.events.append({"event": event, "data": data, "id": str(self.seen)})


def _add_log(row: Mapping[str, Any], builder: _EventBuilder) -> None:
    if row["log_bytes"] <= builder.seen.offset:
        return
    for piece in read_log_pieces(row["id"], row["attempt"], builder.seen.offset, _MAX_LOG_BYTES):
        where = {
            "attempt": row["attempt"],
            "offset": piece.offset,
            "next_offset": piece.end,
        }
        builder.add("log", {**where, "stream": piece.stream, "text": piece.text}, offset=piece.end)


def _add_platform_steps(row: Mapping[str, Any], builder: _EventBuilder) -> None:
    """Adds the platform's steps that have ended. The monitor stores them with the log, and at the end of the
    run.
    """
    steps = (
        Attempt.objects.filter(run_id=row["id"], number=row["attempt"])
        .values_list("steps", flat=True)
        .first()
    )
    done = _ended_steps(steps)
    first = builder.seen.steps
    for seq, step in enumerate(done[first:], first):
        fields = {key: step[key] for key in ("name", "status", "duration_ms", "error")}
        own = {"seq": seq, "kind": "platform", "step_id": "", "timestamp": step.get("started_at")}
        builder.add("step", {**own, **fields}, steps=seq + 1)


def _ended_steps(steps: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    return [step for step in steps or [] if step["status"] != "running"]


_STEP_FIELDS = ("seq", "kind", "step_id", "name", "timestamp", "duration_ms", "error")


def _add_skill_steps(row: Mapping[str, Any], builder: _EventBuilder) -> None:
    """Adds the skill's steps. Steps of an agent loop or of a prompt's commands appear during the run."""
    own = builder.seen.own
    rows = Step.objects.filter(run_id=row["id"], attempt=row["attempt"], seq__gte=own).order_by("seq")
    for step in rows.values(*_STEP_FIELDS)[:_MAX_STEPS]:
        status = "failed" if step["error"] else "succeeded"
        builder.add("step", {**step, "status": status}, own=step["seq"] + 1)


def _progress(row: Mapping[str, Any]) -> str:
    return "" if row["progress"] is None else str(row["progress"])


def _add_progress(row: Mapping[str, Any], builder: _EventBuilder) -> None:
    if _progress(row) not in ("", builder.seen.progress):
        builder.add("progress", {"percent": row["progress"]}, progress=_progress(row))


def _add_status(row: Mapping[str, Any], builder: _EventBuilder) -> None:
    finished = rfc3339(row["finished_at"])
    fields = {key: row[key] for key in ("status", "failure_code", "attempt")}
    builder.add("status", {**fields, "finished_at": finished}, status=row["status"])
