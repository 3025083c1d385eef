"""The delivery log: lists, retries and replays deliveries, and sends test messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.utils import timezone

from registry.core.errors import NOT_FOUND
from registry.core.text import choice_label
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require, require_scope
from worker.delivery import errors
from worker.models import (
    MEMORY_CHANNEL,
    Delivery,
    DeliveryChannel,
    DeliveryKind,
    DeliveryQuerySet,
    DeliveryState,
    NotificationSubscription,
)

CHANNELS = (*DeliveryChannel.values, MEMORY_CHANNEL)
_RELATED = (
    *("subscription__user", "subscription__team", "subscription__skill__team", "replay_of"),
    *("event__run", "event__skill__team", "event__version__skill__team", "event__schedule"),
)
_HEAVY = (
    *("event__run__request", "event__run__result", "event__run__files"),
    *("event__version__manifest", "event__version__body"),
)


def deliveries(actor: Actor, **lookups: Any) -> DeliveryQuerySet:
    """The deliveries of subscriptions that the actor can see and that match the lookups."""
    rows = Delivery.objects.visible_to(actor).filter(**lookups)
    return rows.select_related(*_RELATED).defer(*_HEAVY)


def find(uid: str, actor: Actor) -> Delivery:
    found = deliveries(actor, uid=uid).first()
    if found is None:
        raise NOT_FOUND.refusal(what="delivery", name=uid[:80])
    return found


def retry(delivery: Delivery, actor: Actor) -> Delivery:
    """Makes a queued or failed delivery due now, and with it the other deliveries of its digest. Their ids do
    not change.

    Requires a session and, for a team's delivery, permission to change the team's settings. Raises
    DELIVERY_NOT_FAILED in other states.
    """
    _require_change(delivery.subscription, actor)
    unsent = (DeliveryState.QUEUED, DeliveryState.FAILED)
    if delivery.state not in unsent:
        raise errors.DELIVERY_NOT_FAILED.refusal(state=choice_label(DeliveryState(delivery.state)))
    rows = Delivery.objects.filter(state__in=unsent, subscription=delivery.subscription)
    rows = rows.filter(batch=delivery.batch) if delivery.batch else rows.filter(pk=delivery.pk)
    with transaction.atomic():
        rows.update(state=DeliveryState.QUEUED, attempts=0, due_at=timezone.now())
        NotificationSubscription.objects.filter(pk=delivery.subscription_id).update(retry_at=None)
    return find(delivery.uid, actor)


def replay(delivery: Delivery, actor: Actor) -> Delivery:
    """Queues an ended delivery again, without its digest and with a new id; returns the new delivery.

    Requires a session and, for a team's delivery, permission to change the team's settings. Raises
    DELIVERY_NOT_REPLAYABLE unless the delivery is a sent or failed notification.
    """
    _require_change(delivery.subscription, actor)
    ended = delivery.state in (DeliveryState.SENT, DeliveryState.FAILED)
    if not ended or delivery.kind != DeliveryKind.NOTIFICATION:
        raise errors.DELIVERY_NOT_REPLAYABLE.refusal()
    origin = delivery.replay_of or delivery
    row = _queue(delivery.subscription, delivery.kind, event=delivery.event, replay_of=origin)
    return find(row.uid, actor)


def send_test(subscription: NotificationSubscription, actor: Actor) -> Delivery:
    """Queues a test message. Raises SUBSCRIPTION_NOT_TESTABLE for an inbox."""
    _require_change(subscription, actor)
    if subscription.channel == DeliveryChannel.INBOX:
        raise errors.SUBSCRIPTION_NOT_TESTABLE.refusal().at("channel")
    return find(_queue(subscription, DeliveryKind.TEST).uid, actor)


def queue_memory_changes(subscription: NotificationSubscription, payloads: Iterable[dict[str, Any]]) -> None:
    """Queues one delivery per payload, in the caller's transaction."""
    now, kind = timezone.now(), DeliveryKind.MEMORY
    Delivery.objects.bulk_create(
        Delivery(subscription=subscription, kind=kind, payload=payload, created_at=now, due_at=now)
        for payload in payloads
    )


def _queue(subscription: NotificationSubscription, kind: str, **fields: Any) -> Delivery:
    now = timezone.now()
    row = Delivery(subscription=subscription, kind=kind, created_at=now, due_at=now, **fields)
    if row.replay_of is not None or kind == DeliveryKind.TEST:
        row.batch = row.uid  # so that it never joins a digest
    row.save()
    return row


def _require_change(subscription: NotificationSubscription, actor: Actor) -> None:
    require_scope(actor, Action.EVENTS)
    if subscription.team:
        require(actor, Action.SETTINGS, team=subscription.team)
