"""The orders of the catalog as sequences for Django's paginator, which count skills by the stored counts."""

from collections.abc import Sequence
from typing import overload

from django.db.models import QuerySet

from registry.core.sql import Rows, evaluate, next_power_of_two, prepared
from registry.identity.actors import Actor
from registry.models import Skill
from registry.search.facets import count_searchable
from registry.search.query import Filters
from registry.usage.scores import BEST_FIRST, UsedSkill, best_used, load_listed, rank, with_listed_columns

_MIN_RANKED = 32  # more than a page
_MAX_RANKED = 2_000  # up to this place, the used skills are ranked before they are counted


class _Skills(Sequence[Skill]):
    def __init__(self, actor: Actor, filters: Filters) -> None:
        self._of = actor, filters
        count = count_searchable(filters, actor)
        self._read_with(count)
        self._length = next(iter(count), 0) or 0

    def _read_with(self, count: Rows[int]) -> None:
        """Reads the count, and with the same statement what the first page needs."""

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Skill: ...
    @overload
    def __getitem__(self, index: slice) -> list[Skill]: ...
    def __getitem__(self, index: int | slice) -> Skill | list[Skill]:
        if isinstance(index, int):
            return self[index : index + 1][0]
        start, stop, _ = index.indices(len(self))
        return self._read(start, stop)

    def _read(self, start: int, stop: int) -> list[Skill]:
        raise NotImplementedError


class NewestSkills(_Skills):
    """Skills by the date of their latest version, the newest first."""

    def _read(self, start: int, stop: int) -> list[Skill]:
        actor, filters = self._of
        rows = with_listed_columns(filters.searchable_by(actor))
        return list(rows.order_by("-latest_id")[start:stop])  # version keys rise with time, and have an index


class SkillsByScore(_Skills):
    """Used skills by current score, then unused ones by the date of their latest version."""

    def _read_with(self, count: Rows[int]) -> None:
        self._first_best = self._best(_MIN_RANKED)
        evaluate(count, *self._first_best)

    def _best(self, limit: int) -> list[Rows[UsedSkill]]:
        return [_best_used(*self._of, order=order, limit=limit) for order in BEST_FIRST]

    def _read(self, start: int, stop: int) -> list[Skill]:
        limit = next_power_of_two(stop)
        best = self._first_best if stop <= _MIN_RANKED else self._best(limit)
        if stop <= _MAX_RANKED:
            evaluate(*best)
        used = len(best[0] if stop <= _MAX_RANKED else _used(*self._of, limit=limit))
        keys = rank(row for rows in best for row in rows)[start:stop] if start < used else []
        if stop > used:
            keys += self._unused_keys(max(start - used, 0), stop - used)
        return load_listed(keys)

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
