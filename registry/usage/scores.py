"""Computes the usage score that orders the catalog, from the uses that ``recording`` counts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from heapq import merge
from itertools import islice
from math import exp, log, log2
from typing import Any

from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from registry.core.sql import Reads, padded, prepared, reader
from registry.identity.actors import Actor
from registry.index.skill_rows import assume_utc
from registry.models import Skill
from registry.usage import sql

HALF_LIFE = timedelta(days=7)
FLOOR = 0.1  # minimum factor: age never reduces a count below this share
_COLD_AGE = HALF_LIFE * log2(1 / FLOOR)  # age at which the factor reaches FLOOR
HISTORY_DAYS = 90
_POSITION_S = 600.0  # scores change by 0.1 % in this time
BEST_FIRST = ("-hot_key", "-usage_count")  # indexed orders; each skill's score comes from one of them
_MIN_READ = 32  # for fewer rows, SQLite would sort all used skills instead of reading an index
UsedSkill = tuple[int, int, datetime | None]  # id, usage count and last use
_LISTED_COLUMNS = (
    *("slug", "name", "description", "visibility", "type", "abilities", "tags", "usage_count"),
    *("last_used_at", "team__slug", "latest__number", "latest__created_at"),
)
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


def first_position(now: datetime) -> ScorePosition:
    """The start of a list in the order of about ``now``. Lists of the same ten minutes have equal positions,
    so that equal lists, which contain the next position, have equal ETags in all web processes.
    """
    return ScorePosition(now.timestamp() // _POSITION_S * _POSITION_S)


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


def stored_score(count: int, hot_key: float, now: datetime) -> float:
    """The ``score`` of a used skill from its stored ``hot_key``, without its last use."""
    return max(min(exp(hot_key - hot_term(now)), count), FLOOR * count)


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
    most = max(limit, _MIN_READ)
    hottest, most_counted = (best_used(skills, order, most) for order in BEST_FIRST)
    rows = sql.union_rows(hottest, most_counted)
    return rank(((key, count, assume_utc(last)) for key, count, last in rows), now)[start:limit]


def rank(rows: Iterable[UsedSkill], now: datetime | None = None) -> list[int]:
    """The ids of the skills by descending score, without repeated ones."""
    now = now or timezone.now()
    return [key for _score, key in sorted({(-score(count, last, now), key) for key, count, last in rows})]


def best_used(skills: QuerySet[Skill], order: str, limit: int) -> QuerySet[Skill, UsedSkill]:
    """The id, count and last use of the best ``limit`` used skills by ``order``, a name in ``BEST_FIRST``."""
    used = skills.filter(usage_count__gt=0)
    if order == "-hot_key":
        used = used.filter(hot_key__gt=0)  # as that of all used skills; ends the read of the index
    return used.order_by(order, "id")[:limit].values_list("pk", "usage_count", "last_used_at")


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
    more: dict[str, Any] = {"for_agents": for_agents, "limit": limit + 1}
    warm = _warm_rows(actor, cut, hot_term(cut) - 1, position.hot_key, position.warm, **more)
    cold = _cold_rows(actor, cut, position.count, position.cold, **more)
    return _page([[_RankedRow(*row) for row in rows] for rows in (warm, cold)], limit, position)


@prepared
def _warm_rows(
    actor: Actor, cut: datetime, least: float, hot_key: float, after: int, *, for_agents: bool, limit: int
) -> QuerySet[Skill, tuple[Any, ...]]:
    rows = _warm(_discoverable(actor, for_agents), cut, least, hot_key, after)
    return rows.values_list(*_RANKED_COLUMNS)[:limit]


@prepared
def _cold_rows(
    actor: Actor, cut: datetime, count: int, after: int, *, for_agents: bool, limit: int
) -> QuerySet[Skill, tuple[Any, ...]]:
    rows = _cold_skills(_discoverable(actor, for_agents), cut, count, after)
    return rows.values_list(*_RANKED_COLUMNS)[:limit]


def _discoverable(actor: Actor, for_agents: bool) -> QuerySet[Skill]:
    rows = Skill.objects.discoverable_by(actor)
    return rows.filter(for_agents=True) if for_agents else rows


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


@reader
def load_listed(keys: Sequence[int]) -> Reads[list[Skill]]:
    """The skills with these keys, in their order and ``with_listed_columns``."""
    yield (found := _listed(*padded(keys)))
    rows = {row.pk: row for row in found}
    return [rows[key] for key in keys if key in rows]


def with_listed_columns(skills: QuerySet[Skill]) -> QuerySet[Skill]:
    """The skills with the columns that lists of skills show, also of team and latest version."""
    return skills.select_related("team", "latest").only(*_LISTED_COLUMNS)


@prepared
def _listed(*skills: int) -> QuerySet[Skill]:
    return with_listed_columns(Skill.objects.filter(pk__in=skills))


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
