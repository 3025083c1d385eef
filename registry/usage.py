"""What is used: one count a caller, a skill and a minute, and the order that the catalog makes of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from heapq import merge
from itertools import islice
from math import log, log2
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import transaction
from django.db.models import F, FloatField, Q, QuerySet, Sum, Value
from django.db.models.functions import Cast, Ln
from django.utils import timezone

from registry import bulk, canonical
from registry.models import Skill, Use, UseDay
from registry.rows import aware

HOLD = timedelta(seconds=60)
HALF_LIFE = timedelta(days=7)
FLOOR = 0.1  # the part of a count that age never takes
_COLD = HALF_LIFE * log2(1 / FLOOR)  # the age that has taken all that it may
SHOWN_DAYS = 90
_COUNTED = "ON CONFLICT (skill_id, day, kind, version) DO UPDATE SET count = registry_useday.count + 1"


@dataclass(frozen=True)
class Score:
    """How a skill's score comes about."""

    count: int
    days: float  # since the last use
    factor: float
    value: float

    @property
    def is_floor(self) -> bool:
        """Whether age has taken all that it may."""
        return self.factor == FLOOR


@dataclass(frozen=True)
class Place:
    """How far the order by score has been read, as it was at one moment: along the warm and the cold."""

    at: float  # seconds since 1970
    hot_key: float = 1e300
    warm: int = 0
    count: int = 2**31 - 1
    cold: int = 0

    @property
    def moment(self) -> datetime:
        return datetime.fromtimestamp(min(max(0.0, self.at), 4e9), UTC)


@dataclass(frozen=True)
class _Ranked:
    key: int
    count: int
    last_used_at: datetime | None
    hot_key: float


@dataclass(frozen=True)
class Day:
    """The uses of one day by kind; kinds without any are left out."""

    day: date
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def score(count: int, last_used_at: datetime | None, now: datetime) -> float:
    """``count × max(0.5^(days/7), 0.1)``; 0 for what was never used."""
    return count * _factor(now - last_used_at) if last_used_at else 0.0


def explained(skill: Skill, *, now: datetime | None = None) -> Score:
    now = now or timezone.now()
    age = max(now - skill.last_used_at, timedelta()) if skill.last_used_at else timedelta()
    value = score(skill.usage_count, skill.last_used_at, now)
    return Score(skill.usage_count, age / timedelta(days=1), _factor(age), value)


def _factor(age: timedelta) -> float:
    return max(float(0.5 ** max(age / HALF_LIFE, 0.0)), FLOOR)


def record_use(
    skill: Skill, caller: str, kind: str, *, version: str = "", now: datetime | None = None
) -> bool:
    """Counts a use, unless this caller used this skill less than 60 s ago; says whether it counted."""
    now = now or timezone.now()
    canonical.note_use(skill, caller, kind)
    if Use.objects.filter(skill=skill, caller=caller, last_counted_at__gt=now - HOLD).exists():
        return False  # the common case in a burst, and no reason to wait for the database's writers
    with transaction.atomic():
        if not _counted(skill, caller, kind, now):
            return False
        Skill.objects.filter(pk=skill.pk).update(
            usage_count=F("usage_count") + 1, last_used_at=now, hot_key=_hot_key(now)
        )
        row = (skill.pk, version, kind, now.date().isoformat(), 1)
        bulk.insert(UseDay, ("skill_id", "version", "kind", "day", "count"), [row], on_conflict=_COUNTED)
    return True


def _counted(skill: Skill, caller: str, kind: str, now: datetime) -> bool:
    """One conditional UPDATE decides, so that of many at once one wins."""
    mine = Use.objects.filter(skill=skill, caller=caller)
    change = {"count": F("count") + 1, "last_counted_at": now, "last_kind": kind}
    if mine.filter(last_counted_at__lte=now - HOLD).update(**change):
        return True
    _, created = Use.objects.get_or_create(
        skill=skill, caller=caller, defaults={"count": 1, "last_counted_at": now, "last_kind": kind}
    )
    return created


def _hot_key(now: datetime) -> Ln:
    """``ln(count) + last use × ln 2 / half-life``: an order by decayed count that time does not change."""
    count = Cast(F("usage_count") + 1, FloatField())
    return Ln(count) + Value(_heat(now), output_field=FloatField())  # type: ignore[return-value]


