"""Proposed memory that waits for a person: their queue, their decisions, and what nobody decided in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from registry import audit, texts
from registry.actors import Actor
from registry.packages.problems import Refused, refuse
from worker.memory.documents import sees_skill
from worker.memory.owners import Owner
from worker.memory.store import Entry, Kept, store
from worker.models import MemoryType, MemoryWrite, WriteState
from worker.models.memory import MemoryWriteQuerySet
from worker.protocols.traces import LONGEST_CONTENT

MOST_AT_ONCE = 100


@dataclass(frozen=True)
class Decision:
    """What somebody says of a proposal; what is not None is kept instead of what was proposed."""

    accept: bool
    content: str | None = None
    type: str | None = None
    importance: int | None = None

    @property
    def edits(self) -> bool:
        return any(given is not None for given in (self.content, self.type, self.importance))


@dataclass(frozen=True)
class Decided:
    """How many of several proposals were decided; the others were not there any more."""

    done: int
    left: int


def queue(actor: Actor, owner: Owner | None = None) -> MemoryWriteQuerySet:
    """What waits for this person, the oldest first; of one owner where one is named."""
    rows = MemoryWrite.objects.waiting().decidable_by(actor)
    if owner:
        rows = rows.filter(**{name: value for name, value in owner.columns().items() if value})
    related = ("run__caller", "run__skill__team", "owner_user", "owner_team", "owner_run", "memory")
    return rows.select_related(*related).order_by("pk")


def find_write(uid: str, actor: Actor) -> MemoryWrite:
    """A proposal that is this person's to decide; to all others there is none."""
    if actor.token:
        raise refuse("FORBIDDEN", action="decide what is remembered")
    related = ("run__caller", "run__skill__team", "owner_user", "owner_team", "owner_run", "memory")
    found = MemoryWrite.objects.decidable_by(actor).select_related(*related).filter(uid=uid).first()
    if found is None:
        raise refuse("NOT_FOUND", what="memory write", name=uid[:80])
    return found


def decide(write: MemoryWrite, decision: Decision, actor: Actor) -> MemoryWrite:
    """Remembers or declines what waits; of several who decide at once one does."""
    decision = _checked(decision)
    with transaction.atomic():
        row = MemoryWrite.objects.select_for_update(of=("self",)).get(pk=find_write(write.uid, actor).pk)
        if row.state != WriteState.WAITING:
            raise refuse("MEMORY_DECIDED", state=row.state)
        kept = _remember(row, decision, actor) if decision.accept else None
        _close(row, kept)
        row.decided_by, row.decided_at = actor.user, timezone.now()
        row.save()
        verb = "accept" if decision.accept else "decline"
        audit.record(actor, f"memory.{verb}", row.uid, team=row.owner_team, edited=decision.edits)
    return find_write(row.uid, actor)


def decide_many(uids: Sequence[str], accept: bool, actor: Actor) -> Decided:
    done = 0
    for uid in list(dict.fromkeys(uids))[:MOST_AT_ONCE]:
        try:
            decide(find_write(uid, actor), Decision(accept), actor)
            done += 1
        except Refused as refused:
            if refused.code == "FORBIDDEN":
                raise
    return Decided(done, len(set(uids)) - done)


def expire() -> int:
    """Declines what nobody decided in the time that the site gives."""
    until = timezone.now() - timedelta(days=settings.SKILLQUAY_MEMORY_REVIEW_DAYS)
    late = MemoryWrite.objects.waiting().filter(created_at__lt=until)
    return late.update(
        state=WriteState.DECLINED, code="MEMORY_EXPIRED", content="", metadata={}, decided_at=timezone.now()
    )


def _checked(decision: Decision) -> Decision:
    if decision.type is not None and decision.type not in MemoryType.values:
        raise refuse("MEMORY_FIELD_INVALID", path="type", allowed=", ".join(MemoryType.values))
    if decision.importance is not None and not 1 <= decision.importance <= 5:
        raise refuse("MEMORY_FIELD_INVALID", path="importance", allowed="1, 2, 3, 4, 5")
    if decision.content is None:
        return decision
    return replace(decision, content=texts.plain(decision.content, field="content", most=LONGEST_CONTENT))


def _remember(row: MemoryWrite, decision: Decision, actor: Actor) -> Kept:
    named = sees_skill(row.run, actor)
    importance = row.importance if decision.importance is None else decision.importance
    entry = Entry(
        owner=Owner(row.owner_type, row.owner_user_id, row.owner_team_id, row.owner_run_id),
        type=decision.type or row.type,
        importance=importance,
        importance_given=row.importance_given if decision.importance is None else None,
        content=decision.content or row.content,
        metadata=row.metadata,
        skill=row.run.skill_label if named else "",
        version=row.run.version_number if named else "",
        by_person=True,
    )
    return store().add([entry])[0]


def _close(row: MemoryWrite, kept: Kept | None) -> None:
    """What was decided holds its content no longer: the memory does, or nothing."""
    row.memory = kept.memory if kept else None
    if kept is None:
        row.state = WriteState.DECLINED
    else:
        row.state = WriteState.COMMITTED if kept.is_new else WriteState.MERGED
    row.content, row.metadata = "", {}
