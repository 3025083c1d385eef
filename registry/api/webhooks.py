"""Webhook endpoints: made, given a new secret, deleted; and the address that takes their deliveries."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpResponse, JsonResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from registry import catalog
from registry.addresses import absolute
from registry.api import bodies, cursors, etags, examples
from registry.api.documents import Doc, api_address, page_document, page_shape
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.shapes import PageQuery, Shape, StrictText, read_body, read_query
from registry.events import webhooks
from registry.models import WebhookEndpoint
from registry.moments import moment
from registry.packages.problems import refuse
from registry.permissions import Action

_UID = "01kajq3s5d8m6v9x2c4b7n1p40"
_AT = "2026-11-20T09:30:00.000000Z"
_EXAMPLE = {
    "id": _UID,
    "team": "docs",
    "name": "Issue tracker",
    "prefix": "tracker.",
    "address": f"https://skills.example/hooks/{_UID}",
    "created_by": "alice",
    "created_at": _AT,
    "rotated_at": None,
    "previous_until": None,
    "url": f"https://skills.example/api/v1/webhooks/{_UID}",
}
_MADE = {**_EXAMPLE, "secret": "whsec_…"}


class WebhookRequest(Shape):
    team = StrictText(max_length=64)
    name = StrictText(max_length=120, help_text="What posts to it.")
    prefix = StrictText(
        required=False,
        allow_blank=True,
        default="",
        max_length=100,
        help_text="Put before the type that a delivery names, such as `tracker.`.",
    )


class Rotation(Shape):
    overlap_hours = serializers.IntegerField(
        default=webhooks.OVERLAP_H,
        min_value=0,
        max_value=webhooks.LONGEST_OVERLAP_H,
        help_text="How long the secret before signs, too; 0 where others may know it.",
    )


class WebhookDoc(Doc):
    id = serializers.CharField()
    team = serializers.CharField()
    name = serializers.CharField()
    prefix = serializers.CharField()
    address = serializers.URLField(help_text="Where deliveries are posted.")
    created_by = serializers.CharField(allow_null=True, help_text="In whose name its events start runs.")
    created_at = serializers.DateTimeField()
    rotated_at = serializers.DateTimeField(allow_null=True)
    previous_until = serializers.DateTimeField(allow_null=True, help_text="Until when the old secret signs.")
    url = serializers.URLField()


class WebhookMadeDoc(WebhookDoc):
    secret = serializers.CharField(
        allow_null=True, help_text="Told this once; null where the request is answered again."
    )


class Webhooks(Endpoint):
    needs = {"GET": (Action.SEE,), "POST": (Action.SEE,)}  # no token reaches further: the person makes it
    signed_in = True

    @extend_schema(
        operation_id="list_webhooks",
        summary="List your teams' webhook endpoints",
        tags=["events"],
        parameters=[PageQuery],
        responses=page_shape(WebhookDoc),
        examples=[examples.answers(examples.page(_EXAMPLE))],
    )
    def get(self, request: Request) -> HttpResponse:
        """The latest first; secrets are told to nobody again."""
        page = cursors.page_of("webhooks", read_query(PageQuery, request), kinds=(str,))
        found, cursor = cursors.newest_first(webhooks.endpoints(self.actor), page)
        return etags.document_response(request, page_document([*map(endpoint_document, found)], cursor))

    @extend_schema(
        operation_id="create_webhook",
        summary="Make a webhook endpoint",
        tags=["events"],
        request=WebhookRequest,
        responses={201: WebhookMadeDoc},
        examples=[
            examples.asks({"team": "docs", "name": "Issue tracker", "prefix": "tracker."}),
            examples.answers(_MADE, "201"),
        ],
    )
    def post(self, request: Request) -> HttpResponse:
        """For maintainers of the team, in a session. Its events act in your name, for that team alone."""
        asked = read_body(WebhookRequest, request.data)

        def act() -> tuple[WebhookEndpoint, str]:
            team = catalog.find_team(asked["team"], self.actor)
            return webhooks.create(team, name=asked["name"], prefix=asked["prefix"], actor=self.actor)

        return _told_once(request, asked, act, status=201)


class WebhookDetail(Endpoint):
    needs = {"GET": (Action.SEE,), "DELETE": (Action.SEE,)}
    signed_in = True

    @extend_schema(
        operation_id="get_webhook",
        summary="Read about a webhook endpoint",
        tags=["events"],
        responses=WebhookDoc,
        examples=[examples.answers(_EXAMPLE)],
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Its address, who made it and until when an old secret signs."""
        return etags.document_response(request, endpoint_document(webhooks.find(uid, self.actor)))

    @extend_schema(
        operation_id="delete_webhook",
        summary="Delete a webhook endpoint",
        tags=["events"],
        responses={204: None},
    )
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """For maintainers of the team, in a session; the events that came stay."""
        webhooks.remove(webhooks.find(uid, self.actor), self.actor)
        return etags.private(HttpResponse(status=204))


