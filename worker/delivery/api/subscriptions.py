from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag, pagination
from registry.api.documents.skills import AddressField, Doc, api_url, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, PageQuery, Shape, StrictText, read_body, read_query
from registry.identity.permissions import Action
from registry.lookup import skills
from worker.delivery import log, subscriptions
from worker.delivery.api.deliveries import DeliveryDoc, delivery_document
from worker.delivery.subscriptions import MIN_SECRET, SubscriptionOptions
from worker.models import DeliveryChannel, Digest, NotificationKind, NotificationSubscription

operation = Operations("notifications")
# Changes require a session: the verbs refuse tokens.
_READS = (Action.READ_RUNS,)


class SubscriptionsQuery(PageQuery):
    team = serializers.CharField(required=False, max_length=64, help_text="Only subscriptions of this team.")


class NotificationSubscriptionChange(Shape):
    kinds = serializers.ListField(
        child=serializers.ChoiceField(choices=NotificationKind.values), required=False, max_length=20
    )
    address = StrictText(
        required=False, allow_blank=True, max_length=1000, help_text="A URL, or a team's e-mail address."
    )
    secret = StrictText(
        required=False,
        allow_blank=True,
        max_length=500,
        help_text=f"The secret that signs messages to webhooks (at least {MIN_SECRET} characters), Feishu "
        "and DingTalk; never returned.",
    )
    digest = serializers.ChoiceField(choices=Digest.values, required=False)
    muted_until = serializers.DateTimeField(required=False, allow_null=True)


class NotificationSubscriptionRequest(NotificationSubscriptionChange):
    channel = serializers.ChoiceField(choices=DeliveryChannel.values)
    kinds = serializers.ListField(
        child=serializers.ChoiceField(choices=NotificationKind.values), min_length=1, max_length=20
    )
    team = StrictText(
        required=False,
        max_length=64,
        help_text="The team to subscribe; omit this field to subscribe yourself.",
    )
    skill = StrictText(
        required=False,
        max_length=140,
        help_text="The skill, as `team/slug`; omit this field for every skill.",
    )


class NotificationSubscriptionDoc(Doc):
    id = serializers.CharField(source="uid")
    team = serializers.CharField(source="team.slug", default=None, allow_null=True)
    user = serializers.CharField(source="user.username", default=None, allow_null=True)
    channel = serializers.ChoiceField(choices=DeliveryChannel.values)
    kinds = serializers.ListField(child=serializers.ChoiceField(choices=NotificationKind.values))
    skill = serializers.SerializerMethodField()
    address = serializers.SerializerMethodField(help_text="The address without its secret parts.")
    digest = serializers.ChoiceField(choices=Digest.values)
    muted_until = serializers.DateTimeField(allow_null=True)
    failures = serializers.IntegerField(help_text="Number of failed attempts since the last success.")
    created_at = serializers.DateTimeField()
    url = AddressField("/api/v1/subscriptions/{0.uid}")

    def get_skill(self, row: NotificationSubscription) -> str | None:
        return str(row.skill) if row.skill else None

    def get_address(self, row: NotificationSubscription) -> str:
        return subscriptions.shown_address(row)


class NotificationSubscriptions(Endpoint):
    required_actions = {"GET": _READS, "POST": (Action.SEE,)}
    requires_sign_in = True

    @operation(
        "list_notification_subscriptions",
        "List subscriptions to notifications",
        query=SubscriptionsQuery,
        answer=page_schema(NotificationSubscriptionDoc),
    )
    def get(self, request: Request) -> HttpResponse:
        """Lists your subscriptions and those of teams that you maintain, without secrets. Administrators get
        those of all teams.
        """
        query = read_query(SubscriptionsQuery, request)
        rows = subscriptions.subscriptions(self.actor)
        if "team" in query:
            rows = rows.filter(team__slug=query["team"])
        page = pagination.read_page("subscriptions", query, kinds=(str,))
        found, cursor = pagination.newest_first(rows, page)
        documents = [*map(NotificationSubscriptionDoc.document, found)]
        return etag.document_response(request, page_document(documents, cursor))

    @operation(
        "create_notification_subscription",
        "Subscribe to notifications",
        body=NotificationSubscriptionRequest,
        answer={201: NotificationSubscriptionDoc},
    )
    @idempotent(NotificationSubscriptionRequest)
    def post(self, request: Request) -> HttpResponse:
        """Subscribes you, or a team that you maintain; administrators can subscribe any team. Requires a
        session.
        """
        body = read_body(NotificationSubscriptionRequest, request.data)
        team = skills.find_team(body["team"], self.actor) if body.get("team") else None
        skill = skills.find_skill(body["skill"], self.actor) if body.get("skill") else None
        options = SubscriptionOptions(body["channel"], body["kinds"], skill=skill, **_settings(body))
        row = subscriptions.create(options, self.actor, team)
        response = etag.document_response(request, NotificationSubscriptionDoc.document(row), status=201)
        response["Location"] = api_url("subscriptions", row.uid)
        return response


class NotificationSubscriptionDetail(Endpoint):
    required_actions = {"GET": _READS, "PATCH": (Action.SEE,), "DELETE": (Action.SEE,)}
    requires_sign_in = True

    @operation(
        "get_notification_subscription",
        "Get a subscription to notifications",
        answer=NotificationSubscriptionDoc,
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns the subscription without its secret."""
        row = subscriptions.find(uid, self.actor)
        return etag.document_response(request, NotificationSubscriptionDoc.document(row))

    @operation(
        "edit_notification_subscription",
        "Edit a subscription to notifications",
        body=NotificationSubscriptionChange,
        answer=NotificationSubscriptionDoc,
    )
    def patch(self, request: Request, uid: str) -> HttpResponse:
        """Changes the fields that you send. `muted_until` stops notifications until that time. Requires a
        session.
        """
        row = subscriptions.find(uid, self.actor)
        body = read_body(NotificationSubscriptionChange, request.data)
        present = {"digest": row.digest, "muted_until": row.muted_until, "address": None, "secret": None}
        options = SubscriptionOptions(
            row.channel, body.get("kinds", row.kinds), **{**present, **_settings(body)}
        )
        subscriptions.change(row, options, self.actor)
        return etag.document_response(request, NotificationSubscriptionDoc.document(row))

    @operation("delete_notification_subscription", "Delete a subscription to notifications")
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """Deletes the subscription with its delivery log. Requires a session."""
        subscriptions.delete(subscriptions.find(uid, self.actor), self.actor)
        return etag.set_private(HttpResponse(status=204))


class SubscriptionTest(Endpoint):
    required_actions = {"POST": (Action.SEE,)}
    requires_sign_in = True

    @operation("test_notification_subscription", "Send a test", answer={202: DeliveryDoc})
    @idempotent()
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Queues a test message to the subscription's address. Requires a session."""
        row = log.send_test(subscriptions.find(uid, self.actor), self.actor)
        return etag.document_response(request, delivery_document(row), status=202)


def _settings(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: body[name] for name in ("address", "secret", "digest", "muted_until") if name in body}
