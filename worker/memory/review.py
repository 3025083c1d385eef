"""Reviews memory proposals: the queue, decisions and expiry."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from registry.core import text
from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.packages.problems import Refusal
from worker.memory.documents import can_see_skill
from worker.memory.errors import MEMORY_DECIDED, MEMORY_EXPIRED, MEMORY_FIELD_INVALID
from worker.memory.owners import Owner
from worker.memory.store import MemoryEntry, StoreResult, store
from worker.models import MemoryType, MemoryWrite, WriteState
from worker.models.memory import MemoryWriteQuerySet
from worker.protocols.formats.traces import MAX_CONTENT_LENGTH

MAX_BATCH = 100


@dataclass(frozen=True)
class ReviewDecision:
    """A reviewer's decision; fields that are not None replace the proposed values."""

    accept: bool
    content: str | None = None
    type: str | None = None
    importance: int | None = None

    @property
    def edits(self) -> bool:
        return any(value is not None for value in (self.content, self.type, self.importance))


@dataclass(frozen=True)
class ReviewResult:
    """The numbers of decided and skipped proposals.

    A proposal is skipped if it was not found, no longer waited or exceeded ``MAX_BATCH``.
    """

    decided: int
    skipped: int


def queue(actor: Actor, owner: Owner | None = None) -> MemoryWriteQuerySet:
    """The proposals that wait for the actor, oldest first; only those for ``owner`` if given."""
    rows = MemoryWrite.objects.waiting().decidable_by(actor)
    if owner:
        rows = rows.filter(**{name: value for name, value in owner.columns().items() if value})
    related = ("run__caller", "run__skill__team", "owner_user", "owner_team", "owner_run", "memory")
    return rows.select_related(*related).order_by("pk")


def find_write(uid: str, actor: Actor) -> MemoryWrite:
    """The proposal with that uid, even if it is already decided.

    Raises FORBIDDEN for actors with a token, NOT_FOUND for proposals that the actor may not decide.
    """
    if actor.token:
        raise FORBIDDEN.refusal(action="review memory")
    related = ("run__caller", "run__skill__team", "owner_user", "owner_team", "owner_run", "memory")
    found = MemoryWrite.objects.decidable_by(actor).select_related(*related).filter(uid=uid).first()
    if found is None:
        raise NOT_FOUND.refusal(what="proposed memory", name=uid[:80])
    return found


def decide(write: MemoryWrite, decision: ReviewDecision, actor: Actor) -> MemoryWrite:
    """Accepts or declines a waiting proposal, with an audit entry, and returns it reloaded.

    Accepting stores the memory. Raises MEMORY_DECIDED if the proposal no longer waits, or another Refusal for
    invalid edits or a missing permission.
    """
    decision = _validate(decision)
    with transaction.atomic():
        row = MemoryWrite.objects.select_for_update(of=("self",)).get(pk=find_write(write.uid, actor).pk)
        if row.state != WriteState.WAITING:
            raise MEMORY_DECIDED.refusal(state=text.choice_label(WriteState(row.state)))
        result = _remember(row, decision, actor) if decision.accept else None
        _close(row, result)
        row.decided_by, row.decided_at = actor.user, timezone.now()
        row.save()
        verb = "accept" if decision.accept else "decline"
        audit.record(actor, f"memory.{verb}", row.uid, team=row.owner_team, edited=decision.edits)
    return find_write(row.uid, actor)


def decide_many(uids: Sequence[str], accept: bool, actor: Actor) -> ReviewResult:
    decided = 0
    for uid in list(dict.fromkeys(uids))[:MAX_BATCH]:
        try:
            decide(find_write(uid, actor), ReviewDecision(accept), actor)
            decided += 1
        except Refusal as refused:
            if refused.code == FORBIDDEN.name:
                raise
    return ReviewResult(decided, len(set(uids)) - decided)


def expire() -> int:
    """Declines proposals that were not decided within SKILLQUAY_MEMORY_REVIEW_DAYS; returns how many."""
    until = timezone.now() - timedelta(days=settings.SKILLQUAY_MEMORY_REVIEW_DAYS)
    late = MemoryWrite.objects.waiting().filter(created_at__lt=until)
    return late.update(
        state=WriteState.DECLINED,
        code=MEMORY_EXPIRED.name,
        content="",
        metadata={},
        decided_at=timezone.now(),
    )


def _validate(decision: ReviewDecision) -> ReviewDecision:
    if decision.type is not None and decision.type not in MemoryType.values:
        raise MEMORY_FIELD_INVALID.refusal(allowed=tuple(MemoryType.values)).at("type")
    if decision.importance is not None and not 1 <= decision.importance <= 5:
        raise MEMORY_FIELD_INVALID.refusal(allowed="1, 2, 3, 4, 5").at("importance")
    if decision.content is None:
        return decision
    return replace(
        decision, content=text.validated(decision.content, field="content", max_length=MAX_CONTENT_LENGTH)
    )


def _remember(row: MemoryWrite, decision: ReviewDecision, actor: Actor) -> StoreResult:
    can_see = can_see_skill(row.run, actor)
    importance = row.importance if decision.importance is None else decision.importance
    entry = MemoryEntry(
        owner=Owner(row.owner_type, row.owner_user_id, row.owner_team_id, row.owner_run_id),
        type=decision.type or row.type,
        importance=importance,
        original_importance=row.original_importance if decision.importance is None else None,
        content=decision.content or row.content,
        metadata=row.metadata,
        skill=row.run.skill_label if can_see else "",
        version=row.run.version_number if can_see else "",
        by_person=True,
    )
    return store().add([entry])[0]


def _close(row: MemoryWrite, result: StoreResult | None) -> None:
    """Sets the proposal's final state and clears its content, without saving it.

    Only the memory of an accepted proposal keeps the content.
    """
    row.memory = result.memory if result else None
    if result is None:
        row.state = WriteState.DECLINED
    else:
        row.state = WriteState.COMMITTED if result.is_new else WriteState.MERGED
    row.content, row.metadata = "", {}
