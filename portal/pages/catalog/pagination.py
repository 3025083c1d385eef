"""The catalog's default order as a sequence for Django's paginator."""

from collections.abc import Sequence
from typing import overload

from django.db.models import Count, Q, QuerySet

from registry.models import Skill
from registry.usage.scores import load_listed, most_used_keys


class SkillsByScore(Sequence[Skill]):
    """Used skills by current score, then unused ones by the date of their latest version."""

    def __init__(self, skills: QuerySet[Skill]) -> None:
        self._skills = skills
        counts = skills.order_by().aggregate(used=Count("pk", filter=Q(usage_count__gt=0)), all=Count("pk"))
        self._used, self._length = int(counts["used"]), int(counts["all"])
        self._unused = skills.filter(usage_count=0).order_by("-latest__created_at", "-pk")

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
        keys = most_used_keys(self._skills, stop, start=start) if start < self._used else []
        if stop > self._used:
            unused = self._unused.values_list("pk", flat=True)
            keys += unused[max(start - self._used, 0) : max(stop - self._used, 0)]
        return load_listed(keys)
