"""The catalog's default order as a sequence for Django's paginator."""

from collections.abc import Sequence
from typing import overload

from django.db.models import QuerySet

from registry.models import Skill
from registry.usage.scores import most_used


class SkillsByScore(Sequence[Skill]):
    """Used skills by current score, then unused ones by the date of their latest version."""

    def __init__(self, skills: QuerySet[Skill]) -> None:
        self._skills = skills
        self._used = skills.filter(usage_count__gt=0).count()
        self._unused = skills.filter(usage_count=0).order_by("-latest__created_at", "-pk")

    def __len__(self) -> int:
        return self._used + self._unused.count()

    @overload
    def __getitem__(self, index: int) -> Skill: ...
    @overload
    def __getitem__(self, index: slice) -> list[Skill]: ...
    def __getitem__(self, index: int | slice) -> Skill | list[Skill]:
        if isinstance(index, int):
            return self[index : index + 1][0]
        start, stop, _ = index.indices(len(self))
        ranked = most_used(self._skills, stop, start=start) if start < self._used else []
        return ranked + list(self._unused[max(start - self._used, 0) : max(stop - self._used, 0)])
