"""Memories looked up, deleted and restored by who may: the verbs of pages, API and commands."""

from __future__ import annotations

from django.db import transaction

from registry import audit, catalog
from registry.actors import Actor
from registry.models import Team
from registry.packages.problems import refuse
from worker.memory.owners import Owner
from worker.memory.store import store
from worker.models import Memory, Run
from worker.models.memory import MemoryQuerySet

_RUN = "run:"


def find_owner(name: str, actor: Actor) -> Owner:
    """``me``, a team's slug or ``run:<id>``; whoever may not read theirs learns of no other."""
    if name == "me":
        if actor.user is None or (actor.token and actor.token.team_id):
            raise refuse("NOT_FOUND", what="memory owner", name=name)
        return Owner("", user_id=actor.user.pk)
    if name.startswith(_RUN):
        run = Run.objects.readable_by(actor).filter(uid=name.removeprefix(_RUN)).first()
        if run is None:
            raise refuse("NOT_FOUND", what="run", name=name[:80])
        return Owner("", run_id=run.pk)
    return owner_team(catalog.find_team(name, actor), actor)


def owner_team(team: Team, actor: Actor) -> Owner:
    """A team's memory is its members'; a public team's too."""
    if team.pk not in actor.team_ids and not actor.is_administrator:
        raise refuse("NOT_FOUND", what="team", name=team.slug)
    return Owner("", team_id=team.pk)


def find_memory(uid: str, actor: Actor) -> Memory:
    related = ("owner_user", "owner_team", "owner_run")
    found = Memory.objects.visible_to(actor).select_related(*related).filter(uid=uid).first()
    if found is None:
        raise refuse("NOT_FOUND", what="memory", name=uid[:80])
    if found.deleted_at:
        raise refuse("MEMORY_DELETED")
    return found


def may_delete(memory: Memory, actor: Actor) -> bool:
    return Memory.objects.deletable_by(actor).filter(pk=memory.pk).exists()


def delete(memory: Memory, actor: Actor) -> None:
    """Takes one away; for a while that can be taken back."""
    if not may_delete(memory, actor):
        raise refuse("FORBIDDEN", action="delete memory")
    with transaction.atomic():
        store().delete(Memory.objects.filter(pk=memory.pk), by=actor.user)
        audit.record(actor, "memory.delete", memory.uid, team=memory.owner_team)


def delete_all(owner: Owner, actor: Actor) -> int:
    """Takes away all that somebody, or a team, has."""
    rows = of_owner(owner).present()
    allowed = rows.filter(pk__in=Memory.objects.deletable_by(actor).values("pk"))
    if rows.exists() and not allowed.exists():
        raise refuse("FORBIDDEN", action="delete memory")
    with transaction.atomic():
        done = store().delete(allowed, by=actor.user)
        team = Team.objects.filter(pk=owner.team_id).first() if owner.team_id else None
        audit.record(actor, "memory.delete_all", team.slug if team else "own", team=team, count=done)
    return done


def restore(uid: str, actor: Actor) -> Memory:
    """Takes a deletion back, while there is something to take back."""
    rows = Memory.objects.deletable_by(actor).filter(uid=uid)
    if not rows.exists():
        raise refuse("NOT_FOUND", what="memory", name=uid[:80])
    with transaction.atomic():
        if not store().restore(rows):
            raise refuse("MEMORY_DELETED")
        memory = rows.get()
        audit.record(actor, "memory.restore", uid, team=memory.owner_team)
    return memory


def restore_all(owner: Owner, actor: Actor) -> int:
    """Takes back what was deleted lately of one owner's."""
    deletable = Memory.objects.deletable_by(actor).values("pk")
    with transaction.atomic():
        done = store().restore(of_owner(owner).filter(pk__in=deletable, deleted_by=actor.user))
        audit.record(actor, "memory.restore_all", str(done))
    return done


def of_owner(owner: Owner) -> MemoryQuerySet:
    return Memory.objects.filter(**{name: value for name, value in owner.columns().items() if value})