class WebhookRotation(Endpoint):
    needs = {"POST": (Action.SEE,)}
    signed_in = True

    @extend_schema(
        operation_id="rotate_webhook",
        summary="Give a webhook endpoint a new secret",
        tags=["events"],
        request=Rotation,
        responses=WebhookMadeDoc,
        examples=[examples.asks({"overlap_hours": 24}), examples.answers(_MADE)],
    )
    def post(self, request: Request, uid: str) -> HttpResponse:
        """For maintainers of the team, in a session. The old secret signs for a day, unless you say."""
        endpoint = webhooks.find(uid, self.actor)
        asked = read_body(Rotation, request.data)

        def act() -> tuple[WebhookEndpoint, str]:
            return endpoint, webhooks.rotate(endpoint, self.actor, overlap_h=asked["overlap_hours"])

        return _told_once(request, asked, act)


class Hook(APIView):
    """What another system posts to; its signature is the only credential that is looked at."""

    http_method_names = ["post"]
    authentication_classes = []
    parser_classes = [bodies.AnyBytes]
    content_negotiation_class = Endpoint.content_negotiation_class

    @extend_schema(exclude=True)
    def post(self, request: Request, uid: str) -> HttpResponse:
        endpoint = webhooks.endpoint_at(uid)
        kind = (request.content_type or "").split(";")[0].strip().lower()
        if kind != "application/json":
            raise refuse("MEDIA_TYPE_UNSUPPORTED", type=kind[:100], accepted="application/json")
        bodies.require_length(request._request)
        envelope = webhooks.open_envelope(request.headers)
        body = b"".join(bodies.pieces(request, limit=settings.SKILLQUAY_EVENT_BYTES))
        webhooks.check_signature(endpoint, envelope, body)
        received = webhooks.deliver(endpoint, envelope, bodies.strict_json(body))
        return JsonResponse({"id": received.event.uid}, status=202)


def _told_once(
    request: Request, asked: Any, make: Callable[[], tuple[WebhookEndpoint, str]], *, status: int = 200
) -> HttpResponse:
    """The answer with the secret; what is kept for an Idempotency-Key is without it."""
    secrets: list[str] = []

    def act() -> HttpResponse:
        endpoint, secret = make()
        secrets.append(secret)
        document = {**endpoint_document(endpoint), "secret": None}
        response = etags.document_response(request, document, status=status)
        response["Location"] = api_address("webhooks", endpoint.uid)
        return response

    response = once(request, asked, act)
    if secrets:
        told = {**json.loads(response.content), "secret": secrets[0]}
        response.content = json.dumps(told, ensure_ascii=False).encode()
        del response["ETag"]
        response["Cache-Control"] = "private, no-store"
    return response


def endpoint_document(endpoint: WebhookEndpoint) -> dict[str, Any]:
    return {
        "id": endpoint.uid,
        "team": endpoint.team.slug,
        "name": endpoint.name,
        "prefix": endpoint.prefix,
        "address": absolute(f"/hooks/{endpoint.uid}"),
        "created_by": endpoint.created_by.username if endpoint.created_by else None,
        "created_at": moment(endpoint.created_at),
        "rotated_at": moment(endpoint.rotated_at),
        "previous_until": moment(endpoint.previous_until),
        "url": api_address("webhooks", endpoint.uid),
    }
