"""Selects the skills of a listing that has fewer places than skills: bundled ones first, then mostly by
usage.

A skill that is never listed stays unused. Every fifth place is therefore reserved for new skills and, in
daily rotation, for all other skills.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import chain, islice
from typing import Any, NamedTuple

from django.db.models import Case, QuerySet, When

from registry.core.sql import padded, prepared, read_together, reads_of
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
    totals. ``pinned`` is the result of ``canonical_pins``.
    """

    placed: tuple[PlacedSkill, ...]
    unmatched: tuple[Skill, ...]
    unmatched_count: int
    pinned: Mapping[int, Canonical]
    shared_slugs: Collection[str]  # slugs that several recommended skills have
    open: tuple[int, ...]  # ids of the skills without an unmet condition, most used first

    @property
    def total(self) -> int:
        return len(self.open)

    def without_place(self, listed: Collection[int]) -> list[Skill]:
        """The most used skills in ``open`` that are not in ``listed``, at most ``_MAX_REPORTED``."""
        return _load(list(islice((key for key in self.open if key not in listed), _MAX_REPORTED)))


class _Candidate(NamedTuple):
    """A skill recommended to the actor. ``paths`` is None for skills without that condition."""

    key: int
    slug: str
    is_bundled: bool
    is_new: bool
    usage_count: int
    hot_key: float
    paths: Sequence[str] | None


def select_skills(actor: Actor, paths: Collection[str], *, limit: int, now: datetime) -> Selection:
    """Selects at most ``limit`` of the skills recommendable to the actor: bundled ones first, then others by
    use and rotation.

    Reads all candidates once, by few columns, because every rule of the selection concerns all of them.
    """
    rows = _candidate_rows(actor, now - NEW_SKILL_AGE)
    pinned, _ = read_together(canonical_pins.reads(actor), reads_of(rows))
    candidates = [_Candidate(*row) for row in rows]
    unmatched = _skills_without_matching_file(candidates, pinned, paths)
    matching = [each for each in candidates if each.key not in unmatched]
    matching.sort(key=lambda each: (-each.hot_key, each.key))
    places = [(each.key, PlaceReason.BUNDLED) for each in matching if each.is_bundled][:limit]
    others = [each for each in matching if not each.is_bundled]
    places += islice(_order_by_place(others, limit - len(places), now), limit - len(places))
    reported = sorted(unmatched)[:_MAX_REPORTED]
    loaded = {skill.pk: skill for skill in _load([*(key for key, _place in places), *reported])}
    placed = ((loaded[key], place) for key, place in places if key in loaded)
    slugs = Counter(each.slug for each in candidates)
    return Selection(
        tuple(
            PlacedSkill(skill, place, scores.score(skill.usage_count, skill.last_used_at, now))
            for skill, place in placed
        ),
        tuple(loaded[key] for key in reported if key in loaded),
        len(unmatched),
        pinned,
        {slug for slug, count in slugs.items() if count > 1},
        tuple(each.key for each in matching),
    )


@prepared
def _candidate_rows(actor: Actor, new_since: datetime) -> QuerySet[Skill, tuple[Any, ...]]:
    is_new = Case(When(created_at__gt=new_since, then=True), default=False)
    paths = Case(When(paths=[], then=None), default="paths")
    columns = ("slug", "is_bundled", is_new, "usage_count", "hot_key", paths)
    return Skill.objects.recommendable_to(actor).order_by("pk").values_list("pk", *columns)


def _load(keys: Sequence[int]) -> list[Skill]:
    """The skills with these ids, in this order, with the columns that listings show."""
    rows = {skill.pk: skill for skill in _rows(*padded(keys))} if keys else {}
    return [rows[key] for key in keys if key in rows]


@prepared
def _rows(*keys: int) -> QuerySet[Skill]:
    return Skill.objects.filter(pk__in=keys).select_related("team", "latest").only(*_COLUMNS)


def _skills_without_matching_file(
    candidates: Iterable[_Candidate], pinned: Mapping[int, Canonical], paths: Collection[str]
) -> set[int]:
    """The ids of skills with an unmet `paths` condition. For a canonical skill, the pinned version's
    condition applies.
    """
    conditions = {each.key: each.paths for each in candidates if each.paths}
    conditions |= {key: pinned_manifest(pin).paths for key, pin in pinned.items()}
    return {
        key for key, patterns in conditions.items() if not path_conditions.any_file_matches(patterns, paths)
    }


def _order_by_place(
    others: Sequence[_Candidate], places: int, now: datetime
) -> Iterator[tuple[int, PlaceReason]]:
    """Yields the ids of the skills in order of priority, each once. Every fifth one is new or from the
    rotation, as long as there are any.
    """
    ring = sorted(each.key for each in others)
    fresh = sorted(each.key for each in others if each.is_new)
    used = ((key, PlaceReason.USED) for key in _most_used(others, now))
    new = ((key, PlaceReason.NEW) for key in _rotate(fresh, now))
    turn = ((key, PlaceReason.TURN) for key in _rotate(ring, now))
    reserved = _alternate(new, turn)
    seen: set[int] = set()
    for number in range(1, len(others) + 1):
        first, second = (reserved, used) if number % _RESERVED_EVERY == 0 else (used, reserved)
        found = next((row for row in chain(first, second) if row[0] not in seen), None)
        if found is None:
            return
        seen.add(found[0])
        yield found


def _most_used(others: Iterable[_Candidate], now: datetime) -> list[int]:
    """The ids of the used skills by descending score."""
    used = (each for each in others if each.usage_count)
    return [
        key
        for _score, key in sorted(
            (-scores.stored_score(each.usage_count, each.hot_key, now), each.key) for each in used
        )
    ]


def _rotate(keys: Sequence[int], now: datetime) -> Iterator[int]:
    """The ids in their order, wrapping around, from a start that changes each day. The golden ratio spreads
    the starts evenly.

    Adding or removing a skill moves the start by at most one, so the rotation does not skip a skill
    repeatedly.
    """
    start = int(now.date().toordinal() * _GOLDEN_RATIO % 1 * len(keys))
    return chain(islice(keys, start, None), islice(keys, start))


def _alternate(
    first: Iterator[tuple[int, PlaceReason]], second: Iterator[tuple[int, PlaceReason]]
) -> Iterator[tuple[int, PlaceReason]]:
    while pair := [*islice(first, 1), *islice(second, 1)]:
        yield from pair
