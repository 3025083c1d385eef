"""The orders of the catalog: how many skills there are, by the stored counts, and which are on a page."""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet

from registry.core.sql import Reads, Rows, evaluate, next_power_of_two, prepared
from registry.identity.actors import Actor
from registry.models import Skill
from registry.search.facets import count_searchable
from registry.search.query import Filters
from registry.usage.scores import BEST_FIRST, UsedSkill, best_used, rank

_MIN_RANKED = 32  # more than a page
_MAX_RANKED = 2_000  # up to this place, the used skills are ranked before they are counted


class _Order:
    def __init__(self, actor: Actor, filters: Filters) -> None:
        self._of = actor, filters
        self.length = 0  # number of skills, once ``load`` has read it

    def load(self) -> Reads[None]:
        """Reads the length, and what the first page needs."""
        count = count_searchable(self._of[1], self._of[0])
        yield (count, *self._first())
        self.length = next(iter(count), 0) or 0

    def _first(self) -> Iterable[Rows[Any]]:
        return ()

    def keys(self, start: int, stop: int) -> list[int]:
        """The primary keys of the skills at these positions."""
        raise NotImplementedError


class NewestSkills(_Order):
    """Skills by the date of their latest version, the newest first."""

    def keys(self, start: int, stop: int) -> list[int]:
        actor, filters = self._of
        rows = filters.searchable_by(actor).values_list("pk", flat=True)
        return list(rows.order_by("-latest_id")[start:stop])  # version keys rise with time, and have an index


class SkillsByScore(_Order):
    """Used skills by current score, then unused ones by the date of their latest version."""

    def _first(self) -> Iterable[Rows[Any]]:
        self._first_best = self._best(_MIN_RANKED)
        return self._first_best

    def _best(self, limit: int) -> list[Rows[UsedSkill]]:
        return [_best_used(*self._of, order=order, limit=limit) for order in BEST_FIRST]

    def keys(self, start: int, stop: int) -> list[int]:
        limit = next_power_of_two(stop)
        best = self._first_best if stop <= _MIN_RANKED else self._best(limit)
        if stop <= _MAX_RANKED:
            evaluate(*best)
        used = len(best[0] if stop <= _MAX_RANKED else _used(*self._of, limit=limit))
        keys = rank(row for rows in best for row in rows)[start:stop] if start < used else []
        if stop > used:
            keys += self._unused_keys(max(start - used, 0), stop - used)
        return keys

    def _unused_keys(self, start: int, stop: int) -> list[int]:
        if start:
            return list(_unused(*self._of)[start:stop])
        return _first_unused(*self._of, limit=next_power_of_two(stop))[:stop]


@prepared
def _used(actor: Actor, filters: Filters, *, limit: int) -> QuerySet[Skill, int]:
    used = filters.searchable_by(actor).filter(usage_count__gt=0).order_by("-usage_count", "pk")
    return used.values_list("pk", flat=True)[:limit]


@prepared
def _best_used(actor: Actor, filters: Filters, *, order: str, limit: int) -> QuerySet[Skill, UsedSkill]:
    return best_used(filters.searchable_by(actor), order, limit)


def _unused(actor: Actor, filters: Filters) -> QuerySet[Skill, int]:
    rows = filters.searchable_by(actor).filter(usage_count=0).order_by("-latest_id")
    return rows.values_list("pk", flat=True)


@prepared
def _first_unused(actor: Actor, filters: Filters, *, limit: int) -> QuerySet[Skill, int]:
    return _unused(actor, filters)[:limit]
