"""Computes the usage score that orders the catalog, from the uses that ``recording`` counts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from heapq import merge
from itertools import islice
from math import log, log2
from typing import Any, cast

from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from registry.core.sql import PreparedQuery, Reads, reader
from registry.identity.actors import Actor
from registry.index.skill_rows import assume_utc
from registry.models import Skill
from registry.usage import sql

HALF_LIFE = timedelta(days=7)
FLOOR = 0.1  # minimum factor: age never reduces a count below this share
_COLD_AGE = HALF_LIFE * log2(1 / FLOOR)  # age at which the factor reaches FLOOR
HISTORY_DAYS = 90
_RANKED_COLUMNS = ("pk", "usage_count", "last_used_at", "hot_key")


@dataclass(frozen=True)
class Score:
    count: int
    days: float  # since the last use
    factor: float
    value: float

    @property
    def is_floor(self) -> bool:
        """Whether the time since the last use has reduced the factor to FLOOR."""
        return self.factor == FLOOR


@dataclass(frozen=True)
class ScorePosition:
    """The cursor of ``keys_by_score``: positions in the lists of warm and cold skills at a fixed moment. A
    skill is cold when age has reduced its factor to FLOOR.
    """

    at: float  # seconds since 1970
    hot_key: float = 1e300
    warm: int = 0
    count: int = 2**31 - 1
    cold: int = 0

    @property
    def moment(self) -> datetime:
        return datetime.fromtimestamp(min(max(0.0, self.at), 4e9), UTC)


@dataclass(frozen=True)
class _RankedRow:
    key: int
    count: int
    last_used_at: datetime | None
    hot_key: float


@dataclass(frozen=True)
class DailyUses:
    """Uses on one day, by kind. Kinds without uses are omitted."""

    day: date
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def score(count: int, last_used_at: datetime | None, now: datetime) -> float:
    """``count × max(0.5^(days/7), 0.1)`` for the days since the last use, or 0 if never used."""
    return count * _factor(now - last_used_at) if last_used_at else 0.0


def explain_score(skill: Skill, *, now: datetime | None = None) -> Score:
    now = now or timezone.now()
    age = max(now - skill.last_used_at, timedelta()) if skill.last_used_at else timedelta()
    value = score(skill.usage_count, skill.last_used_at, now)
    return Score(skill.usage_count, age / timedelta(days=1), _factor(age), value)


def _factor(age: timedelta) -> float:
    return max(float(0.5 ** max(age / HALF_LIFE, 0.0)), FLOOR)


def hot_term(moment: datetime) -> float:
    """The part of ``hot_key`` that depends on the last use: last use × ln 2 / half-life."""
    return moment.timestamp() * log(2) / HALF_LIFE.total_seconds()


def most_used(
    skills: QuerySet[Skill], limit: int, *, start: int = 0, now: datetime | None = None
) -> list[Skill]:
    """The skills with the ids of ``most_used_keys``, in the same order, loaded by the queryset."""
    keys = most_used_keys(skills, limit, start=start, now=now)
    rows = skills.in_bulk(keys)
    return [rows[key] for key in keys if key in rows]


def most_used_keys(
    skills: QuerySet[Skill], limit: int, *, start: int = 0, now: datetime | None = None
) -> list[int]:
    """The ids of used skills by descending score, from rank ``start`` up to but not including ``limit``.

    A score is the larger of two indexed values, decayed count and FLOOR × count, so the best ``limit`` rows
    of each are read.
    """
    now = now or timezone.now()
    used = skills.filter(usage_count__gt=0).values("pk", "usage_count", "last_used_at")
    hottest, most_counted = (used.order_by(first, "id")[:limit] for first in ("-hot_key", "-usage_count"))
    scored = {
        (-score(count, assume_utc(last), now), key)
        for key, count, last in sql.union_rows(hottest, most_counted)
    }
    return [key for _, key in sorted(scored)[start:limit]]


def keys_by_score(
    skills: QuerySet[Skill], limit: int, position: ScorePosition
) -> tuple[list[int], ScorePosition | None]:
    """Returns the keys of the next ``limit`` skills by descending score, and the next position, which is None
    at the end. Unused skills come last.

    Cold skills, whose factor is FLOOR, are ordered by their count; warm ones by ``hot_key``. The two lists
    are disjoint, and each is read along its index from its position.
    """
    cut = position.moment - _COLD_AGE
    warm = _warm(skills, cut, hot_term(cut) - 1, position.hot_key, position.warm)
    cold = _cold_skills(skills, cut, position.count, position.cold)
    return _page((_rank_rows(warm[: limit + 1]), _rank_rows(cold[: limit + 1])), limit, position)


def keys_of_discoverable(
    actor: Actor, limit: int, position: ScorePosition, *, for_agents: bool = False
) -> tuple[list[int], ScorePosition | None]:
    """``keys_by_score`` of the skills that lists show to the actor, with prepared queries. ``for_agents``
    omits skills that are not for agents.
    """
    cut = position.moment - _COLD_AGE
    teams = () if actor.is_administrator else sorted(actor.team_ids)
    kind = (len(teams), actor.is_signed_in, actor.is_administrator, for_agents)
    warm, cold = _prepared_halves(limit + 1, *kind)
    values = (hot_term(cut) - 1, position.hot_key, position.warm)
    halves = (warm.all(cut, *values, *teams), cold.all(cut, position.count, position.cold, *teams))
    return _page([[_RankedRow(*row) for row in rows] for rows in halves], limit, position)


@dataclass(frozen=True)
class _Access:
    team_ids: frozenset[int]
    is_signed_in: bool
    is_administrator: bool


@lru_cache(maxsize=256)
def _prepared_halves(
    limit: int, teams: int, is_signed_in: bool, is_administrator: bool, for_agents: bool
) -> tuple[PreparedQuery[tuple[Any, ...]], PreparedQuery[tuple[Any, ...]]]:
    def skills(team_ids: tuple[int, ...]) -> QuerySet[Skill]:
        access = _Access(frozenset(team_ids), is_signed_in, is_administrator)
        rows = Skill.objects.discoverable_by(cast(Actor, access))
        return rows.filter(for_agents=True) if for_agents else rows

    def warm(cut: datetime, least: float, hot_key: float, key: int, *team_ids: int) -> Any:
        rows = _warm(skills(team_ids), cut, least, hot_key, key)
        return rows.values_list(*_RANKED_COLUMNS)[:limit]

    def cold(cut: datetime, count: int, key: int, *team_ids: int) -> Any:
        return _cold_skills(skills(team_ids), cut, count, key).values_list(*_RANKED_COLUMNS)[:limit]

    ids = (int,) * teams
    return (
        PreparedQuery(warm, datetime, float, float, int, *ids),
        PreparedQuery(cold, datetime, int, int, *ids),
    )


def _warm(skills: QuerySet[Skill], cut: datetime, least: float, hot_key: float, key: int) -> QuerySet[Skill]:
    rows = skills.filter(last_used_at__gt=cut, hot_key__gte=least, hot_key__lte=hot_key)
    return rows.filter(Q(hot_key__lt=hot_key) | Q(pk__gt=key)).order_by("-hot_key", "pk")


def _cold_skills(skills: QuerySet[Skill], cut: datetime, count: int, key: int) -> QuerySet[Skill]:
    rows = skills.filter(Q(last_used_at=None) | Q(last_used_at__lte=cut), usage_count__lte=count)
    return rows.filter(Q(usage_count__lt=count) | Q(pk__gt=key)).order_by("-usage_count", "pk")


def _page(
    halves: Iterable[list[_RankedRow]], limit: int, position: ScorePosition
) -> tuple[list[int], ScorePosition | None]:
    now = position.moment
    ranked = list(
        islice(merge(*halves, key=lambda row: (-score(row.count, row.last_used_at, now), row.key)), limit + 1)
    )
    page_rows = ranked[:limit]
    keys = [row.key for row in page_rows]
    return keys, _advance(page_rows, position, now - _COLD_AGE) if len(ranked) > limit else None


def load_listed(keys: Sequence[int]) -> list[Skill]:
    """The skills with these keys, in their order, with team and latest version; the version's text is not
    loaded.
    """
    rows = {row.pk: row for row in _prepared_bulk(len(keys)).all(*keys)} if keys else {}
    return [rows[key] for key in keys if key in rows]


@lru_cache(maxsize=256)
def _prepared_bulk(number: int) -> PreparedQuery[Skill]:
    rows = Skill.objects.select_related("team", "latest").defer("latest__manifest", "latest__body")
    return PreparedQuery(lambda *keys: rows.filter(pk__in=keys), *(int,) * number)


def _rank_rows(rows: QuerySet[Skill]) -> list[_RankedRow]:
    return [_RankedRow(*row) for row in rows.values_list(*_RANKED_COLUMNS)]


def _advance(rows: list[_RankedRow], position: ScorePosition, cut: datetime) -> ScorePosition:
    for row in rows:
        if row.last_used_at and row.last_used_at > cut:
            position = replace(position, hot_key=row.hot_key, warm=row.key)
        else:
            position = replace(position, count=row.count, cold=row.key)
    return position


@reader
def uses_by_day(skill: Skill, *, now: datetime | None = None) -> Reads[list[DailyUses]]:
    """Uses on each of the last 90 days, oldest first, including days without uses."""
    today = (now or timezone.now()).date()
    first = today - timedelta(days=HISTORY_DAYS - 1)
    rows = (
        skill.use_days.filter(day__gte=first).values_list("day", "kind").annotate(n=Sum("count")).order_by()
    )
    counts: defaultdict[date, dict[str, int]] = defaultdict(dict)
    yield rows
    for day, kind, number in rows:
        counts[day][kind] = number
    days = (first + timedelta(days=n) for n in range(HISTORY_DAYS))
    return [DailyUses(day, counts.get(day, {})) for day in days]


@reader
def uses_by_kind(skill: Skill) -> Reads[dict[str, int]]:
    yield (rows := skill.use_days.values_list("kind").annotate(n=Sum("count")).order_by())
    return dict(rows)


@reader
def uses_by_version(skill: Skill) -> Reads[dict[str, Counter[str]]]:
    """Use counts by version number and kind. Uses without a version are under ""."""
    rows = skill.use_days.values_list("version", "kind").annotate(n=Sum("count")).order_by()
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    yield rows
    for version, kind, number in rows:
        counts[version][kind] = number
    return counts
