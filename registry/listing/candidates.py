"""The skills that a listing selects from: those of the actor's teams, and others.

A team may own thousands of skills, so of these only the rows that a rule needs are read, along indexes. The
others are bundled, canonical or from subscriptions; of them, all are read, by few columns.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from itertools import chain
from operator import itemgetter
from typing import Any, Final

from django.db.models import Case, Count, Q, QuerySet, Value, When

from registry.core.sql import Rows, aggregate_rows, evaluate, next_power_of_two, prepared
from registry.identity.actors import Actor
from registry.models import Skill
from registry.usage import scores

_TEAMS_AT_ONCE = 50  # SQLite limits the parts of a statement to 500
_GOLDEN_RATIO = (5**0.5 - 1) / 2
# Columns of a row, a plain tuple of values without converters, because the shell gets all skills.
_Row = tuple[int, str, int, float, str]
_Used = tuple[int, str, int, float]  # a row without the kind
_KEY: Final = 0
_SLUG: Final = 1
_USAGE_COUNT: Final = 2
_HOT_KEY: Final = 3
_KIND: Final = 4
_BUNDLED, _NEW, _OLD = "bundled", "new", "old"


class Candidates:
    """The ids of the skills recommendable to the actor, without those in ``unmatched``.

    ``counts`` is the result of ``team_counts``; skills created after ``new_since`` are new.
    """

    def __init__(
        self,
        actor: Actor,
        counts: Rows[tuple[int, int]],
        unmatched: Collection[int],
        new_since: datetime,
        now: datetime,
    ) -> None:
        self._actor, self._unmatched, self._new_since, self._now = actor, unmatched, new_since, now
        self._of_teams, self._new_of_teams = next(iter(counts), (0, 0))
        rows = sorted(_other_rows(actor, new_since))
        self._others = [row for row in rows if row[_KIND] != _BUNDLED]
        self._bundled = [row for row in rows if row[_KIND] == _BUNDLED]
        self._slugs = Counter(map(itemgetter(_SLUG), rows))
        self.total = self._of_teams + len(rows) - len(unmatched)

    def bundled(self) -> list[int]:
        """The bundled skills, most used first."""
        return self._matching(sorted(self._bundled, key=itemgetter(_HOT_KEY), reverse=True))

    def read(self, number: int) -> tuple[list[int], list[int], list[int]]:
        """Three lists of skills that are not bundled: the used ones by descending score, and the new ones
        and all in the order of today's rotation. Each has at least ``number`` skills if there are as many.
        """
        most = number + len(self._unmatched)
        teams = sorted(self._actor.team_ids) if self._of_teams else []
        best = [
            _best_of_team(team, order=order, limit=next_power_of_two(most))
            for team in teams
            for order in scores.BEST_FIRST
        ]
        of_teams = _of_teams(self._actor).order_by("team_id", "slug").values_list("pk")
        new_of_teams = of_teams.filter(created_at__gt=self._new_since)
        new_others = [row for row in self._others if row[_KIND] == _NEW]
        new = self._rotate(new_of_teams, self._new_of_teams, new_others, most)
        ring = self._rotate(of_teams, self._of_teams, self._others, most)
        for first in range(0, len(best), 2 * _TEAMS_AT_ONCE):
            evaluate(*best[first : first + 2 * _TEAMS_AT_ONCE])
        evaluate(*(part for part in (*new, *ring) if isinstance(part, QuerySet)))
        used = self._most_used(chain(self._others, *best), most)
        return tuple(map(self._matching, (used, chain(*new), chain(*ring))))  # type: ignore[return-value]

    def _matching(self, rows: Iterable[Sequence[Any]]) -> list[int]:
        return [row[_KEY] for row in rows if row[_KEY] not in self._unmatched]

    def _most_used(self, rows: Iterable[_Row | _Used], most: int) -> list[tuple[int]]:
        """The ids of the used ones among these by descending score."""
        used = {row[_KEY]: row for row in rows if row[_USAGE_COUNT]}.values()
        ranked = (
            (-scores.stored_score(row[_USAGE_COUNT], row[_HOT_KEY], self._now), row[_KEY]) for row in used
        )
        return [(key,) for _score, key in sorted(ranked)[:most]]

    def _rotate(
        self, of_teams: QuerySet[Skill, tuple[int]], count: int, others: Sequence[_Row], most: int
    ) -> list[QuerySet[Skill, tuple[int]] | Sequence[_Row]]:
        """At most ``most`` of ``count`` skills of teams and of others, wrapping around, from a start that
        changes each day. The golden ratio spreads the starts evenly.

        Adding or removing a skill moves the start by at most one, so the rotation does not skip a skill
        repeatedly.
        """
        total = count + len(others)
        start = int(self._now.date().toordinal() * _GOLDEN_RATIO % 1 * total)
        stop = start + min(most, total)
        parts: list[QuerySet[Skill, tuple[int]] | Sequence[_Row]] = []
        for first, last in ((start, min(stop, total)), (0, stop - total)):
            if first < min(last, count):
                parts.append(of_teams[first : min(last, count)])
            if last > count:
                parts.append(others[max(first - count, 0) : last - count])
        return parts

    def slugs_of_others(self) -> Counter[str]:
        return self._slugs


def _of_teams(actor: Actor) -> QuerySet[Skill]:
    """The skills of ``recommendable_from_teams``. The condition on the slug makes SQLite choose the index of
    these skills.
    """
    return Skill.objects.recommendable_from_teams(actor).filter(slug__gt="")


@prepared
def team_counts(actor: Actor, new_since: datetime) -> QuerySet[Skill, tuple[int, int]]:
    """The numbers of all and of new skills of the actor's teams, as the only row."""
    is_new = Q(created_at__gt=new_since)
    return aggregate_rows(_of_teams(actor), every=Count("pk"), new=Count("pk", filter=is_new))


@prepared
def slugs_of_teams(actor: Actor, *slugs: str) -> QuerySet[Skill, str]:
    """The slug of each skill of the actor's teams that has one of these slugs."""
    rows = Skill.objects.recommendable_from_teams(actor)
    return rows.filter(slug__in=slugs).values_list("slug", flat=True)


@prepared
def _best_of_team(team: int, *, order: str, limit: int) -> QuerySet[Skill, _Used]:
    best = scores.best_used(Skill.objects.recommendable_from([team]), order, limit)
    return best.values_list("pk", "slug", "usage_count", "hot_key")


@prepared
def _other_rows(actor: Actor, new_since: datetime) -> QuerySet[Skill, _Row]:
    kind = Case(
        When(is_bundled=True, then=Value(_BUNDLED)),
        When(created_at__gt=new_since, then=Value(_NEW)),
        default=Value(_OLD),
    )
    rows = Skill.objects.recommendable_from_others(actor).order_by()
    return rows.values_list("pk", "slug", "usage_count", "hot_key", kind)
