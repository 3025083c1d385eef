"""Stores a run's memory proposals: accepted without review, waiting for review, or refused."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from registry.models import MemoryReview, Role
from worker.core.storable import clean, clean_text
from worker.memory import errors
from worker.memory.owners import Owner, OwnerResolver, ResolvedOwner
from worker.memory.store import MemoryEntry, store
from worker.models import MemoryWrite, OwnerType, Run, WriteState
from worker.protocols.call import Outcome
from worker.queue.claims import Claim

MAX_WAITING = 500  # limit of waiting proposals per owner
MAX_FOREIGN = 20  # limit of those from one caller who does not belong to the owner
_WRITER_ROLES = (Role.MEMBER, Role.MAINTAINER, Role.OWNER)


def propose(claim: Claim, outcome: Outcome) -> None:
    """Stores an attempt's proposals, and the memories of those that need no review.

    Runs in the transaction that ends the attempt. Reviews happen later and do not delay the run.
    """
    run = Run.objects.select_related("team", "caller").get(pk=claim.run_id)
    proposals = _Proposals(run, not outcome.failure_code, OwnerResolver(run))
    rows = [proposals.row(seq, write) for seq, write in enumerate(outcome.memory_writes)]
    at_once = [row for row in rows if row.state == WriteState.COMMITTED]
    for row, result in zip(at_once, store().add([_entry(row, run) for row in at_once]), strict=True):
        row.memory = result.memory
        row.state = WriteState.COMMITTED if result.is_new else WriteState.MERGED
        row.content, row.metadata = "", {}
    MemoryWrite.objects.bulk_create(rows)


def _entry(row: MemoryWrite, run: Run) -> MemoryEntry:
    return MemoryEntry(
        owner=Owner(row.owner_type, row.owner_user_id, row.owner_team_id, row.owner_run_id),
        type=row.type,
        importance=row.importance,
        original_importance=row.original_importance,
        content=row.content,
        metadata=row.metadata,
        skill=run.skill_label,
        version=run.version_number,
    )


@dataclass
class _Proposals:
    run: Run
    succeeded: bool
    owners: OwnerResolver
    _waiting: Counter[str] = field(default_factory=Counter)

    def row(self, seq: int, write: Mapping[str, Any]) -> MemoryWrite:
        resolved = self.owners.resolve(write["ownerType"], clean_text(write["ownerId"]))
        state, code = self._state(resolved)
        columns = resolved.owner.columns() if resolved.owner else {"owner_type": write["ownerType"]}
        refused = state == WriteState.REFUSED
        return MemoryWrite(
            **columns,
            run=self.run,
            attempt=self.run.attempt,
            seq=seq,
            is_foreign=resolved.is_foreign,
            state=state,
            code=code,
            type=write["type"],
            importance=write["importance"],
            original_importance=write.get("originalImportance"),
            content="" if refused else clean_text(write["content"]).strip(),
            metadata={} if refused else clean(write["metadata"]),
            created_at=timezone.now(),
        )

    def _state(self, resolved: ResolvedOwner) -> tuple[WriteState, str]:
        if resolved.is_foreign:
            has_room = resolved.owner is not None and self._has_room(resolved.owner, foreign=True)
            return WriteState.WAITING if has_room else WriteState.REFUSED, errors.MEMORY_OWNER_ELSEWHERE.name
        if resolved.owner is None:
            return WriteState.REFUSED, errors.MEMORY_OWNER_UNKNOWN.name
        if self.succeeded and self._may_commit(resolved.owner):
            return WriteState.COMMITTED, ""
        if not self._has_room(resolved.owner):
            return WriteState.REFUSED, errors.MEMORY_QUEUE_FULL.name
        return (
            WriteState.WAITING,
            errors.MEMORY_REVIEWED.name if self.succeeded else errors.MEMORY_RUN_FAILED.name,
        )

    def _may_commit(self, owner: Owner) -> bool:
        """Whether the memory needs no review, by the team's setting and, for team memory, the
        caller's role.
        """
        team = self.run.team
        if owner.type in (OwnerType.USER, OwnerType.TASK):
            return team is None or team.memory_review != MemoryReview.ALL
        return (
            team is not None
            and owner.team_id == team.pk
            and team.memory_review == MemoryReview.NONE
            and self.owners.roles.get(team.pk) in _WRITER_ROLES
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
        return self._waiting[key] <= (MAX_FOREIGN if foreign else MAX_WAITING)
