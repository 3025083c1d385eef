"""The history of a collection: the versions that it had, from which its git repository gets commits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from registry.collections.members import NamedVersion, all_members, name_versions
from registry.identity.actors import Actor
from registry.models import Collection, CollectionState, Skill, Version

STEP = 64  # states; a history starts after a multiple of it, and has at most twice as many


@dataclass(frozen=True)
class VisibleState:
    """The versions that an actor may see, since the time ``at``."""

    at: datetime
    versions: tuple[NamedVersion, ...]


def visible_states(collection: Collection, actor: Actor) -> list[VisibleState]:
    """The latest states of a stored collection, oldest first, without consecutive equal ones; see ``STEP``
    for their number. Stores the current state first if it differs from the last one.
    """
    record_state(collection)
    total = collection.states.count()
    start = max(0, (total // STEP - 1) * STEP)
    rows = list(collection.states.order_by("pk")[start:])
    known = _visible_versions({key for row in rows for key in row.versions}, actor)
    found: list[VisibleState] = []
    for row in rows:
        named = tuple(name_versions([known[key] for key in row.versions if key in known]))
        if not found or found[-1].versions != named:
            found.append(VisibleState(row.at, named))
    return found


def record_state(collection: Collection) -> None:
    """Adds a state if the versions differ from those of the last one."""
    if _current(collection) == _last(collection):
        return
    with transaction.atomic():
        Collection.objects.select_for_update().get(pk=collection.pk)
        keys = _current(collection)
        if keys != _last(collection):
            CollectionState.objects.create(collection=collection, at=timezone.now(), versions=keys)


def _current(collection: Collection) -> list[int]:
    return [member.version.pk for member in all_members(collection) if member.version]


def _last(collection: Collection) -> list[int] | None:
    row = collection.states.order_by("-pk").first()
    return list(row.versions) if row else None


def _visible_versions(keys: set[int], actor: Actor) -> dict[int, Version]:
    """The versions of skills that the actor finds in lists. Versions of a merged skill belong to the skill
    that it was merged into.
    """
    rows = Version.objects.unheld().filter(pk__in=keys).select_related("skill__team")
    rows = rows.defer("body", "problems")
    owners = {row.pk: row.skill.merged_into_id or row.skill_id for row in rows}
    seen = set(
        Skill.objects.discoverable_by(actor).filter(pk__in=set(owners.values())).values_list("pk", flat=True)
    )
    return {row.pk: row for row in rows if owners[row.pk] in seen}
