"""What a run proposes to remember: for whom, whether somebody looks at it first, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from registry.models import MemoryReview, Role
from worker.memory.owners import Found, Owner, Owners
from worker.memory.store import Entry, store
from worker.models import MemoryWrite, OwnerType, Run, WriteState
from worker.protocols.call import Outcome
from worker.states import Claim
from worker.storable import clean, clean_text

MOST_WAITING = 500  # proposals for one owner that wait
MOST_FOREIGN = 20  # of them from one caller whom the owner has nothing to do with
_WRITING = (Role.MEMBER, Role.MAINTAINER, Role.OWNER)


def propose(claim: Claim, outcome: Outcome) -> None:
    """Keeps what an attempt proposed, in the transaction that ends it; the run itself waits for nobody."""
    run = Run.objects.select_related("team", "caller").get(pk=claim.run_id)
    proposals = _Proposals(run, not outcome.failure_code, Owners(run))
    rows = [proposals.row(seq, write) for seq, write in enumerate(outcome.memory_writes)]
    at_once = [row for row in rows if row.state == WriteState.COMMITTED]
    for row, kept in zip(at_once, store().add([_entry(row, run) for row in at_once]), strict=True):
        row.memory = kept.memory
        row.state = WriteState.COMMITTED if kept.is_new else WriteState.MERGED
        row.content, row.metadata = "", {}
    MemoryWrite.objects.bulk_create(rows)


def _entry(row: MemoryWrite, run: Run) -> Entry:
    return Entry(
        owner=Owner(row.owner_type, row.owner_user_id, row.owner_team_id, row.owner_run_id),
        type=row.type,
        importance=row.importance,
        importance_given=row.importance_given,
        content=row.content,
        metadata=row.metadata,
        skill=run.skill_label,
        version=run.version_number,
    )


@dataclass
class _Proposals:
    """Decides of each proposal of one run where it goes."""

    run: Run
    succeeded: bool
    owners: Owners
    _waiting: Counter[str] = field(default_factory=Counter)

    def row(self, seq: int, write: Mapping[str, Any]) -> MemoryWrite:
        found = self.owners.find(write["ownerType"], clean_text(write["ownerId"]))
        state, code = self._state(found)
        columns = found.owner.columns() if found.owner else {"owner_type": write["ownerType"]}
        refused = state == WriteState.REFUSED
        return MemoryWrite(
            **columns,
            run=self.run,
            attempt=self.run.attempt,
            seq=seq,
            is_foreign=found.is_foreign,
            state=state,
            code=code,
            type=write["type"],
            importance=write["importance"],
            importance_given=write.get("importanceGiven"),
            content="" if refused else clean_text(write["content"]).strip(),
            metadata={} if refused else clean(write["metadata"]),
            created_at=timezone.now(),
        )

    def _state(self, found: Found) -> tuple[WriteState, str]:
        if found.is_foreign:
            has_room = found.owner is not None and self._has_room(found.owner, foreign=True)
            return WriteState.WAITING if has_room else WriteState.REFUSED, "MEMORY_OWNER_ELSEWHERE"
        if found.owner is None:
            return WriteState.REFUSED, "MEMORY_OWNER_UNKNOWN"
        if self.succeeded and self._may_commit(found.owner):
            return WriteState.COMMITTED, ""
        if not self._has_room(found.owner):
            return WriteState.REFUSED, "MEMORY_QUEUE_FULL"
        return WriteState.WAITING, "MEMORY_REVIEWED" if self.succeeded else "MEMORY_RUN_FAILED"

    def _may_commit(self, owner: Owner) -> bool:
        """A team's memory is written unseen for the run's own team alone, by who may do more than look."""
        team = self.run.team
        if owner.type in (OwnerType.USER, OwnerType.TASK):
            return team is None or team.memory_review != MemoryReview.ALL
        return (
            team is not None
            and owner.team_id == team.pk
            and team.memory_review == MemoryReview.NONE
            and self.owners.roles.get(team.pk) in _WRITING
        )

    def _has_room(self, owner: Owner, *, foreign: bool = False) -> bool:
        key = f"{owner.key}:{foreign}"
        if key not in self._waiting:
            columns = {
                name: value for name, value in owner.columns().items() if value and name != "owner_type"
            }
            rows = MemoryWrite.objects.waiting().filter(**columns)
            if foreign:
                rows = rows.filter(is_foreign=True, run__caller=self.run.caller)
            self._waiting[key] = rows.count()
        self._waiting[key] += 1
        return self._waiting[key] <= (MOST_FOREIGN if foreign else MOST_WAITING)
