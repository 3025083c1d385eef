"""Creates, changes and deletes collections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from registry.collections.errors import COLLECTION_COMPUTED, COLLECTION_EXISTS, COLLECTION_FULL
from registry.collections.errors import COLLECTION_REPEATS as REPEATS
from registry.collections.find import ALL, is_computed
from registry.collections.members import members
from registry.core import text
from registry.core.errors import SLUG_INVALID
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.lookup import skills
from registry.models import Collection, CollectionItem, Skill, Team, Version
from registry.packages.version_numbers import normalise

MAX_ITEMS = 200
_RESERVED = frozenset({ALL, "new"})


@dataclass(frozen=True)
class ChosenSkill:
    """The skill ``label`` (``team/slug``) and the version number or channel; "" means the latest version."""

    label: str
    selector: str = ""

    @classmethod
    def parse(cls, line: str) -> ChosenSkill:
        """The skill in a line such as ``handbook/pdf``, ``handbook/pdf@1.2.0`` or ``handbook/pdf@stable``."""
        label, _, selector = line.strip().partition("@")
        return cls(label.strip(), selector.strip())

    def __str__(self) -> str:
        return f"{self.label}@{self.selector}" if self.selector else self.label


@transaction.atomic
def create(
    team: Team,
    slug: str,
    by: Actor,
    *,
    title: str = "",
    description: str = "",
    visibility: str = "private",
    chosen: Sequence[ChosenSkill] = (),
) -> Collection:
    """Creates a collection. Raises SLUG_INVALID for a malformed or reserved slug, COLLECTION_EXISTS for a
    taken one, and TEXT_INVALID. Raises COLLECTION_REPEATS for a repeated skill and COLLECTION_FULL above
    MAX_ITEMS. Also raises the errors of ``require``, ``find_skill`` and ``find_version``.
    """
    require(by, Action.COLLECTIONS, team=team)
    _check_free(team, slug)
    collection = Collection.objects.create(
        team=team,
        slug=slug,
        title=_title(title or slug),
        description=_description(description),
        visibility=visibility,
        created_by=by.user,
    )
    _write_items(collection, _find_items(chosen, by), by)
    audit.record(by, "collection.create", str(collection), team=team, skills=[str(each) for each in chosen])
    return collection


@transaction.atomic
def change(
    collection: Collection,
    by: Actor,
    *,
    title: str | None = None,
    description: str | None = None,
    visibility: str | None = None,
    chosen: Sequence[ChosenSkill] | None = None,
) -> Collection:
    """Changes the values that are not None. ``chosen`` replaces the skills in their order; skills that the
    actor may not see stay at the end. Raises like ``create``, and COLLECTION_COMPUTED for the collection
    ``all``.
    """
    collection = _lock(collection, by)
    if title is not None:
        collection.title = _title(title)
    if description is not None:
        collection.description = _description(description)
    if visibility is not None:
        collection.visibility = visibility
    collection.save()
    if chosen is not None:
        _write_items(collection, _find_items(chosen, by), by)
    given = {"title": title, "description": description, "visibility": visibility}
    detail: dict[str, object] = {name: value for name, value in given.items() if value is not None}
    if chosen is not None:
        detail["skills"] = [str(each) for each in chosen]
    audit.record(by, "collection.change", str(collection), team=collection.team, **detail)
    return collection


@transaction.atomic
def delete(collection: Collection, by: Actor) -> None:
    """Deletes the collection, not its skills. Raises COLLECTION_COMPUTED for the collection ``all``, and
    the errors of ``require``.
    """
    collection = _lock(collection, by)
    audit.record(by, "collection.delete", str(collection), team=collection.team)
    collection.delete()


def chosen_skills(collection: Collection, actor: Actor) -> list[ChosenSkill]:
    """The current skills that the actor may see, in the form that ``change`` accepts."""
    return [ChosenSkill(str(member.skill), member.selector) for member in members(collection, actor)]


def _lock(collection: Collection, by: Actor) -> Collection:
    require(by, Action.COLLECTIONS, team=collection.team)
    if is_computed(collection):
        raise COLLECTION_COMPUTED.refusal(collection=str(collection))
    return Collection.objects.select_for_update(of=("self",)).select_related("team").get(pk=collection.pk)


def _check_free(team: Team, slug: str) -> None:
    if len(slug) > 64 or not text.SLUG.fullmatch(slug) or slug in _RESERVED:
        raise SLUG_INVALID.refusal(slug=slug[:80]).at("slug")
    if team.collections.filter(slug=slug).exists():
        raise COLLECTION_EXISTS.refusal(collection=slug).at("slug")


def _title(title: str) -> str:
    return text.validated(title, field="title", max_length=120)


def _description(description: str) -> str:
    return text.validated(description, field="description", max_length=1000, allow_blank=True)


def _find_items(chosen: Sequence[ChosenSkill], by: Actor) -> list[CollectionItem]:
    """An unsaved item for each chosen skill. A version or channel must be usable now."""
    if len(chosen) > MAX_ITEMS:
        raise COLLECTION_FULL.refusal(limit=MAX_ITEMS).at("skills")
    found: dict[int, CollectionItem] = {}
    for number, each in enumerate(chosen):
        skill, item = _find_item(each, by)
        if skill.pk in found:
            raise REPEATS.refusal(skill=str(skill)).at(f"skills/{number}")
        found[skill.pk] = item
    return list(found.values())


def _find_item(chosen: ChosenSkill, by: Actor) -> tuple[Skill, CollectionItem]:
    skill = skills.find_skill(chosen.label, by)
    skill.resolved_canonical = None  # the collection decides the version
    selector = "" if chosen.selector == "latest" else chosen.selector
    if not selector:
        return skill, CollectionItem(skill=skill)
    version: Version = skills.find_version(skill, selector, by)
    if normalise(selector) is None:
        return skill, CollectionItem(skill=skill, channel=selector)
    return skill, CollectionItem(skill=skill, pin=version)


def _write_items(collection: Collection, items: Sequence[CollectionItem], by: Actor) -> None:
    seen = {member.item.pk for member in members(collection, by) if member.item}
    collection.items.filter(pk__in=seen).delete()
    hidden = list(collection.items.order_by("place", "pk"))
    kept = [item for item in hidden if item.skill_id not in {each.skill_id for each in items}]
    if len(items) + len(kept) > MAX_ITEMS:
        raise COLLECTION_FULL.refusal(limit=MAX_ITEMS).at("skills")
    collection.items.all().delete()
    for place, item in enumerate([*items, *kept]):
        CollectionItem.objects.create(
            collection=collection,
            place=place,
            skill_id=item.skill_id,
            pin_id=item.pin_id,
            channel=item.channel,
        )
