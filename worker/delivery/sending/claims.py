"""Claims the next deliveries and records their outcomes.

A lease on the subscription lets one process at a time send to an endpoint. An endpoint that does not answer
delays only its own deliveries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from worker.delivery.sending.transport import SendResult
from worker.models import (
    MEMORY_CHANNEL,
    Delivery,
    DeliveryKind,
    DeliveryState,
    Digest,
    NotificationSubscription,
)

LEASE_TIME = timedelta(seconds=60)  # longer than any attempt
MAX_ATTEMPTS = 14  # the last one is about six hours after the first
_MAX_DIGEST = 100
_MAX_PAUSE_S = 3_600


@dataclass(frozen=True)
class SendClaim:
    """The exclusive right to send these deliveries, as one message, until the lease expires."""

    subscription: NotificationSubscription
    deliveries: Sequence[Delivery]
    lease_until: datetime

    @property
    def id(self) -> str:
        return self.deliveries[0].message_id


def claim_next(*, failing: bool) -> SendClaim | None:
    """Claims the next due delivery of the subscription that was served longest ago, with the others of its
    digest; None if none is due.

    ``failing`` selects the subscriptions whose last attempt failed; they have separate threads.
    """
    now = timezone.now()
    due = Delivery.objects.filter(subscription=OuterRef("pk"), state=DeliveryState.QUEUED, due_at__lte=now)
    rows = NotificationSubscription.objects.filter(Exists(due), _free(now))
    rows = rows.filter(Q(retry_at=None) | Q(retry_at__lte=now))
    rows = rows.filter(failures__gt=0) if failing else rows.filter(failures=0)
    order = F("served_at").asc(nulls_first=True)
    for row in rows.select_related("user", "team").order_by(order, "pk")[:20]:
        until = now + LEASE_TIME
        same = NotificationSubscription.objects.filter(_free(now), pk=row.pk)
        if same.update(lease_until=until, served_at=now):
            if chosen := _choose(row, now):
                return SendClaim(row, chosen, until)
            same = NotificationSubscription.objects.filter(pk=row.pk, lease_until=until)
            same.update(lease_until=None)
    return None


def record_result(claim: SendClaim, result: SendResult) -> bool:
    """Stores the outcome, schedules the next attempt after a failure, and ends the lease. Returns False if
    another process has taken the lease.
    """
    now = timezone.now()
    with transaction.atomic():
        failures = claim.subscription.failures + 1 if result.error else 0
        pause = _pause(failures) if result.error else None
        if not _end_lease(claim, failures=failures, retry_at=now + pause if pause else None):
            return False
        for delivery in claim.deliveries:
            _record(delivery, result, now)
    return True


def skip(claim: SendClaim, deliveries: Sequence[Delivery], reason: str) -> None:
    """Marks deliveries of the claim as not sent and stores the reason."""
    keys = [delivery.pk for delivery in deliveries]
    rows = Delivery.objects.filter(pk__in=keys, state=DeliveryState.QUEUED)
    rows.update(state=DeliveryState.SKIPPED, error=reason)


def release(claim: SendClaim) -> None:
    _end_lease(claim)


def _free(now: datetime) -> Q:
    return Q(lease_until=None) | Q(lease_until__lt=now)


def _end_lease(claim: SendClaim, **changes: object) -> bool:
    held = NotificationSubscription.objects.filter(pk=claim.subscription.pk, lease_until=claim.lease_until)
    return bool(held.update(lease_until=None, **changes))


def _choose(row: NotificationSubscription, now: datetime) -> list[Delivery]:
    """The delivery that has been due longest, with the others of its digest.

    Stores which deliveries belong to the digest, so that each attempt sends the same ones.
    """
    queued = Delivery.objects.filter(subscription=row, state=DeliveryState.QUEUED)
    due = queued.filter(due_at__lte=now).order_by("due_at", "pk")
    first = due.first()
    if first is None:
        return []
    if not first.batch and first.kind == DeliveryKind.NOTIFICATION and row.digest != Digest.NONE:
        new = due.filter(batch="", kind=DeliveryKind.NOTIFICATION).values_list("pk", flat=True)[:_MAX_DIGEST]
        queued.filter(pk__in=list(new)).update(batch=first.uid)
        first.batch = first.uid
    members: QuerySet[Delivery] = queued.filter(batch=first.batch) if first.batch else due.filter(pk=first.pk)
    return list(members.order_by("pk"))


def _record(delivery: Delivery, result: SendResult, now: datetime) -> None:
    attempts = delivery.attempts + 1
    changes: dict[str, object] = {
        "attempts": attempts,
        "last_status": result.status,
        "error": result.error[:300],
        "excerpt": result.excerpt,
    }
    if not result.error:
        changes |= {"state": DeliveryState.SENT, "sent_at": now}
    # Memory changes are retried without end.
    elif attempts >= MAX_ATTEMPTS and delivery.kind != MEMORY_CHANNEL:
        changes["state"] = DeliveryState.FAILED
    else:
        changes["due_at"] = now + _pause(attempts)
    Delivery.objects.filter(pk=delivery.pk, state=DeliveryState.QUEUED).update(**changes)


def _pause(failures: int) -> timedelta:
    return timedelta(seconds=min(5 * 2 ** min(failures, 12), _MAX_PAUSE_S))
