"""Distributes recorded events to their recipients, and records when a skill begins or stops failing."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import DatabaseError, InterfaceError, OperationalError, transaction
from django.db.models import F, Q
from django.utils import timezone

from worker.delivery.recipients import (
    DEFAULT_KINDS,
    HEAVY,
    RELATED,
    active_actors,
    can_see,
    involved_people,
    kinds_of,
    members_of,
    watching_teams,
)
from worker.models import (
    MEMORY_CHANNEL,
    RUN_KINDS,
    Delivery,
    DeliveryChannel,
    Digest,
    FailureStreak,
    Notification,
    NotificationEvent,
    NotificationKind,
    NotificationSubscription,
)

log = logging.getLogger(__name__)
_BATCH = 50
# Attempts to distribute an event that the database refuses; after them, the event is dropped.
_MAX_ATTEMPTS = 5


def expand_pending() -> int:
    """Distributes a batch of the oldest events in order, and returns their number.

    Locks them so that a second process waits, because failure streaks depend on the order. If the process is
    killed, none of its batch is stored. Drops an event that fails ``_MAX_ATTEMPTS`` times, because it would
    block all later ones.
    """
    pending = NotificationEvent.objects.filter(expanded_at=None).order_by("pk")
    if not pending.exists():
        return 0
    current: list[NotificationEvent] = []
    try:
        with transaction.atomic():
            rows = pending.select_for_update(of=("self",)).select_related(*RELATED).defer(*HEAVY)
            events = list(rows[:_BATCH])
            for event in events:
                current[:] = [event]
                _expand_safely(event)
    except DatabaseError:
        for event in current:
            _count_failure(event)
        raise
    return len(events)


def _expand_safely(event: NotificationEvent) -> None:
    """Distributes or drops the event. Raises errors of the database that can be temporary."""
    try:
        with transaction.atomic():
            _expand(event)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        log.exception("Event %s could not be distributed", event)
        NotificationEvent.objects.filter(pk=event.pk).update(expanded_at=timezone.now())


def _count_failure(event: NotificationEvent) -> None:
    """Counts a failed attempt, and drops the event after ``_MAX_ATTEMPTS``. Raises an error, without
    counting, if the database is down.
    """
    rows = NotificationEvent.objects.filter(pk=event.pk, expanded_at=None)
    rows.update(failures=F("failures") + 1)
    if rows.filter(failures__gte=_MAX_ATTEMPTS).update(expanded_at=timezone.now()):
        log.exception("Event %s could not be distributed", event)


def _expand(event: NotificationEvent) -> None:
    is_news = _update_streak(event) if event.kind in RUN_KINDS else True
    event.expanded_at = now = timezone.now()
    event.save(update_fields=["kind", "expanded_at"])
    if is_news:
        _notify(event, now)


def _update_streak(event: NotificationEvent) -> bool:
    """Begins or ends the failure streak of the skill; returns whether anyone is notified.

    Changes the kind of the event that begins a streak to FIRST_FAILURE. Returns False for a child run,
    because its root reports the failure, and for a success that ends no streak.
    """
    if event.run is None or event.run.depth:
        return False
    streak = {"skill_id": event.skill_id, "team_key": event.team_id or 0}
    if event.kind == NotificationKind.RECOVERED:
        return bool(FailureStreak.objects.filter(**streak).delete()[0])
    if FailureStreak.objects.get_or_create(**streak, defaults={"since": event.at})[1]:
        event.kind = NotificationKind.FIRST_FAILURE
    return True


def _notify(event: NotificationEvent, now: datetime) -> None:
    involved = involved_people(event)
    chosen = _subscriptions(event, involved)
    inbox = {row for row in chosen if row.channel == DeliveryChannel.INBOX}
    readers = _inbox_readers(event, involved, inbox, now)
    own = {row.user_id for row in chosen if row.user_id is not None}
    actors = {key: actor for key, actor in active_actors(readers | own).items() if can_see(event, actor)}
    notifications = [
        Notification(event=event, user_id=key, created_at=now) for key in actors if key in readers
    ]
    Notification.objects.bulk_create(notifications, ignore_conflicts=True)
    deliveries = [
        Delivery(event=event, subscription=row, created_at=now, due_at=due_time(row, now))
        for row in chosen
        if row not in inbox and _wants(row, event, now) and (row.user_id is None or row.user_id in actors)
    ]
    Delivery.objects.bulk_create(deliveries, ignore_conflicts=True)


def _subscriptions(event: NotificationEvent, involved: Iterable[int]) -> list[NotificationSubscription]:
    rows = NotificationSubscription.objects.exclude(channel=MEMORY_CHANNEL)
    watches = Q(user__in=list(involved)) | Q(team__in=watching_teams(event), team__archived_at=None)
    same_skill = Q(skill=None)
    if event.skill_id:
        watches |= Q(user__isnull=False, skill=event.skill_id)
        same_skill |= Q(skill=event.skill_id)
    return list(rows.filter(watches & same_skill).select_related("team"))


def _inbox_readers(
    event: NotificationEvent, involved: set[int], rows: set[NotificationSubscription], now: datetime
) -> set[int]:
    """The ids of the users whose inbox gets the event.

    An involved user without inbox settings for all skills gets the default kinds.
    """
    configured = {row.user_id for row in rows if row.skill_id is None}
    is_default = bool(set(kinds_of(event)) & set(DEFAULT_KINDS))
    found = {key for key in involved if key not in configured} if is_default else set()
    for row in rows:
        if _wants(row, event, now):
            found |= {row.user_id} if row.user_id else members_of(row.team_id)
    return found


def _wants(row: NotificationSubscription, event: NotificationEvent, now: datetime) -> bool:
    is_muted = row.muted_until is not None and row.muted_until > now
    return not is_muted and bool(set(kinds_of(event)) & set(row.kinds))


def due_time(row: NotificationSubscription, now: datetime) -> datetime:
    """The time at which a delivery is sent: now, or the end of the hour or day in UTC."""
    hour = now.replace(minute=0, second=0, microsecond=0)
    if row.digest == Digest.HOURLY:
        return hour + timedelta(hours=1)
    if row.digest == Digest.DAILY:
        return hour.replace(hour=0) + timedelta(days=1)
    return now
