"""Counts uses, at most one per caller, skill and minute. Computes the usage score that orders the catalog."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from heapq import merge
from itertools import islice
from math import log, log2

from django.db import transaction
from django.db.models import F, FloatField, Q, QuerySet, Sum, Value
from django.db.models.functions import Cast, Ln
from django.utils import timezone

from registry.index.skill_rows import assume_utc
from registry.lookup import canonical as canonical_canonical
from registry.models import Skill, Use
from registry.usage import sql

DEDUPE_WINDOW = timedelta(seconds=60)
HALF_LIFE = timedelta(days=7)
FLOOR = 0.1  # minimum factor: age never reduces a count below this share
_COLD_AGE = HALF_LIFE * log2(1 / FLOOR)  # age at which the factor reaches FLOOR
HISTORY_DAYS = 90


@dataclass(frozen=True)
class Score:
    count: int
    days: float  # since the last use
    factor: float
    value: float

    @property
    def is_floor(self) -> bool:
        """Whether age has reduced the factor to FLOOR."""
        return self.factor == FLOOR


@dataclass(frozen=True)
class ScorePosition:
    """The cursor of ``page_by_score``: positions in the lists of warm and cold skills at a fixed moment. A
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


def record_use(
    skill: Skill, caller: str, kind: str, *, version: str = "", now: datetime | None = None
) -> bool:
    """Counts a use of the skill by this caller, at most one in 60 s, and returns whether it was counted.

    Also counts a use of the canonical name by which the skill was found, if any.
    """
    now = now or timezone.now()
    canonical_canonical.record_canonical_use(skill, caller, kind)
    if Use.objects.filter(skill=skill, caller=caller, last_counted_at__gt=now - DEDUPE_WINDOW).exists():
        return False  # a shortcut for bursts of uses, without waiting for the database's write lock
    with transaction.atomic():
        if not _claim_use(skill, caller, kind, now):
            return False
        Skill.objects.filter(pk=skill.pk).update(
            usage_count=F("usage_count") + 1, last_used_at=now, hot_key=_hot_key(now)
        )
        sql.count_use_of_day(skill, version, kind, now.date())
    return True


def _claim_use(skill: Skill, caller: str, kind: str, now: datetime) -> bool:
    """Adds the use to the caller's count and returns True, or returns False within the dedupe window. A
    conditional UPDATE lets only one of several concurrent uses count.
    """
    mine = Use.objects.filter(skill=skill, caller=caller)
    change = {"count": F("count") + 1, "last_counted_at": now, "last_kind": kind}
    if mine.filter(last_counted_at__lte=now - DEDUPE_WINDOW).update(**change):
        return True
    _, created = Use.objects.get_or_create(
        skill=skill, caller=caller, defaults={"count": 1, "last_counted_at": now, "last_kind": kind}
    )
    return created


def _hot_key(now: datetime) -> Ln:
    """An expression for ``hot_key`` after one more use: ``ln(count) + last use × ln 2 / half-life``. It sorts
    skills by their decayed counts at any time.
    """
    count = Cast(F("usage_count") + 1, FloatField())
    return Ln(count) + Value(_hot_term(now), output_field=FloatField())  # type: ignore[return-value]


def _hot_term(moment: datetime) -> float:
    return moment.timestamp() * log(2) / HALF_LIFE.total_seconds()


def most_used(
    skills: QuerySet[Skill], limit: int, *, start: int = 0, now: datetime | None = None
) -> list[Skill]:
    """Used skills by descending score, from rank ``start`` up to but not including ``limit``.

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
    keys = [key for _, key in sorted(scored)[start:limit]]
    rows = skills.in_bulk(keys)
    return [rows[key] for key in keys if key in rows]


def page_by_score(
    skills: QuerySet[Skill], limit: int, position: ScorePosition
) -> tuple[list[Skill], ScorePosition | None]:
    """Returns the next ``limit`` skills by descending score, and the next position, which is None at the end.
    Unused skills come last.

    Cold skills, whose factor is FLOOR, are ordered by their count; warm ones by ``hot_key``. The two lists
    are disjoint, and each is read along its index from its position.
    """
    now = position.moment
    cut = now - _COLD_AGE
    warm = skills.filter(last_used_at__gt=cut, hot_key__gte=_hot_term(cut) - 1, hot_key__lte=position.hot_key)
    warm = warm.filter(Q(hot_key__lt=position.hot_key) | Q(pk__gt=position.warm)).order_by("-hot_key", "pk")
    cold = skills.filter(Q(last_used_at=None) | Q(last_used_at__lte=cut), usage_count__lte=position.count)
    cold = cold.filter(Q(usage_count__lt=position.count) | Q(pk__gt=position.cold)).order_by(
        "-usage_count", "pk"
    )
    halves = (_rank_rows(half, limit + 1) for half in (warm, cold))
    ranked = list(
        islice(merge(*halves, key=lambda row: (-score(row.count, row.last_used_at, now), row.key)), limit + 1)
    )
    page_rows = ranked[:limit]
    rows = skills.in_bulk([row.key for row in page_rows])
    chosen = [rows[row.key] for row in page_rows if row.key in rows]
    return chosen, _advance(page_rows, position, cut) if len(ranked) > limit else None


def _rank_rows(rows: QuerySet[Skill], limit: int) -> list[_RankedRow]:
    columns = rows.values_list("pk", "usage_count", "last_used_at", "hot_key")
    return [_RankedRow(*row) for row in columns[:limit]]


def _advance(rows: list[_RankedRow], position: ScorePosition, cut: datetime) -> ScorePosition:
    for row in rows:
        if row.last_used_at and row.last_used_at > cut:
            position = replace(position, hot_key=row.hot_key, warm=row.key)
        else:
            position = replace(position, count=row.count, cold=row.key)
    return position


def uses_by_day(skill: Skill, *, now: datetime | None = None) -> list[DailyUses]:
    """Uses on each of the last 90 days, oldest first, including days without uses."""
    today = (now or timezone.now()).date()
    first = today - timedelta(days=HISTORY_DAYS - 1)
    rows = skill.use_days.filter(day__gte=first).values_list("day", "kind").annotate(n=Sum("count"))
    counts: defaultdict[date, dict[str, int]] = defaultdict(dict)
    for day, kind, number in rows.order_by():
        counts[day][kind] = number
    days = (first + timedelta(days=n) for n in range(HISTORY_DAYS))
    return [DailyUses(day, counts.get(day, {})) for day in days]


def uses_by_kind(skill: Skill) -> dict[str, int]:
    return dict(skill.use_days.values_list("kind").annotate(n=Sum("count")).order_by())


def uses_by_version(skill: Skill) -> dict[str, Counter[str]]:
    """Use counts by version number and kind. Uses without a version are under ""."""
    rows = skill.use_days.values_list("version", "kind").annotate(n=Sum("count")).order_by()
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for version, kind, number in rows:
        counts[version][kind] = number
    return counts
