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
from heapq import nlargest
from itertools import chain, islice
from operator import itemgetter
from typing import Final

from django.db.models import Case, QuerySet, Value, When

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
# Columns of a candidate, a plain tuple of values without converters, because there may be thousands.
_Candidate = tuple[int, str, str, int, float]
_KEY: Final = 0
_SLUG: Final = 1
_PLACE: Final = 2  # a PlaceReason: BUNDLED, NEW or USED
_USAGE_COUNT: Final = 3
_HOT_KEY: Final = 4
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


def select_skills(actor: Actor, paths: Collection[str], *, limit: int, now: datetime) -> Selection:
    """Selects at most ``limit`` of the skills recommendable to the actor: bundled ones first, then others by
    use and rotation.

    Reads few columns of all these skills once, because every rule of the selection concerns all of them.
    """
    conditions = [_conditions(actor, is_from_teams=each) for each in (True, False)]
    pinned, _ = read_together(canonical_pins.reads(actor), reads_of(*conditions))
    unmatched = _skills_without_matching_file(dict(chain(*conditions)), pinned, paths)
    rows = _candidates(actor, now - NEW_SKILL_AGE)
    matching = [row for row in rows if row[_KEY] not in unmatched] if unmatched else rows
    places = [(key, PlaceReason.BUNDLED) for key in _keys(matching, PlaceReason.BUNDLED)][:limit]
    others = [row for row in matching if row[_PLACE] != PlaceReason.BUNDLED] if places else matching
    places += islice(_order_by_place(others, limit - len(places), now), limit - len(places))
    reported = sorted(unmatched)[:_MAX_REPORTED]
    loaded = {skill.pk: skill for skill in _load([*(key for key, _place in places), *reported])}
    placed = ((loaded[key], place) for key, place in places if key in loaded)
    slugs = Counter(map(itemgetter(_SLUG), rows))
    return Selection(
        tuple(
            PlacedSkill(skill, place, scores.score(skill.usage_count, skill.last_used_at, now))
            for skill, place in placed
        ),
        tuple(loaded[key] for key in reported if key in loaded),
        len(unmatched),
        pinned,
        {slug for slug, count in slugs.items() if count > 1},
        tuple(map(itemgetter(_KEY), matching)),
    )


def _candidates(actor: Actor, new_since: datetime) -> list[_Candidate]:
    """All skills recommendable to the actor, by descending ``hot_key``."""
    parts = (_candidate_rows(actor, new_since, is_from_teams=each) for each in (True, False))
    return sorted(chain(*parts), key=itemgetter(_HOT_KEY), reverse=True)


@prepared
def _candidate_rows(actor: Actor, new_since: datetime, *, is_from_teams: bool) -> QuerySet[Skill, _Candidate]:
    place = Case(
        When(is_bundled=True, then=Value(PlaceReason.BUNDLED.value)),
        When(created_at__gt=new_since, then=Value(PlaceReason.NEW.value)),
        default=Value(PlaceReason.USED.value),
    )
    rows = _recommendable(actor, is_from_teams).order_by("team_id", "slug")  # SQLite takes the index so
    return rows.values_list("pk", "slug", place, "usage_count", "hot_key")


@prepared
def _conditions(actor: Actor, *, is_from_teams: bool) -> QuerySet[Skill, tuple[int, list[str]]]:
    """The ids and `paths` conditions of the recommended skills that have one."""
    return _recommendable(actor, is_from_teams).exclude(paths=[]).values_list("pk", "paths")


def _recommendable(actor: Actor, is_from_teams: bool) -> QuerySet[Skill]:
    """One of the two parts of ``recommendable_to``, which have different indexes."""
    if is_from_teams:
        return Skill.objects.recommendable_from_teams(actor)
    return Skill.objects.recommendable_from_others(actor)


def _keys(rows: Iterable[_Candidate], place: PlaceReason) -> list[int]:
    value = place.value  # compares faster
    return [row[_KEY] for row in rows if row[_PLACE] == value]


def _load(keys: Sequence[int]) -> list[Skill]:
    """The skills with these ids, in this order, with the columns that listings show."""
    rows = {skill.pk: skill for skill in _rows(*padded(keys))} if keys else {}
    return [rows[key] for key in keys if key in rows]


@prepared
def _rows(*keys: int) -> QuerySet[Skill]:
    return Skill.objects.filter(pk__in=keys).select_related("team", "latest").only(*_COLUMNS)


def _skills_without_matching_file(
    conditional: Mapping[int, Sequence[str]], pinned: Mapping[int, Canonical], paths: Collection[str]
) -> set[int]:
    """The ids of skills with an unmet `paths` condition. For a canonical skill, the pinned version's
    condition applies.
    """
    conditions = {**conditional, **{key: pinned_manifest(pin).paths for key, pin in pinned.items()}}
    matches = path_conditions.any_file_matches
    return {key for key, patterns in conditions.items() if not matches(patterns, paths)}


def _order_by_place(
    others: Sequence[_Candidate], places: int, now: datetime
) -> Iterator[tuple[int, PlaceReason]]:
    """Yields the ids of at least ``places`` skills in order of priority, each once. Every fifth one is new or
    from the rotation, as long as there are any.
    """
    fresh = sorted(_keys(others, PlaceReason.NEW))
    ring = sorted(map(itemgetter(_KEY), others))
    used = ((key, PlaceReason.USED) for key in _most_used(others, places, now))
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


def _most_used(others: Sequence[_Candidate], limit: int, now: datetime) -> list[int]:
    """The ids of the ``limit`` used skills with the highest scores, best first. A score is the larger of two
    values, decayed count and a share of the count, so the best ``limit`` of each are compared.
    """
    hottest = others[:limit]
    most_counted = nlargest(limit, others, key=itemgetter(_USAGE_COUNT))
    rows = {row for row in chain(hottest, most_counted) if row[_USAGE_COUNT]}
    ranked = sorted((-scores.stored_score(row[_USAGE_COUNT], row[_HOT_KEY], now), row[_KEY]) for row in rows)
    return [key for _score, key in ranked[:limit]]


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
