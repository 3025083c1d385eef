"""What is used: one count a caller, a skill and a minute, and the order that the catalog makes of it."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import log

from django.db import transaction
from django.db.models import F, FloatField, QuerySet, Value
from django.db.models.functions import Cast, Ln
from django.utils import timezone

from registry.models import Skill, Use

HOLD = timedelta(seconds=60)
HALF_LIFE = timedelta(days=7)
FLOOR = 0.1  # the part of a count that age never takes


def score(count: int, last_used_at: datetime | None, now: datetime) -> float:
    """``count × max(0.5^(days/7), 0.1)``; 0 for what was never used."""
    if last_used_at is None:
        return 0.0
    age = max((now - last_used_at) / HALF_LIFE, 0.0)
    return count * max(float(0.5**age), FLOOR)


def record_use(skill: Skill, caller: str, kind: str, *, now: datetime | None = None) -> bool:
    """Counts a use, unless this caller used this skill less than 60 s ago; says whether it counted."""
    now = now or timezone.now()
    if Use.objects.filter(skill=skill, caller=caller, last_counted_at__gt=now - HOLD).exists():
        return False  # the common case in a burst, and no reason to wait for the database's writers
    with transaction.atomic():
        if not _counted(skill, caller, kind, now):
            return False
        Skill.objects.filter(pk=skill.pk).update(
            usage_count=F("usage_count") + 1, last_used_at=now, hot_key=_hot_key(now)
        )
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
    heat = now.timestamp() * log(2) / HALF_LIFE.total_seconds()
    return Ln(count) + Value(heat, output_field=FloatField())  # type: ignore[return-value]


def most_used(skills: QuerySet[Skill], limit: int, *, now: datetime | None = None) -> list[Skill]:
    """The ``limit`` skills of the highest score: a maximum of two orders, each of which has an index."""
    now = now or timezone.now()
    used = skills.filter(usage_count__gt=0)
    hottest = used.order_by("-hot_key", "id")[:limit]
    oftenest = used.order_by("-usage_count", "id")[:limit]
    found = {skill.pk: skill for skill in [*hottest, *oftenest]}
    ranked = sorted(found.values(), key=lambda s: (-score(s.usage_count, s.last_used_at, now), s.pk))
    return ranked[:limit]
