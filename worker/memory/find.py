"""Looks up, deletes and restores memories with permission checks."""

from django.db import transaction

from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.identity.teams import require_member
from registry.lookup import skills
from registry.models import Team
from worker.memory.errors import MEMORY_DELETED, MEMORY_OWNER_MISSING
from worker.memory.owners import Owner
from worker.memory.store import store
from worker.models import Memory, Run
from worker.models.memory import MemoryQuerySet

_ME, _RUN = "me", "run:"


def find_owner(name: str, actor: Actor) -> Owner:
    """The owner with this name: ``me``, a team's slug or ``run:<id>``. The owner's ``type`` is empty.

    Raises NOT_FOUND if the actor can't read the owner's memories, and MEMORY_OWNER_MISSING if ``me`` is not a
    person.
    """
    if name == _ME:
        if actor.user is None or (actor.token and actor.token.team_id):
            raise MEMORY_OWNER_MISSING.refusal()
        return Owner("", user_id=actor.user.pk)
    if name.startswith(_RUN):
        run = Run.objects.readable_by(actor).filter(uid=name.removeprefix(_RUN)).first()
        if run is None:
            raise NOT_FOUND.refusal(what="run", name=name[:80])
        return Owner("", run_id=run.pk)
    return find_team_owner(skills.find_team(name, actor), actor)


def find_team_owner(team: Team, actor: Actor) -> Owner:
    """The team as owner (type empty); raises NOT_FOUND unless the actor is a member or administrator."""
    require_member(team, actor)
    return Owner("", team_id=team.pk)


def find_memory(uid: str, actor: Actor) -> Memory:
    related = ("owner_user", "owner_team", "owner_run")
    found = Memory.objects.visible_to(actor).select_related(*related).filter(uid=uid).first()
    if found is None:
        raise NOT_FOUND.refusal(what="memory", name=uid[:80])
    if found.deleted_at:
        raise MEMORY_DELETED.refusal()
    return found


def may_delete(memory: Memory, actor: Actor) -> bool:
    return Memory.objects.deletable_by(actor).filter(pk=memory.pk).exists()


def delete(memory: Memory, actor: Actor) -> None:
    """Deletes a memory, with an audit entry; ``restore`` can undo this for 15 minutes.

    Raises FORBIDDEN if the actor may not delete it.
    """
    if not may_delete(memory, actor):
        raise FORBIDDEN.refusal(action="delete memory")
    with transaction.atomic():
        store().delete(Memory.objects.filter(pk=memory.pk), by=actor.user)
        audit.record(actor, "memory.delete", memory.uid, team=memory.owner_team)


def delete_all(owner: Owner, actor: Actor) -> int:
    """Deletes all memories of the owner that the actor may delete, with an audit entry; returns how many.

    Raises FORBIDDEN if the owner has memories, but the actor may delete none.
    """
    rows = owner_memories(owner).present()
    allowed = rows.filter(pk__in=Memory.objects.deletable_by(actor).values("pk"))
    if rows.exists() and not allowed.exists():
        raise FORBIDDEN.refusal(action="delete memory")
    with transaction.atomic():
        done = store().delete(allowed, by=actor.user)
        team = Team.objects.filter(pk=owner.team_id).first() if owner.team_id else None
        audit.record(actor, "memory.delete_all", _audit_target(owner, team), team=team, count=done)
    return done


def _audit_target(owner: Owner, team: Team | None) -> str:
    """The owner's name as for ``find_owner``: no user name, which an erasure of the person would not find."""
    if owner.run_id:
        return _RUN + Run.objects.values_list("uid", flat=True).get(pk=owner.run_id)
    return team.slug if team else _ME


def restore(uid: str, actor: Actor) -> Memory:
    """Restores a deleted memory, with an audit entry; a memory that is not deleted stays unchanged.

    Raises NOT_FOUND if the actor may not delete it. Raises MEMORY_DELETED if 15 minutes have passed since the
    deletion, or if the same memory was stored again.
    """
    rows = Memory.objects.deletable_by(actor).filter(uid=uid)
    if not rows.exists():
        raise NOT_FOUND.refusal(what="memory", name=uid[:80])
    with transaction.atomic():
        is_restored = bool(store().restore(rows))
        memory = rows.get()
        if memory.deleted_at:
            raise MEMORY_DELETED.refusal()
        if is_restored:
            audit.record(actor, "memory.restore", uid, team=memory.owner_team)
    return memory


def restore_all(owner: Owner, actor: Actor) -> int:
    """Restores the owner's memories that the actor deleted in the last 15 minutes; returns how many.

    Writes an audit entry, and skips memories that were stored again.
    """
    deletable = Memory.objects.deletable_by(actor).values("pk")
    with transaction.atomic():
        done = store().restore(owner_memories(owner).filter(pk__in=deletable, deleted_by=actor.user))
        audit.record(actor, "memory.restore_all", str(done))
    return done


def owner_memories(owner: Owner) -> MemoryQuerySet:
    return Memory.objects.filter(**{name: value for name, value in owner.columns().items() if value})
