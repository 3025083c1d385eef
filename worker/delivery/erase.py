"""Exports and deletes a person's notifications and subscriptions, and deletes old events and deliveries."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone

from registry.core.time import rfc3339
from registry.models import User
from worker.delivery.subscriptions import shown_address
from worker.models import (
    Delivery,
    DeliveryState,
    Notification,
    NotificationEvent,
    NotificationSubscription,
)

KEEP = timedelta(days=90)
_BATCH = 5_000


def export_person(user: User) -> Mapping[str, Any]:
    """The person's subscriptions, and the kinds and times of the notifications in the inbox."""
    rows = Notification.objects.filter(user=user).order_by("pk")
    chosen = rows.values_list("event__kind", "created_at", "read_at")
    return {
        "notifications": (
            {"kind": kind, "created_at": rfc3339(created), "read_at": rfc3339(read)}
            for kind, created, read in chosen.iterator(chunk_size=500)
        ),
        "notification_subscriptions": (
            {"channel": row.channel, "kinds": row.kinds, "address": shown_address(row)}
            for row in NotificationSubscription.objects.filter(user=user).select_related("user")
        ),
    }


def erase_person(user: User) -> tuple[str, ...]:
    """Deletes the person's inbox and subscriptions."""
    NotificationSubscription.objects.filter(user=user).delete()
    Notification.objects.filter(user=user).delete()
    return ()


def sweep() -> None:
    """Deletes a batch of events older than ``KEEP``, with their notifications, and of ended deliveries of
    that age.
    """
    old = NotificationEvent.objects.filter(at__lt=timezone.now() - KEEP).exclude(expanded_at=None)
    NotificationEvent.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:_BATCH])).delete()
    ended = Delivery.objects.filter(created_at__lt=timezone.now() - KEEP).exclude(state=DeliveryState.QUEUED)
    Delivery.objects.filter(pk__in=list(ended.values_list("pk", flat=True)[:_BATCH])).delete()
