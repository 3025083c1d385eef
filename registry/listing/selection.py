"""Selects the skills of a listing that has fewer places than skills: bundled ones first, then mostly by
usage.

A skill that is never listed stays unused. Every fifth place is therefore reserved for new skills and, in
daily rotation, for all other skills.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import chain, islice

from django.db.models import QuerySet

from registry.core.sql import padded, prepared, read_together, reads_of
from registry.identity.actors import Actor
from registry.listing.candidates import Candidates, slugs_of_teams, team_counts
from registry.listing.listed_skill import canonical_pins, pinned_manifest
from registry.models import Canonical, Skill
from registry.packages import path_conditions
from registry.usage import scores

MAX_PLACES = 1000  # maximum number of listed skills, whatever the budget
NEW_SKILL_AGE = timedelta(days=14)
_RESERVED_EVERY = 5  # every fifth place is reserved
_MAX_REPORTED = 100  # omitted skills reported by name
_COLUMNS = (
    "uid",
    "slug",
    "name",
    "description",
    "when_to_use",
    "is_bundled",
    "usage_count",
    "last_used_at",
    "created_at",
    "team__slug",
    "latest__number",
)


class PlaceReason(StrEnum):
    BUNDLED = "bundled"
    USED = "used"
    NEW = "new"
    TURN = "rotation"  # in today's rotation


@dataclass(frozen=True)
class PlacedSkill:
    skill: Skill
    place: PlaceReason
    score: float


@dataclass(frozen=True)
class Selection:
    """The selected skills by priority, at most ``_MAX_REPORTED`` skills with an unmet `paths` condition, and
    totals. ``next`` are the skills that follow in priority; ``pinned`` is the result of ``canonical_pins``.
    """

    placed: tuple[PlacedSkill, ...]
    next: tuple[Skill, ...]
    unmatched: tuple[Skill, ...]
    unmatched_count: int
    total: int  # skills without an unmet `paths` condition
    pinned: Mapping[int, Canonical]
    shared_slugs: Collection[str]  # slugs that several recommended skills have

    def without_place(self, listed: Collection[int]) -> list[Skill]:
        """The first skills by priority that are not in ``listed``, at most ``_MAX_REPORTED``."""
        skills = chain((each.skill for each in self.placed), self.next)
        return list(islice((skill for skill in skills if skill.pk not in listed), _MAX_REPORTED))


def select_skills(
    actor: Actor, paths: Collection[str], *, limit: int, now: datetime, is_reporting: bool = False
) -> Selection:
    """Selects at most ``limit`` of the skills recommendable to the actor: bundled ones first, then others by
    use and rotation. With ``is_reporting``, ``next`` has at most ``_MAX_REPORTED`` skills, otherwise none.
    """
    new_since = now - NEW_SKILL_AGE
    counts = team_counts(actor, new_since)
    conditions = [_conditions(actor, is_from_teams=each) for each in (True, False)]
    pinned, _ = read_together(canonical_pins.reads(actor), reads_of(counts, *conditions))
    unmatched = _skills_without_matching_file(dict(chain(*conditions)), pinned, paths)
    found = Candidates(actor, counts, unmatched, new_since, now)
    order = _order_by_place(found, limit + is_reporting * _MAX_REPORTED)
    reported = sorted(unmatched)[:_MAX_REPORTED]
    loaded, shared = _load([key for key, _place in order] + reported, found, actor)
    placed = (
        PlacedSkill(skill, place, scores.score(skill.usage_count, skill.last_used_at, now))
        for key, place in order[:limit]
        if (skill := loaded.get(key))
    )
    return Selection(
        tuple(placed),
        tuple(loaded[key] for key, _place in order[limit:] if key in loaded),
        tuple(loaded[key] for key in reported if key in loaded),
        len(unmatched),
        found.total,
        pinned,
        shared,
    )


@prepared
def _conditions(actor: Actor, *, is_from_teams: bool) -> QuerySet[Skill, tuple[int, list[str]]]:
    """The ids and `paths` conditions of the recommended skills that have one."""
    skills = Skill.objects
    rows = (skills.recommendable_from_teams if is_from_teams else skills.recommendable_from_others)(actor)
    return rows.exclude(paths=[]).values_list("pk", "paths")


def _load(keys: Sequence[int], found: Candidates, actor: Actor) -> tuple[dict[int, Skill], set[str]]:
    """The skills with these ids, with the columns that listings show, and their slugs that several
    recommended skills have.
    """
    if not keys:
        return {}, set()
    loaded = {skill.pk: skill for skill in _rows(*padded(keys))}
    slugs = found.slugs_of_others() + Counter(
        slugs_of_teams(actor, *padded([skill.slug for skill in loaded.values()]))
    )
    return loaded, {slug for slug, count in slugs.items() if count > 1}


@prepared
def _rows(*skills: int) -> QuerySet[Skill]:
    return Skill.objects.filter(pk__in=skills).select_related("team", "latest").only(*_COLUMNS)


def _skills_without_matching_file(
    conditional: Mapping[int, Sequence[str]], pinned: Mapping[int, Canonical], paths: Collection[str]
) -> set[int]:
    """The ids of skills with an unmet `paths` condition. For a canonical skill, the pinned version's
    condition applies.
    """
    conditions = {**conditional, **{key: pinned_manifest(pin).paths for key, pin in pinned.items()}}
    matches = path_conditions.any_file_matches
    return {key for key, patterns in conditions.items() if not matches(patterns, paths)}


def _order_by_place(found: Candidates, number: int) -> list[tuple[int, PlaceReason]]:
    """The ids of at most ``number`` skills in order of priority, each once: the bundled ones, then the used
    ones. Every fifth place after those of the bundled ones is for new skills and the rotation, as long as
    there are any.
    """
    order = [(key, PlaceReason.BUNDLED) for key in found.bundled()[:number]]
    if len(order) == number or len(order) == found.total:
        return order
    used_keys, new_keys, ring = found.read(number - len(order))
    used = ((key, PlaceReason.USED) for key in used_keys)
    new = ((key, PlaceReason.NEW) for key in new_keys)
    turn = ((key, PlaceReason.TURN) for key in ring)
    reserved = _alternate(new, turn)
    seen: set[int] = set()
    for place in range(1, number - len(order) + 1):
        first, second = (reserved, used) if place % _RESERVED_EVERY == 0 else (used, reserved)
        following = next((row for row in chain(first, second) if row[0] not in seen), None)
        if following is None:
            break
        seen.add(following[0])
        order.append(following)
    return order


def _alternate(
    first: Iterator[tuple[int, PlaceReason]], second: Iterator[tuple[int, PlaceReason]]
) -> Iterator[tuple[int, PlaceReason]]:
    while pair := [*islice(first, 1), *islice(second, 1)]:
        yield from pair
