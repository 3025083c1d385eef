"""Selects the skills of a listing that has fewer places than skills: bundled ones first, then mostly by
usage.

A skill that is never listed stays unused. Every fifth place is therefore reserved for new skills and, in
daily rotation, for all other skills.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import chain, islice

from django.db.models import Count, Q, QuerySet

from registry.core.sql import aggregate_rows, evaluate, prepared, read_together, reads_of
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
    totals. ``open`` are the skills without an unmet condition; ``pinned`` is the result of
    ``canonical_pins``.
    """

    placed: tuple[PlacedSkill, ...]
    unmatched: tuple[Skill, ...]
    unmatched_count: int
    total: int  # skills without an unmet `paths` condition
    open: QuerySet[Skill]
    pinned: Mapping[int, Canonical]

    def without_place(self, listed: Collection[int]) -> list[Skill]:
        """The most used skills in ``open`` that are not in ``listed``, at most ``_MAX_REPORTED``."""
        if len(listed) == self.total:
            return []
        return list(self.open.exclude(pk__in=listed).order_by("-hot_key", "pk")[:_MAX_REPORTED])


def select_skills(
    reachable: QuerySet[Skill], actor: Actor, paths: Collection[str], *, limit: int, now: datetime
) -> Selection:
    """Selects at most ``limit`` skills: bundled ones first, then others by use and rotation."""
    conditional = _conditions(actor)
    pinned, _ = read_together(canonical_pins.reads(actor), reads_of(conditional))
    skills = reachable.select_related("team", "latest").only(*_COLUMNS)
    unmatched = _skills_without_matching_file(dict(conditional), pinned, paths)
    matching = skills.exclude(pk__in=unmatched)
    bundled = matching.filter(is_bundled=True).order_by("-hot_key", "pk")[:limit]
    counts = _counts(matching, now)
    not_matching = skills.filter(pk__in=unmatched[:_MAX_REPORTED])
    evaluate(bundled, counts, not_matching)
    total, bundled_count, fresh_count = next(iter(counts), (0, 0, 0))
    ordered = [(skill, PlaceReason.BUNDLED) for skill in bundled]
    places = limit - len(ordered)
    others = matching.filter(is_bundled=False)
    ordered += islice(_order_by_place(others, total - bundled_count, fresh_count, places, now), places)
    placed = (
        PlacedSkill(skill, place, scores.score(skill.usage_count, skill.last_used_at, now))
        for skill, place in ordered
    )
    return Selection(
        tuple(placed),
        tuple(not_matching),
        len(unmatched),
        total,
        matching,
        pinned,
    )


def _counts(matching: QuerySet[Skill], now: datetime) -> QuerySet[Skill, tuple[int, int, int]]:
    """The numbers of all skills, of bundled ones, and of new ones that are not bundled, as the only row."""
    is_fresh = Q(is_bundled=False, created_at__gt=now - NEW_SKILL_AGE)
    return aggregate_rows(
        matching,
        every=Count("pk"),
        bundled=Count("pk", filter=Q(is_bundled=True)),
        fresh=Count("pk", filter=is_fresh),
    )


@prepared
def _conditions(actor: Actor) -> QuerySet[Skill, tuple[int, list[str]]]:
    """The ids and `paths` conditions of the recommended skills that have one."""
    return Skill.objects.recommendable_to(actor).exclude(paths=[]).values_list("pk", "paths")


def _skills_without_matching_file(
    conditional: Mapping[int, Sequence[str]], pinned: Mapping[int, Canonical], paths: Collection[str]
) -> list[int]:
    """The ids of skills with an unmet `paths` condition. For a canonical skill, the pinned version's
    condition applies.
    """
    conditions = {**conditional, **{key: pinned_manifest(pin).paths for key, pin in pinned.items()}}
    return sorted(
        key for key, patterns in conditions.items() if not path_conditions.any_file_matches(patterns, paths)
    )


def _order_by_place(
    others: QuerySet[Skill], total: int, fresh_count: int, places: int, now: datetime
) -> Iterator[tuple[Skill, PlaceReason]]:
    """Yields at most ``total`` skills in order of priority, each once. Every fifth one is new or from the
    rotation, as long as there are any.
    """
    if total <= 0 or places <= 0:
        return
    keys = scores.most_used_keys(others, places, now=now)
    rows = others.filter(pk__in=keys)
    fresh = _rotate(others.filter(created_at__gt=now - NEW_SKILL_AGE), fresh_count, places, now)
    ring = _rotate(others, total, places, now)
    evaluate(rows, *fresh, *ring)
    by_key = {skill.pk: skill for skill in rows}
    used = ((by_key[key], PlaceReason.USED) for key in keys if key in by_key)
    new = ((skill, PlaceReason.NEW) for skill in chain(*fresh))
    turn = ((skill, PlaceReason.TURN) for skill in chain(*ring))
    reserved = _alternate(new, turn)
    used_ids: set[int] = set()
    for number in range(1, total + 1):
        first, second = (reserved, used) if number % _RESERVED_EVERY == 0 else (used, reserved)
        found = _next_unseen(chain(first, second), used_ids)
        if found is None:
            return
        used_ids.add(found[0].pk)
        yield found


def _rotate(others: QuerySet[Skill], total: int, places: int, now: datetime) -> list[QuerySet[Skill]]:
    """Two querysets of at most ``places`` skills in id order, wrapping around, from a start that changes each
    day. The golden ratio spreads the starts evenly.

    Adding or removing a skill moves the start by at most one, so the rotation does not skip a skill
    repeatedly.
    """
    start = int(now.date().toordinal() * _GOLDEN_RATIO % 1 * total)
    stop = start + min(places, total)
    ring = others.order_by("pk")
    return [ring[start:stop], ring[: max(stop - total, 0)]]


def _alternate(
    first: Iterator[tuple[Skill, PlaceReason]], second: Iterator[tuple[Skill, PlaceReason]]
) -> Iterator[tuple[Skill, PlaceReason]]:
    while pair := [*islice(first, 1), *islice(second, 1)]:
        yield from pair


def _next_unseen(
    rows: Iterable[tuple[Skill, PlaceReason]], used_ids: Collection[int]
) -> tuple[Skill, PlaceReason] | None:
    return next((row for row in rows if row[0].pk not in used_ids), None)
