"""Selects the skills of a listing that has fewer places than skills: bundled ones first, then mostly by
usage.

A skill that is never listed stays unused. Every fifth place is therefore reserved for new skills and, in
daily rotation, for all other skills.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import chain, islice

from django.db.models import QuerySet

from registry.identity.actors import Actor
from registry.listing.listed_skill import canonical_pins, pinned_manifest
from registry.models import Canonical, Skill
from registry.packages import path_conditions
from registry.usage import scores

MAX_PLACES = 1000  # maximum number of listed skills, whatever the budget
NEW_SKILL_AGE = timedelta(days=14)
_RESERVED_EVERY = 5  # every fifth place is reserved
_GOLDEN_RATIO = (5**0.5 - 1) / 2
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
    totals. ``open`` are the skills without an unmet condition.
    """

    placed: tuple[PlacedSkill, ...]
    unmatched: tuple[Skill, ...]
    unmatched_count: int
    total: int  # skills without an unmet `paths` condition
    open: QuerySet[Skill]

    def without_place(self, listed: Collection[int]) -> list[Skill]:
        """The most used skills in ``open`` that are not in ``listed``, at most ``_MAX_REPORTED``."""
        return list(self.open.exclude(pk__in=listed).order_by("-hot_key", "pk")[:_MAX_REPORTED])


def select_skills(
    reachable: QuerySet[Skill], actor: Actor, paths: Collection[str], *, limit: int, now: datetime
) -> Selection:
    """Selects at most ``limit`` skills: bundled ones first, then others by use and rotation."""
    pinned = canonical_pins(actor)
    skills = reachable.select_related("team", "latest").only(*_COLUMNS)
    unmatched = _skills_without_matching_file(reachable, pinned, paths)
    matching = skills.exclude(pk__in=unmatched)
    bundled = list(matching.filter(is_bundled=True).order_by("-hot_key", "pk")[:limit])
    others = matching.filter(is_bundled=False)
    total = others.count()
    ordered = [(skill, PlaceReason.BUNDLED) for skill in bundled]
    ordered += islice(_order_by_place(others, total, limit - len(bundled), now), limit - len(bundled))
    placed = (
        PlacedSkill(skill, place, scores.score(skill.usage_count, skill.last_used_at, now))
        for skill, place in ordered
    )
    return Selection(
        tuple(placed),
        tuple(skills.filter(pk__in=unmatched[:_MAX_REPORTED])),
        len(unmatched),
        total + matching.filter(is_bundled=True).count(),
        matching,
    )


def _skills_without_matching_file(
    reachable: QuerySet[Skill], pinned: Mapping[int, Canonical], paths: Collection[str]
) -> list[int]:
    """The ids of skills with an unmet `paths` condition. For a canonical skill, the pinned version's
    condition applies.
    """
    conditional = dict(reachable.exclude(paths=[]).values_list("pk", "paths"))
    conditional |= {key: pinned_manifest(pin).paths for key, pin in pinned.items()}
    return sorted(
        key for key, patterns in conditional.items() if not path_conditions.any_file_matches(patterns, paths)
    )


def _order_by_place(
    others: QuerySet[Skill], total: int, places: int, now: datetime
) -> Iterator[tuple[Skill, PlaceReason]]:
    """Yields at most ``total`` skills in order of priority, each once. Every fifth one is new or from the
    rotation, as long as there are any.
    """
    used = ((skill, PlaceReason.USED) for skill in scores.most_used(others, places, now=now))
    fresh = others.filter(created_at__gt=now - NEW_SKILL_AGE)
    new = ((skill, PlaceReason.NEW) for skill in _rotate(fresh, fresh.count(), places, now))
    turn = ((skill, PlaceReason.TURN) for skill in _rotate(others, total, places, now))
    reserved = _alternate(new, turn)
    used_ids: set[int] = set()
    for number in range(1, total + 1):
        first, second = (reserved, used) if number % _RESERVED_EVERY == 0 else (used, reserved)
        found = _next_unseen(chain(first, second), used_ids)
        if found is None:
            return
        used_ids.add(found[0].pk)
        yield found


def _rotate(others: QuerySet[Skill], total: int, places: int, now: datetime) -> Iterable[Skill]:
    """At most ``places`` skills in id order, wrapping around, from a start that changes each day. The golden
    ratio spreads the starts evenly.

    Adding or removing a skill moves the start by at most one, so the rotation does not skip a skill
    repeatedly.
    """
    start = int(now.date().toordinal() * _GOLDEN_RATIO % 1 * total)
    ring = others.order_by("pk")
    return chain(ring[start : start + places], ring[: max(start + places - total, 0)])


def _alternate(
    first: Iterator[tuple[Skill, PlaceReason]], second: Iterator[tuple[Skill, PlaceReason]]
) -> Iterator[tuple[Skill, PlaceReason]]:
    while pair := [*islice(first, 1), *islice(second, 1)]:
        yield from pair


def _next_unseen(
    rows: Iterable[tuple[Skill, PlaceReason]], used_ids: Collection[int]
) -> tuple[Skill, PlaceReason] | None:
    return next((row for row in rows if row[0].pk not in used_ids), None)
