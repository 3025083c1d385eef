"""The skills of a collection with the versions that clients get now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from registry.changes import drafts
from registry.collections.find import is_computed
from registry.identity.actors import Actor
from registry.models import Channel, Collection, CollectionItem, Skill, Version

MAX_SKILLS = 500  # that clients get of a computed collection


@dataclass(frozen=True)
class Member:
    """A skill of a collection. ``version`` is None if clients can't get the skill now, for example because
    the pinned version is held.
    """

    skill: Skill
    version: Version | None
    item: CollectionItem | None = None

    @property
    def selector(self) -> str:
        """The pinned number or the channel; empty for the latest version."""
        if self.item is None:
            return ""
        return self.item.pin.number if self.item.pin else self.item.channel


@dataclass(frozen=True)
class NamedVersion:
    """A version with the name by which clients install it: the slug, or ``team-slug`` if an earlier skill of
    the collection has the same slug.
    """

    name: str
    version: Version


def members(collection: Collection, actor: Actor) -> list[Member]:
    """The skills of the collection that the actor may see, in order. Skills that are hidden from the actor
    are omitted, whatever the collection's visibility. A computed collection has at most ``MAX_SKILLS``.
    """
    drafts.depend_on_catalog()
    if is_computed(collection):
        drafts.depend_on_uses()
        rows = Skill.objects.discoverable_by(actor).filter(team=collection.team, latest__isnull=False)
        found = rows.select_related("team", "latest").order_by("-hot_key", "pk")[:MAX_SKILLS]
        return [Member(skill, _of(skill.latest, skill)) for skill in found]
    rows_in_order = all_members(collection)
    keys = {member.skill.pk for member in rows_in_order}
    seen = set(Skill.objects.discoverable_by(actor).filter(pk__in=keys).values_list("pk", flat=True))
    return [member for member in rows_in_order if member.skill.pk in seen]


def all_members(collection: Collection) -> list[Member]:
    """All skills of a stored collection, visible or not. A merged skill counts as the one that it was
    merged into, and purged ones are omitted.
    """
    related = ("skill__team", "skill__latest", "skill__merged_into__team", "skill__merged_into__latest")
    items = list(collection.items.select_related(*related, "pin__skill__team").order_by("place", "pk"))
    named = {item.skill_id: item.channel for item in items if item.channel}
    channels = Channel.objects.filter(skill__in=named, name__in=set(named.values())).select_related("version")
    by_name = {(row.skill_id, row.name): row.version for row in channels}
    found: dict[int, Member] = {}
    for item in items:
        skill = item.skill.merged_into or item.skill
        if skill.purged_at is None:
            chosen = _chosen(item, skill, by_name.get((item.skill_id, item.channel)))
            found.setdefault(skill.pk, Member(skill, chosen, item))
    return list(found.values())


def named_versions(found: Iterable[Member]) -> list[NamedVersion]:
    """The members that clients can install, with distinct names."""
    return name_versions([member.version for member in found if member.version])


def name_versions(versions: Sequence[Version]) -> list[NamedVersion]:
    names: dict[str, NamedVersion] = {}
    for version in versions:
        name = version.skill.slug
        if name in names:
            name = f"{version.skill.team.slug}-{name}"
        names.setdefault(name, NamedVersion(name, version))
    return list(names.values())


def _chosen(item: CollectionItem, skill: Skill, in_channel: Version | None) -> Version | None:
    if item.pin:
        return None if item.pin.is_held else item.pin
    if not item.channel:
        return _of(skill.latest, skill)
    if in_channel is None or in_channel.is_held or in_channel.yanked_at:
        return None
    return _of(in_channel, item.skill)


def _of(version: Version | None, skill: Skill) -> Version | None:
    if version:
        version.skill = skill  # saves queries for the skill and its team
    return version
