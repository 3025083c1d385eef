"""Distributes recorded events to their recipients, and updates the streaks of failures that they begin or
end.
"""

from __future__ import annotations

import logging
from datetime import datetime

from django.db import DatabaseError, transaction
from django.utils import timezone

from worker.delivery.recipients import DEFAULT_KINDS, active_actors, can_see, involved_people, kinds_of
from worker.models import (
    RUN_KINDS,
    FailureStreak,
    Notification,
    NotificationEvent,
    NotificationKind,
)

log = logging.getLogger(__name__)
_BATCH = 50
_RELATED = ("run", "skill__team", "team", "version__skill__team", "schedule")
_HEAVY = ("run__request", "run__result", "run__files", "version__manifest", "version__body")


def expand_pending() -> int:
    """Distributes the oldest recorded events, in order, and returns their number.

    Locks the oldest one, so that a second process waits, because streaks depend on the order. If the process
    is killed, none of its batch is stored.
    """
    pending = NotificationEvent.objects.filter(expanded_at=None).order_by("pk")
    if not pending.exists():
        return 0
    with transaction.atomic():
        rows = pending.select_for_update(of=("self",)).select_related(*_RELATED).defer(*_HEAVY)
        events = list(rows[:_BATCH])
        for event in events:
            _expand_safely(event)
    return len(events)


def _expand_safely(event: NotificationEvent) -> None:
    """Distributes the event. Drops it if that fails, because it would block all later events."""
    try:
        with transaction.atomic():
            _expand(event)
    except DatabaseError:
        raise
    except Exception:
        log.exception("Event %s could not be distributed", event)
        NotificationEvent.objects.filter(pk=event.pk).update(expanded_at=timezone.now())


def _expand(event: NotificationEvent) -> None:
    is_news = _update_streak(event) if event.kind in RUN_KINDS else True
    event.expanded_at = now = timezone.now()
    event.save(update_fields=["kind", "expanded_at"])
    if is_news:
        _notify_people(event, now)


def _update_streak(event: NotificationEvent) -> bool:
    """Begins or ends the streak of failures. Returns False if no one is notified: for a child run, because
    its root reports the failure, and for a success that ends no streak.
    """
    if event.run is None or event.run.depth:
        return False
    streak = {"skill_id": event.skill_id, "team_key": event.team_id or 0}
    if event.kind == NotificationKind.RECOVERED:
        return bool(FailureStreak.objects.filter(**streak).delete()[0])
    if FailureStreak.objects.get_or_create(**streak, defaults={"since": event.at})[1]:
        event.kind = NotificationKind.FIRST_FAILURE
    return True


def _notify_people(event: NotificationEvent, now: datetime) -> None:
    """Adds the event to the inboxes of the people involved who can see it."""
    actors = active_actors(involved_people(event))
    wanted = set(kinds_of(event)) & set(DEFAULT_KINDS)
    rows = [
        Notification(event=event, user_id=key, created_at=now)
        for key, actor in actors.items()
        if wanted and can_see(event, actor)
    ]
    Notification.objects.bulk_create(rows, ignore_conflicts=True)
