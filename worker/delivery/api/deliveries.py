from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.utils.translation import override
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag, pagination
from registry.api.documents.skills import Doc, api_url, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, PageQuery, read_query
from registry.core.time import rfc3339
from registry.identity.permissions import Action
from worker.delivery import log
from worker.delivery.texts import text_of
from worker.models import Delivery, DeliveryKind, DeliveryState, NotificationKind

operation = Operations("notifications")
_LOOKUPS = {
    "state": "state",
    "channel": "subscription__channel",
    "team": "subscription__team__slug",
    "subscription": "subscription__uid",
}


class DeliveriesQuery(PageQuery):
    state = serializers.ChoiceField(required=False, choices=DeliveryState.values)
    channel = serializers.ChoiceField(required=False, choices=log.CHANNELS)
    team = serializers.CharField(required=False, max_length=64)
    subscription = serializers.CharField(required=False, max_length=26)


class DeliveryDoc(Doc):
    id = serializers.CharField()
    message_id = serializers.CharField(
        help_text=(
            "Value of the header `Skillquay-Delivery`; all attempts, and all parts of a digest, have "
            "the same value."
        )
    )
    subscription = serializers.CharField()
    channel = serializers.ChoiceField(choices=log.CHANNELS)
    kind = serializers.ChoiceField(choices=DeliveryKind.values)
    event_kind = serializers.ChoiceField(choices=NotificationKind.values, allow_null=True)
    title = serializers.CharField(allow_null=True)
    state = serializers.ChoiceField(choices=DeliveryState.values)
    attempts = serializers.IntegerField()
    due_at = serializers.DateTimeField(allow_null=True, help_text="Time of the next attempt.")
    last_status = serializers.IntegerField(allow_null=True, help_text="HTTP status of the last response.")
    error = serializers.CharField(allow_null=True)
    excerpt = serializers.CharField(allow_blank=True, help_text="Beginning of the last response.")
    created_at = serializers.DateTimeField()
    sent_at = serializers.DateTimeField(allow_null=True)
    replay_of = serializers.CharField(allow_null=True)
    url = serializers.URLField()


class Deliveries(Endpoint):
    required_actions = {"GET": (Action.READ_RUNS,)}
    requires_sign_in = True

    @operation("list_deliveries", "List deliveries", query=DeliveriesQuery, answer=page_schema(DeliveryDoc))
    def get(self, request: Request) -> HttpResponse:
        """Lists deliveries to you and to teams that you maintain, newest first. Administrators get the
        deliveries of all teams, and those of memory changes.
        """
        query = read_query(DeliveriesQuery, request)
        lookups = {lookup: query[name] for name, lookup in _LOOKUPS.items() if name in query}
        page = pagination.read_page("deliveries", query, kinds=(int,))
        found, cursor = pagination.last_first(log.deliveries(self.actor, **lookups), page)
        return etag.document_response(request, page_document([*map(delivery_document, found)], cursor))


class DeliveryDetail(Endpoint):
    required_actions = {"GET": (Action.READ_RUNS,)}
    requires_sign_in = True

    @operation("get_delivery", "Get a delivery", answer=DeliveryDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns the state of the delivery, and the last response."""
        return etag.document_response(request, delivery_document(log.find(uid, self.actor)))


class DeliveryRetry(Endpoint):
    required_actions = {"POST": (Action.SEE,)}
    requires_sign_in = True

    @operation("retry_delivery", "Retry a delivery", answer=DeliveryDoc)
    @idempotent()
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Makes a queued or failed delivery due now, with all deliveries of its digest. Their ids stay the
        same. Requires a session.
        """
        row = log.retry(log.find(uid, self.actor), self.actor)
        return etag.document_response(request, delivery_document(row))


class DeliveryReplay(Endpoint):
    required_actions = {"POST": (Action.SEE,)}
    requires_sign_in = True

    @operation("replay_delivery", "Replay a delivery", answer={201: DeliveryDoc})
    @idempotent()
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Queues a sent or failed notification again, as a new delivery with a new id. Requires a session."""
        row = log.replay(log.find(uid, self.actor), self.actor)
        return etag.document_response(request, delivery_document(row), status=201)


def delivery_document(row: Delivery) -> dict[str, Any]:
    with override("en"):
        title = text_of(row.event).title if row.event else None
    return {
        "id": row.uid,
        "message_id": row.message_id,
        "subscription": row.subscription.uid,
        "channel": row.subscription.channel,
        "kind": row.kind,
        "event_kind": row.event.kind if row.event else None,
        "title": title,
        "state": row.state,
        "attempts": row.attempts,
        "due_at": rfc3339(row.due_at) if row.state == DeliveryState.QUEUED else None,
        "last_status": row.last_status,
        "error": row.error or None,
        "excerpt": row.excerpt,
        "created_at": rfc3339(row.created_at),
        "sent_at": rfc3339(row.sent_at),
        "replay_of": row.replay_of.uid if row.replay_of else None,
        "url": api_url("deliveries", row.uid),
    }
