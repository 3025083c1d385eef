"""A run as it happens, for those who watch: what is new in the database since a position."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from worker.models import Attempt, Run, Status, Step
from worker.recording import log_after
from worker.states import ENDED

POLL_S = 0.25
_STEPS = 1_000  # of a run's own, told at once


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


Event = dict[str, Any]  # {"event": "log" | "progress" | "status" | "step", "data": {…}}


def events_after(uid: str, position: str = "") -> tuple[list[Event], str, bool]:
    """What happened since ``position`` ("" is the beginning), the next position, and whether that is all.

    The position is that after the last event: who is cut off before it asks with the earlier one again.
    One small query when nothing is new. ``status`` comes last, so that it never overtakes the log.
    """
    seen = _position(position)
    fields = ("id", "attempt", "status", "failure_code", "progress", "log_bytes", "finished_at")
    row = Run.objects.filter(uid=uid).values(*fields).first()
    if row is None:
        return [], position, True
    if row["attempt"] != seen.attempt:
        seen = _Position(row["attempt"])
    events: list[Event] = []
    offset = _log_events(row, seen, events)
    caught_up = offset >= row["log_bytes"]
    ended = row["status"] in ENDED and caught_up
    changed = row["status"] != seen.status and (caught_up or row["status"] not in ENDED)
    moved = events or changed or (row["progress"] is not None and str(row["progress"]) != seen.progress)
    steps = _step_events(row, seen, events) if moved else seen.steps
    own = _own_step_events(row, seen, events) if moved else seen.own
    progress = _progress_event(row, seen, events)
    if changed:
        events.append(_status_event(row))
    status = row["status"] if changed else seen.status
    return events, str(_Position(row["attempt"], offset, status, progress, steps, own)), ended


def _log_events(row: Mapping[str, Any], seen: _Position, events: list[Event]) -> int:
    if row["log_bytes"] <= seen.offset:
        return seen.offset
    part = log_after(Run(pk=row["id"], attempt=row["attempt"]), row["attempt"], seen.offset)
    for piece in part.pieces:
        where = {
            "attempt": row["attempt"],
            "offset": piece.offset,
            "next_offset": piece.end,
        }
        events.append({"event": "log", "data": {**where, "stream": piece.stream, "text": piece.text}})
    return part.next_offset


def _step_events(row: Mapping[str, Any], seen: _Position, events: list[Event]) -> int:
    """The platform's steps that have ended since; they are written with the log and at the end."""
    steps = (
        Attempt.objects.filter(run_id=row["id"], number=row["attempt"])
        .values_list("steps", flat=True)
        .first()
    )
    done = [step for step in steps or [] if step["status"] != "running"]
    for seq, step in enumerate(done[seen.steps :], seen.steps):
        shown = {key: step[key] for key in ("name", "status", "duration_ms", "error")}
        events.append({"event": "step", "data": {"seq": seq, "kind": "platform", **shown}})
    return max(len(done), seen.steps)


def _own_step_events(row: Mapping[str, Any], seen: _Position, events: list[Event]) -> int:
    """The run's own steps; those of an agent loop or of a prompt's commands come as they happen."""
    rows = Step.objects.filter(run_id=row["id"], attempt=row["attempt"], seq__gte=seen.own).order_by("seq")
    found = list(rows.values("seq", "kind", "name", "duration_ms", "error")[:_STEPS])
    for step in found:
        status = "failed" if step["error"] else "succeeded"
        events.append({"event": "step", "data": {**step, "status": status}})
    return found[-1]["seq"] + 1 if found else seen.own


def _progress_event(row: Mapping[str, Any], seen: _Position, events: list[Event]) -> str:
    if row["progress"] is None or str(row["progress"]) == seen.progress:
        return seen.progress
    events.append({"event": "progress", "data": {"percent": row["progress"]}})
    return str(row["progress"])


def _status_event(row: Mapping[str, Any]) -> Event:
    finished = row["finished_at"].isoformat().replace("+00:00", "Z") if row["finished_at"] else None
    shown = {key: row[key] for key in ("status", "failure_code", "attempt")}
    return {"event": "status", "data": {**shown, "finished_at": finished}}


def has_ended(uid: str) -> bool:
    """Whether nothing more will happen to the run; True also where there is none."""
    return not Run.objects.filter(uid=uid).exclude(status__in=ENDED).exists()


def is_decided(uid: str) -> bool:
    """Whether the run waits for nobody's leave; True also where there is none."""
    return not Run.objects.filter(uid=uid, status=Status.WAITING_APPROVAL).exists()
