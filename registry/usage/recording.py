"""Counts uses, at most one per caller, skill and minute. Anonymous callers count once per skill, address
and day.
"""

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache, partial
from itertools import groupby

from django.conf import settings
from django.db import transaction
from django.db.models import F, FloatField, Value
from django.db.models.functions import Cast, Ln
from django.utils import timezone

from registry.batched_writes import Batch
from registry.changes import drafts
from registry.identity import client_address
from registry.identity.actors import ANONYMOUS
from registry.lookup.canonical import note_canonical_use, record_canonical_use
from registry.models import Skill, Use, Version
from registry.usage import sql
from registry.usage.scores import hot_term

DEDUPE_WINDOW = timedelta(seconds=60)
_ANONYMOUS = f"{ANONYMOUS.caller}:"  # start of anonymous callers
_ANONYMOUS_KEPT = timedelta(days=2)
_AT_ONCE = 100  # uses per transaction


@dataclass(frozen=True)
class VersionUse:
    """The kind and the version of a use, without its caller."""

    skill_id: int
    kind: str
    number: str
    canonical_slug: str  # the canonical name by which the skill was found; "" for none


@dataclass(frozen=True)
class SkillUse:
    """A use of a skill by a caller. It counts only if no other use of the same caller counted within
    DEDUPE_WINDOW; for an anonymous caller, on the same day.
    """

    skill_id: int
    caller: str
    kind: str
    version: str  # its number; "" if unknown
    at: datetime


def record_use(
    skill: Skill, caller: str, kind: str, *, version: str = "", now: datetime | None = None
) -> bool:
    """Counts a use of the skill by this caller, at most one per DEDUPE_WINDOW (anonymous callers: per day),
    and returns whether it was counted.

    Also counts a use of the canonical name by which the skill was found, if any.
    """
    record_canonical_use(skill, caller, kind)
    at = now or timezone.now()
    return bool(_write([SkillUse(skill.pk, _caller_of_use(caller, at), kind, version, at)]))


def use_of(version: Version, kind: str) -> VersionUse:
    canonical = version.skill.resolved_canonical
    return VersionUse(version.skill_id, kind, version.number, canonical.slug if canonical else "")


def skill_use(skill: Skill, kind: str) -> VersionUse:
    """Like ``use_of``, for a use of no particular version."""
    return VersionUse(skill.pk, kind, "", skill.resolved_canonical.slug if skill.resolved_canonical else "")


def note_use(use: VersionUse, caller: str) -> None:
    """Like ``record_use``, but a web process writes the use in a batch within a second. For a cached answer,
    it counts a use at each delivery.
    """
    if not drafts.defer_use(partial(count_use, use), caller):
        count_use(use, caller)


def count_use(use: VersionUse, caller: str) -> None:
    """Like ``note_use``, but ignores whether the answer will be cached."""
    if use.canonical_slug:
        note_canonical_use(use.canonical_slug, caller, use.kind)
    now = timezone.now()
    caller = _caller_of_use(caller, now)
    if not _uses.has((use.skill_id, caller)):
        _uses.add((use.skill_id, caller), SkillUse(use.skill_id, caller, use.kind, use.number, now))


def _caller_of_use(caller: str, at: datetime) -> str:
    """The caller; for an anonymous one, a name that stands for the client's address on this day. The
    address can't be computed from it without the site's key.
    """
    if caller != ANONYMOUS.caller:
        return caller
    return _anonymous_caller(settings.SECRET_KEY, at.date(), client_address.current())


@lru_cache(maxsize=1_000)
def _anonymous_caller(key: str, day: date, address: str) -> str:
    text = f"{day.isoformat()} {address}"
    return _ANONYMOUS + hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()[:32]


def _write(uses: Iterable[SkillUse]) -> int:
    """Counts the uses outside the dedupe window and returns their number. Skips skills that were removed."""
    # a shortcut for bursts of uses, without waiting for the database's write lock
    ordered = sorted(_without_recent(list(uses)), key=lambda use: (use.skill_id, use.caller))
    return sum(_write_some(ordered[at : at + _AT_ONCE]) for at in range(0, len(ordered), _AT_ONCE))


def _without_recent(uses: list[SkillUse]) -> list[SkillUse]:
    recent = Use.objects.filter(
        skill__in={use.skill_id for use in uses},
        caller__in={use.caller for use in uses},
        last_counted_at__gt=min(use.at for use in uses) - DEDUPE_WINDOW,
    )
    counted = {
        (skill, caller): at for skill, caller, at in recent.values_list("skill", "caller", "last_counted_at")
    }
    return [
        use
        for use in uses
        if (last := counted.get((use.skill_id, use.caller))) is None or last <= use.at - DEDUPE_WINDOW
    ]


@transaction.atomic
def _write_some(uses: Iterable[SkillUse]) -> int:
    """Counts the uses outside the dedupe window and returns their number. Locks the skills in the order of
    their keys, which prevents deadlocks between processes.
    """
    rows = Skill.objects.filter(pk__in={use.skill_id for use in uses}).order_by("pk")
    existing = set(rows.select_for_update(no_key=True).values_list("pk", flat=True))
    claimed = [use for use in uses if use.skill_id in existing and _claim(use)]
    for skill_id, group in groupby(claimed, key=lambda use: use.skill_id):
        same = list(group)
        last = max(use.at for use in same)
        Skill.objects.filter(pk=skill_id).update(
            usage_count=F("usage_count") + len(same), last_used_at=last, hot_key=_hot_key(len(same), last)
        )
        for use in same:
            sql.count_use_of_day(skill_id, use.version, use.kind, use.at.date())
    return len(claimed)


def _claim(use: SkillUse) -> bool:
    """Adds the use to the caller's count and returns True, or returns False within the dedupe window. A
    conditional UPDATE lets only one of several concurrent uses count.
    """
    mine = Use.objects.filter(skill=use.skill_id, caller=use.caller)
    if use.caller.startswith(_ANONYMOUS):
        return _claim_day(use)
    change = {"count": F("count") + 1, "last_counted_at": use.at, "last_kind": use.kind}
    if mine.filter(last_counted_at__lte=use.at - DEDUPE_WINDOW).update(**change):
        return True
    _, created = Use.objects.get_or_create(
        skill_id=use.skill_id,
        caller=use.caller,
        defaults={"count": 1, "last_counted_at": use.at, "last_kind": use.kind},
    )
    return created


def _claim_day(use: SkillUse) -> bool:
    """Like ``_claim``, for an anonymous caller, whose name changes every day. Removes the skill's anonymous
    rows that are older than ``_ANONYMOUS_KEPT``.
    """
    rows = Use.objects.filter(skill=use.skill_id)
    _, created = rows.get_or_create(
        skill_id=use.skill_id,
        caller=use.caller,
        defaults={"count": 1, "last_counted_at": use.at, "last_kind": use.kind},
    )
    if created:
        before = use.at - _ANONYMOUS_KEPT
        rows.filter(caller__startswith=_ANONYMOUS, last_counted_at__lt=before).delete()
    return created


def _hot_key(more: int, now: datetime) -> Ln:
    """A SQL expression for the new ``hot_key``: ``ln(count) + last use × ln 2 / half-life``. It sorts skills
    by their decayed counts, whatever the time.
    """
    count = Cast(F("usage_count") + more, FloatField())
    return Ln(count) + Value(hot_term(now), output_field=FloatField())  # type: ignore[return-value]


def _write_batch(values: Mapping[tuple[int, str], SkillUse]) -> None:
    _write(values.values())


_uses: Batch[tuple[int, str], SkillUse] = Batch(_write_batch)
