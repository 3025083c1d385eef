"""A run as it happens, for those who watch: what is new in the database since a position."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from registry.moments import moment
from worker.models import Attempt, Run, Status, Step
from worker.recording import pieces_after
from worker.states import ENDED

POLL_S = 0.25
_STEPS = 1_000  # of a run's own, told at once
_LOG_BYTES = 65_536  # of a log, told at once; as much again may wait for a reader who is slow


@dataclass(frozen=True)
class _Position:
    """How far somebody has seen a run; as text an id for the last event of a batch."""

    attempt: int = 0
    offset: int = 0
    status: str = ""
    progress: str = ""
    steps: int = 0
    own: int = 0  # of the run's own steps

    def __str__(self) -> str:
        return f"{self.attempt}.{self.offset}.{self.status}.{self.progress}.{self.steps}.{self.own}"


def _position(text: str) -> _Position:
    parts = text.split(".")
    numbers = [parts[i] for i in (0, 1, 4, 5)] if len(parts) == 6 else [""]
    if not all(number.isascii() and number.isdigit() and len(number) < 16 for number in numbers):
        return _Position()
    if parts[2] not in ("", *Status.values) or not re.fullmatch("[0-9]{0,3}", parts[3]):
        return _Position()
    return _Position(int(parts[0]), int(parts[1]), parts[2], parts[3], int(parts[4]), int(parts[5]))


def position_of(run: Run) -> str:
    """Where somebody stands who has seen the run as its row tells it."""
    attempt = Attempt.objects.filter(run=run, number=run.attempt).values_list("steps", flat=True).first()
    own = Step.objects.filter(run=run, attempt=run.attempt).count()
    progress = "" if run.progress is None else str(run.progress)
    return str(_Position(run.attempt, run.log_bytes, run.status, progress, len(_done(attempt)), own))


Event = dict[str, Any]  # {"event": "log" | "progress" | "status" | "step", "data": {…}, "id": position after}


class Head(NamedTuple):
    """What of a run's row tells that something has happened: whoever has seen the same lacks nothing."""

    attempt: int
    status: str
    progress: int | None
    log_bytes: int

    @property
    def ended(self) -> bool:
        return self.status in ENDED

    @property
    def asks(self) -> bool:
        return self.status == Status.WAITING_APPROVAL


@dataclass(frozen=True)
class Told:
    """What somebody lacked: ask again at once where there is ``more``, else when the head has changed."""

    events: list[Event]
    position: str
    ended: bool
    head: Head | None = None
    more: bool = False

    @property
    def text(self) -> str:
        """As server-sent events. Each says where it leaves its reader: who is cut off goes on behind it."""
        return "".join(map(_as_text, self.events))


def _as_text(event: Event) -> str:
    text = json.dumps(event["data"], ensure_ascii=False, separators=(",", ":"))
    return f"id: {event['id']}\nevent: {event['event']}\ndata: {text}\n\n"


def heads(uids: Collection[str]) -> dict[str, Head]:
    """Of many runs by one statement; a run that is not there has none."""
    rows = Run.objects.filter(uid__in=uids).values_list("uid", *Head._fields)
    return {uid: Head(*row) for uid, *row in rows.order_by()}


def told_after(uid: str, position: str = "") -> Told:
    """What happened since ``position`` ("" is the beginning), at most some ``_LOG_BYTES`` of log at a time.

    One small query when nothing is new. ``status`` comes last, so that it never overtakes the log.
    """
    seen = _position(position)
    row = Run.objects.filter(uid=uid).values("id", *Head._fields, "failure_code", "finished_at").first()
    if row is None:
        return Told([], position, True)
    head = Head(*(row[name] for name in Head._fields))
    telling = _Telling(seen if head.attempt == seen.attempt else _Position(head.attempt))
    seen = telling.seen
    _tell_log(row, telling)
    caught_up = telling.seen.offset >= head.log_bytes
    changed = head.status != seen.status and (caught_up or not head.ended)
    if telling.events or changed or _progress(row) not in ("", seen.progress):
        _tell_steps(row, telling)
        _tell_own_steps(row, telling)
        _tell_progress(row, telling)
    if changed:
        _tell_status(row, telling)
    more = not caught_up and telling.seen.offset > seen.offset
    return Told(telling.events, str(telling.seen), head.ended and caught_up, head, more)


class _Telling:
    """Events in their order, each with the position of somebody who has heard it."""

    def __init__(self, seen: _Position) -> None:
        self.seen = seen
        self.events: list[Event] = []

    def tell(self, event: str, data: Mapping[str, Any], **moved: Any) -> None:
        self.seen = replace(self.seen, **moved)
        self.events.append({"event": event, "data": data, "id": str(self.seen)})


def _tell_log(row: Mapping[str, Any], telling: _Telling) -> None:
    if row["log_bytes"] <= telling.seen.offset:
        return
    for piece in pieces_after(row["id"], row["attempt"], telling.seen.offset, _LOG_BYTES):
        where = {
            "attempt": row["attempt"],
            "offset": piece.offset,
            "next_offset": piece.end,
        }
        telling.tell("log", {**where, "stream": piece.stream, "text": piece.text}, offset=piece.end)


def _tell_steps(row: Mapping[str, Any], telling: _Telling) -> None:
    """The platform's steps that have ended since; they are written with the log and at the end."""
    steps = (
        Attempt.objects.filter(run_id=row["id"], number=row["attempt"])
        .values_list("steps", flat=True)
        .first()
    )
    done = _done(steps)
    first = telling.seen.steps
    for seq, step in enumerate(done[first:], first):
        shown = {key: step[key] for key in ("name", "status", "duration_ms", "error")}
        telling.tell("step", {"seq": seq, "kind": "platform", **shown}, steps=seq + 1)


def _done(steps: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    return [step for step in steps or [] if step["status"] != "running"]


def _tell_own_steps(row: Mapping[str, Any], telling: _Telling) -> None:
    """The run's own steps; those of an agent loop or of a prompt's commands come as they happen."""
    own = telling.seen.own
    rows = Step.objects.filter(run_id=row["id"], attempt=row["attempt"], seq__gte=own).order_by("seq")
    for step in rows.values("seq", "kind", "name", "duration_ms", "error")[:_STEPS]:
        status = "failed" if step["error"] else "succeeded"
        telling.tell("step", {**step, "status": status}, own=step["seq"] + 1)


def _progress(row: Mapping[str, Any]) -> str:
    return "" if row["progress"] is None else str(row["progress"])


def _tell_progress(row: Mapping[str, Any], telling: _Telling) -> None:
    if _progress(row) not in ("", telling.seen.progress):
        telling.tell("progress", {"percent": row["progress"]}, progress=_progress(row))


def _tell_status(row: Mapping[str, Any], telling: _Telling) -> None:
    finished = moment(row["finished_at"])
    shown = {key: row[key] for key in ("status", "failure_code", "attempt")}
    telling.tell("status", {**shown, "finished_at": finished}, status=row["status"])