def _heat(moment: datetime) -> float:
    return moment.timestamp() * log(2) / HALF_LIFE.total_seconds()


def most_used(
    skills: QuerySet[Skill], limit: int, *, start: int = 0, now: datetime | None = None
) -> list[Skill]:
    """The skills of the highest score, from the place ``start`` to before the place ``limit``.

    A maximum of two orders, each of which has an index; rows are read of those alone that are answered.
    """
    now = now or timezone.now()
    used = skills.filter(usage_count__gt=0).values("pk", "usage_count", "last_used_at")
    hottest, oftenest = (used.order_by(first, "id")[:limit] for first in ("-hot_key", "-usage_count"))
    scored = {(-score(count, aware(last), now), key) for key, count, last in _either(hottest, oftenest)}
    keys = [key for _, key in sorted(scored)[start:limit]]
    rows = skills.in_bulk(keys)
    return [rows[key] for key in keys if key in rows]


def _either(*found: QuerySet[Skill, Any]) -> list[Any]:
    """The rows of both in one statement, which Django does not make of such as have a limit."""
    try:
        made = [each.query.sql_with_params() for each in found]
    except EmptyResultSet:
        return []
    sql = " UNION ALL ".join(f"SELECT * FROM ({sql}) AS ranked" for sql, _ in made)
    return bulk.read(sql, [value for _, values in made for value in values])


def in_order(skills: QuerySet[Skill], limit: int, place: Place) -> tuple[list[Skill], Place | None]:
    """The next so many by score, unused ones last, and the place after them where there are more.

    What age has taken all from is ordered by its count, the others by their heat: two lists that never meet,
    each read along its index from where it was left.
    """
    now = place.moment
    cut = now - _COLD
    warm = skills.filter(last_used_at__gt=cut, hot_key__gte=_heat(cut) - 1, hot_key__lte=place.hot_key)
    warm = warm.filter(Q(hot_key__lt=place.hot_key) | Q(pk__gt=place.warm)).order_by("-hot_key", "pk")
    cold = skills.filter(Q(last_used_at=None) | Q(last_used_at__lte=cut), usage_count__lte=place.count)
    cold = cold.filter(Q(usage_count__lt=place.count) | Q(pk__gt=place.cold)).order_by("-usage_count", "pk")
    halves = (_ranked(half, limit + 1) for half in (warm, cold))
    found = list(
        islice(merge(*halves, key=lambda row: (-score(row.count, row.last_used_at, now), row.key)), limit + 1)
    )
    shown = found[:limit]
    rows = skills.in_bulk([row.key for row in shown])
    chosen = [rows[row.key] for row in shown if row.key in rows]
    return chosen, _after(shown, place, cut) if len(found) > limit else None


def _ranked(rows: QuerySet[Skill], limit: int) -> list[_Ranked]:
    columns = rows.values_list("pk", "usage_count", "last_used_at", "hot_key")
    return [_Ranked(*row) for row in columns[:limit]]


def _after(shown: list[_Ranked], place: Place, cut: datetime) -> Place:
    for row in shown:
        if row.last_used_at and row.last_used_at > cut:
            place = replace(place, hot_key=row.hot_key, warm=row.key)
        else:
            place = replace(place, count=row.count, cold=row.key)
    return place


def by_day(skill: Skill, *, now: datetime | None = None) -> list[Day]:
    """The last 90 days, the oldest first, those without a use too."""
    today = (now or timezone.now()).date()
    first = today - timedelta(days=SHOWN_DAYS - 1)
    rows = skill.use_days.filter(day__gte=first).values_list("day", "kind").annotate(n=Sum("count"))
    counts: defaultdict[date, dict[str, int]] = defaultdict(dict)
    for day, kind, number in rows.order_by():
        counts[day][kind] = number
    days = (first + timedelta(days=n) for n in range(SHOWN_DAYS))
    return [Day(day, counts.get(day, {})) for day in days]


def by_kind(skill: Skill) -> dict[str, int]:
    """All uses that were counted by kind, since there are such counts."""
    return dict(skill.use_days.values_list("kind").annotate(n=Sum("count")).order_by())


def by_version(skill: Skill) -> dict[str, Counter[str]]:
    """Of each version's number, its uses by kind; "" is of uses that named none."""
    rows = skill.use_days.values_list("version", "kind").annotate(n=Sum("count")).order_by()
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for version, kind, number in rows:
        found[version][kind] = number
    return found
