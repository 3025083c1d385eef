"""The catalog's default order as a sequence that pages can be cut from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from django.db.models import QuerySet

from registry.models import Skill
from registry.usage import most_used


class ByScore(Sequence[Skill]):
    """Used skills by their score now, then the unused by the date of their latest version."""

    def __init__(self, skills: QuerySet[Skill]) -> None:
        self._skills = skills
        self._used = skills.filter(usage_count__gt=0).count()
        self._unused = skills.filter(usage_count=0).order_by("-latest__created_at", "-pk")

    def __len__(self) -> int:
        return self._used + self._unused.count()

    @overload
    def __getitem__(self, wanted: int) -> Skill: ...
    @overload
    def __getitem__(self, wanted: slice) -> list[Skill]: ...
    def __getitem__(self, wanted: int | slice) -> Skill | list[Skill]:
        if isinstance(wanted, int):
            return self[wanted : wanted + 1][0]
        start, stop, _ = wanted.indices(len(self))
        ranked = most_used(self._skills, stop, start=start) if start < self._used else []
        return ranked + list(self._unused[max(start - self._used, 0) : max(stop - self._used, 0)])
