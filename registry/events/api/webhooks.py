"""Endpoints of webhooks, and the view that receives deliveries."""

import json
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpResponse, JsonResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from registry.api import bodies, etag, pagination
from registry.api.documents.skills import AddressField, Doc, api_url, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.errors import MEDIA_TYPE_UNSUPPORTED
from registry.api.idempotency import run_once
from registry.api.schema import Operations, PageQuery, Shape, StrictText, read_body, read_query
from registry.events import webhooks
from registry.identity.permissions import Action
from registry.lookup import skills
from registry.models import WebhookEndpoint

operation = Operations("events")


class WebhookRequest(Shape):
    team = StrictText(max_length=64)
    name = StrictText(max_length=120, help_text="A name for the sending system.")
    prefix = StrictText(
        required=False,
        allow_blank=True,
        default="",
        max_length=100,
        help_text="A prefix that is added to event types, such as `tracker.`.",
    )


class WebhookRotationRequest(Shape):
    overlap_hours = serializers.IntegerField(
        default=webhooks.DEFAULT_OVERLAP_H,
        min_value=0,
        max_value=webhooks.MAX_OVERLAP_H,
        help_text="Hours for which the previous secret stays valid. Use 0 if the secret has leaked.",
    )


class WebhookDoc(Doc):
    id = serializers.CharField(source="uid")
    team = serializers.CharField(source="team.slug")
    name = serializers.CharField()
    prefix = serializers.CharField()
    delivery_url = AddressField("/hooks/{0.uid}", help_text="The URL for deliveries.")
    created_by = serializers.CharField(
        source="created_by.username", allow_null=True, help_text="The user in whose name events start runs."
    )
    created_at = serializers.DateTimeField()
    rotated_at = serializers.DateTimeField(allow_null=True)
    previous_secret_expires_at = serializers.DateTimeField(
        source="previous_until", allow_null=True, help_text="Time at which the previous secret expires."
    )
    url = AddressField("/api/v1/webhooks/{0.uid}")


class WebhookCreatedDoc(WebhookDoc):
    secret = serializers.CharField(
        allow_null=True,
        help_text="The signing secret; shown only in this response, and null if the request is repeated.",
    )


class Webhooks(Endpoint):
    # Tokens are refused later: the operations require a session.
    required_actions = {"GET": (Action.SEE,), "POST": (Action.SEE,)}
    requires_sign_in = True

    @operation("list_webhooks", "List webhooks", query=PageQuery, answer=page_schema(WebhookDoc))
    def get(self, request: Request) -> HttpResponse:
        """Lists the webhooks of your teams (for administrators, of all teams), newest first, without their
        secrets.
        """
        page = pagination.read_page("webhooks", read_query(PageQuery, request), kinds=(str,))
        found, cursor = pagination.newest_first(webhooks.endpoints(self.actor), page)
        return etag.document_response(request, page_document([*map(WebhookDoc.document, found)], cursor))

    @operation("create_webhook", "Create a webhook", body=WebhookRequest, answer={201: WebhookCreatedDoc})
    def post(self, request: Request) -> HttpResponse:
        """Creates a webhook. Its events start runs in your name, and only for the webhook's team. Requires a
        session, and the maintainer role or administrator rights.
        """
        body = read_body(WebhookRequest, request.data)

        def act() -> tuple[WebhookEndpoint, str]:
            team = skills.find_team(body["team"], self.actor)
            return webhooks.create(team, name=body["name"], prefix=body["prefix"], actor=self.actor)

        return _answer_with_secret(request, body, act, status=201)


class WebhookDetail(Endpoint):
    required_actions = {"GET": (Action.SEE,), "DELETE": (Action.SEE,)}
    requires_sign_in = True

    @operation("get_webhook", "Get a webhook", answer=WebhookDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns the webhook with its delivery URL, its creator and the expiry time of its previous
        secret.
        """
        return etag.document_response(request, WebhookDoc.document(webhooks.find_endpoint(uid, self.actor)))

    @operation("delete_webhook", "Delete a webhook")
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """Deletes the webhook, but keeps the received events. Requires a session, and the maintainer role or
        administrator rights.
        """
        webhooks.remove(webhooks.find_endpoint(uid, self.actor), self.actor)
        return etag.set_private(HttpResponse(status=204))


class WebhookRotation(Endpoint):
    required_actions = {"POST": (Action.SEE,)}
    requires_sign_in = True

    @operation(
        "rotate_webhook",
        "Rotate the secret of a webhook",
        body=WebhookRotationRequest,
        answer=WebhookCreatedDoc,
    )
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Replaces the webhook's secret. By default, the old secret keeps working for a day. Requires a
        session, and the maintainer role or administrator rights.
        """
        endpoint = webhooks.find_endpoint(uid, self.actor)
        body = read_body(WebhookRotationRequest, request.data)

        def act() -> tuple[WebhookEndpoint, str]:
            return endpoint, webhooks.rotate(endpoint, self.actor, overlap_h=body["overlap_hours"])

        return _answer_with_secret(request, body, act)


class WebhookDelivery(APIView):
    """Receives deliveries from other systems. The signature is the only credential."""

    http_method_names = ["post"]
    authentication_classes = []
    parser_classes = [bodies.RawBody]
    content_negotiation_class = Endpoint.content_negotiation_class

    @extend_schema(exclude=True)
    def post(self, request: Request, uid: str) -> HttpResponse:
        endpoint = webhooks.delivery_endpoint(uid)
        kind = bodies.media_type(request)
        if kind != "application/json":
            raise MEDIA_TYPE_UNSUPPORTED.refusal(type=kind[:100], accepted="application/json")
        bodies.require_length(request._request)
        envelope = webhooks.read_envelope(request.headers)
        body = b"".join(bodies.body_chunks(request, limit=settings.SKILLQUAY_MAX_EVENT_BYTES))
        webhooks.check_signature(endpoint, envelope, body)
        received = webhooks.deliver(endpoint, envelope, bodies.strict_json(body))
        return JsonResponse({"id": received.event.uid}, status=202)


def _answer_with_secret(
    request: Request, body: Any, make: Callable[[], tuple[WebhookEndpoint, str]], *, status: int = 200
) -> HttpResponse:
    """The response with the secret. For a repeated Idempotency-Key, ``secret`` is null, because stored
    responses omit secrets.
    """
    secrets: list[str] = []

    def act() -> HttpResponse:
        endpoint, secret = make()
        secrets.append(secret)
        document = {**WebhookDoc.document(endpoint), "secret": None}
        response = etag.document_response(request, document, status=status)
        response["Location"] = api_url("webhooks", endpoint.uid)
        return response

    response = run_once(request, body, act)
    if secrets:
        answer = {**json.loads(response.content), "secret": secrets[0]}
        response.content = json.dumps(answer, ensure_ascii=False).encode()
        del response["ETag"]
        response["Cache-Control"] = "private, no-store"
    return response
