"""The rows that open pages show as current, with the users and teams that can see them.

One look serves all open pages. It reads only rows that may have changed recently, so its cost does not grow
with the history.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Q
from django.utils import timezone

from registry.models import AuditEntry, Import, ImportStatus
from worker.models import Approval, Notification, Run, RunStatus

WINDOW_S = 10.0  # rows that ended in this time are read, so that clocks may differ by some seconds
MAX_ROWS = 200  # of each kind
_NEWEST = 50  # newest rows that are read in every state
_SHOWN_AS_ACTIVE = frozenset({RunStatus.RUNNING, RunStatus.WAITING_APPROVAL})
_ACTIVE_IMPORTS = (ImportStatus.QUEUED, ImportStatus.RUNNING)

KINDS = frozenset({"activity", "approvals", "imports", "notifications", "runs"})
Key = tuple[str, int]  # table and primary key


class Row(NamedTuple):
    kinds: frozenset[str]
    state: tuple[Any, ...]
    changed_at: datetime
    is_active: bool  # an active row that is no longer read has changed
    users: frozenset[int]  # that can see the row
    teams: frozenset[int]  # whose members can see the row


@dataclass(frozen=True)
class Viewer:
    """A signed-in user, with what decides which rows they can see."""

    user: int
    teams: frozenset[int]
    is_administrator: bool

    def can_see(self, row: Row) -> bool:
        """Whether the row is visible to the user, by the rules of ``visible_to`` of its model."""
        if "notifications" in row.kinds:
            return self.user in row.users
        return self.is_administrator or self.user in row.users or not self.teams.isdisjoint(row.teams)


def read_rows() -> dict[Key, Row]:
    """The rows that may have changed recently, by table and primary key."""
    now = timezone.now()
    return dict((*_runs(now), *_imports(now), *_activity(), *_notifications()))


def changes(before: Mapping[Key, Row], after: Mapping[Key, Row]) -> list[Row]:
    """The rows that are new, have another state, or are no longer active, with the kinds of both states."""
    changed = []
    for key, row in after.items():
        old = before.get(key)
        if old is None or old.state != row.state:
            changed.append(row._replace(kinds=row.kinds | old.kinds) if old else row)
    ended = (row for key, row in before.items() if row.is_active and key not in after)
    return [*changed, *ended]


_RUN_FIELDS = ("pk", "status", "progress", "caller_id", "team_id", "skill__team_id")
_RUN_TIMES = ("created_at", "started_at", "finished_at")


def _runs(now: datetime) -> Iterator[tuple[Key, Row]]:
    runs = Run.objects.order_by("-pk")
    waiting = Approval.objects.filter(decided_at=None, expires_at__gt=now).order_by("-pk")
    for found in (
        runs[:_NEWEST],
        # A literal, because SQLite can't use a partial index for a parameter.
        runs.extra(where=["worker_run.status = 'running'"])[:MAX_ROWS],
        runs.filter(finished_at__gte=now - timedelta(seconds=WINDOW_S)).order_by("-finished_at")[:MAX_ROWS],
        runs.filter(pk__in=list(waiting.values_list("run_id", flat=True)[:MAX_ROWS])),
    ):
        for values in found.values_list(*_RUN_FIELDS, *_RUN_TIMES):
            pk, status, progress, caller, team, skill_team, *times = values
            kinds = {"runs", "approvals"} if status == RunStatus.WAITING_APPROVAL else {"runs"}
            yield (
                ("run", pk),
                Row(
                    frozenset(kinds),
                    (status, progress),
                    _newest(times),
                    status in _SHOWN_AS_ACTIVE,
                    _known(caller),
                    _known(team, skill_team),
                ),
            )


def _imports(now: datetime) -> Iterator[tuple[Key, Row]]:
    active = Q(status__in=_ACTIVE_IMPORTS) | Q(finished_at__gte=now - timedelta(seconds=WINDOW_S))
    rows = Import.objects.filter(active).order_by("-pk")[:MAX_ROWS]
    fields = ("pk", "status", "processed", "source__team_id", *_RUN_TIMES)
    for pk, status, processed, team, *times in rows.values_list(*fields):
        is_active = status in _ACTIVE_IMPORTS
        state = (status, processed)
        yield (
            ("import", pk),
            Row(frozenset({"imports"}), state, _newest(times), is_active, _known(), _known(team)),
        )


def _activity() -> Iterator[tuple[Key, Row]]:
    rows = AuditEntry.objects.order_by("-pk").values_list("pk", "team_id", "at")[:_NEWEST]
    for pk, team, at in rows:
        yield ("audit", pk), Row(frozenset({"activity"}), (), at, False, _known(), _known(team))


def _notifications() -> Iterator[tuple[Key, Row]]:
    rows = Notification.objects.order_by("-pk").values_list("pk", "user_id", "created_at", "read_at")
    for pk, user, created_at, read_at in rows[:_NEWEST]:
        kinds = frozenset({"notifications"})
        yield (
            ("notification", pk),
            Row(kinds, (read_at,), _newest([created_at, read_at]), False, _known(user), _known()),
        )


def _newest(times: Iterable[datetime | None]) -> datetime:
    return max(moment for moment in times if moment)


def _known(*keys: int | None) -> frozenset[int]:
    return frozenset(key for key in keys if key is not None)
