"""Which skills a listing has places for, where it cannot have all: most by use, some kept for the others.

What nobody has used yet is used by nobody who is not told of it. So every fifth place is kept for skills that
are new, and for the rest in turn, others every day.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import chain, islice

from django.db.models import QuerySet

from registry import usage
from registry.actors import Actor
from registry.listing.offering import pins, said_by
from registry.models import Canonical, Skill
from registry.packages import conditions

MOST = 1000  # places, whatever the budget
NEW = timedelta(days=14)
_KEPT = 5  # one place of so many
_GOLDEN = (5**0.5 - 1) / 2
_REPORTED = 100  # of the skills without a place
_SHOWN = (
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


class Place(StrEnum):
    """Why a skill has a place."""

    BUNDLED = "bundled"
    USED = "used"
    NEW = "new"
    TURN = "turn"  # it was its turn today


@dataclass(frozen=True)
class Placed:
    skill: Skill
    place: Place
    score: float


@dataclass(frozen=True)
class Choice:
    """Those with a place, the most urgent first; those that wait for a file; how many there are in all."""

    placed: tuple[Placed, ...]
    waiting: tuple[Skill, ...]
    waiting_count: int
    total: int  # of those that wait for no file
    open: QuerySet[Skill]

    def without_place(self, kept: Collection[int]) -> list[Skill]:
        """The first of the others, the most used first."""
        return list(self.open.exclude(pk__in=kept).order_by("-hot_key", "pk")[:_REPORTED])


def choose(
    reachable: QuerySet[Skill], actor: Actor, paths: Collection[str], *, most: int, now: datetime
) -> Choice:
    """Who has the at most ``most`` places; bundled skills come first and are never in turn."""
    pinned = pins(actor)
    skills = reachable.select_related("team", "latest").only(*_SHOWN)
    waiting = _waiting(reachable, pinned, paths)
    open_ = skills.exclude(pk__in=waiting)
    bundled = list(open_.filter(is_bundled=True).order_by("-hot_key", "pk")[:most])
    others = open_.filter(is_bundled=False)
    total = others.count()
    ordered = [(skill, Place.BUNDLED) for skill in bundled]
    ordered += islice(_ordered(others, total, most - len(bundled), now), most - len(bundled))
    placed = (
        Placed(skill, place, usage.score(skill.usage_count, skill.last_used_at, now))
        for skill, place in ordered
    )
    return Choice(
        tuple(placed),
        tuple(skills.filter(pk__in=waiting[:_REPORTED])),
        len(waiting),
        total + open_.filter(is_bundled=True).count(),
        open_,
    )


def _waiting(
    reachable: QuerySet[Skill], pinned: Mapping[int, Canonical], paths: Collection[str]
) -> list[int]:
    """The skills with a condition that none of the files meets; a pinned version has its own."""
    conditional = dict(reachable.exclude(paths=[]).values_list("pk", "paths"))
    conditional |= {key: said_by(pin).paths for key, pin in pinned.items()}
    return sorted(key for key, patterns in conditional.items() if not conditions.fits(patterns, paths))


def _ordered(
    others: QuerySet[Skill], total: int, places: int, now: datetime
) -> Iterator[tuple[Skill, Place]]:
    """Each at most once, the most urgent first: any beginning of it keeps its places."""
    used = ((skill, Place.USED) for skill in usage.most_used(others, places, now=now))
    fresh = others.filter(created_at__gt=now - NEW)
    new = ((skill, Place.NEW) for skill in _in_turn(fresh, fresh.count(), places, now))
    turn = ((skill, Place.TURN) for skill in _in_turn(others, total, places, now))
    kept = _alternately(new, turn)
    seen: set[int] = set()
    for number in range(1, total + 1):
        first, second = (kept, used) if number % _KEPT == 0 else (used, kept)
        found = _next_unseen(chain(first, second), seen)
        if found is None:
            return
        seen.add(found[0].pk)
        yield found


def _in_turn(others: QuerySet[Skill], total: int, places: int, now: datetime) -> Iterable[Skill]:
    """All in one ring, from another beginning each day; the golden ratio spreads them evenly.

    A skill more or less moves a beginning by one at most, so that nobody is passed over again and again.
    """
    begin = int(now.date().toordinal() * _GOLDEN % 1 * total)
    ring = others.order_by("pk")
    return chain(ring[begin : begin + places], ring[: max(begin + places - total, 0)])


def _alternately(
    one: Iterator[tuple[Skill, Place]], other: Iterator[tuple[Skill, Place]]
) -> Iterator[tuple[Skill, Place]]:
    while pair := [*islice(one, 1), *islice(other, 1)]:
        yield from pair


def _next_unseen(rows: Iterable[tuple[Skill, Place]], seen: Collection[int]) -> tuple[Skill, Place] | None:
    return next((row for row in rows if row[0].pk not in seen), None)
