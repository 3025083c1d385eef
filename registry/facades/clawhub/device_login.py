"""Endpoints by which clients get a token after a person confirmed their code (RFC 8628). They are at the
root of the site, because clients ignore the path of the registry.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, JsonResponse
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.schema import Shape
from registry.core.addresses import absolute_url
from registry.device_logins import logins
from registry.facades.endpoint import JsonFacadeEndpoint, error_text, read_known
from registry.rates.limits import RateLimit

_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


class DeviceCodeRequest(Shape):
    label = serializers.CharField(  # type: ignore[assignment]  # a field, not the label of one
        max_length=500, allow_blank=True, default=""
    )


class DeviceTokenRequest(Shape):
    device_code = serializers.CharField(max_length=200)
    grant_type = serializers.ChoiceField(choices=[_GRANT])


class _DeviceEndpoint(JsonFacadeEndpoint):
    """An endpoint whose errors have the fields of OAuth 2.0."""

    is_safe_post = True  # only the person's confirmation creates a token

    def error_document(self, error: dict[str, Any], status: int) -> dict[str, Any]:
        kind = "slow_down" if status == 429 else "invalid_request"
        return {"error": kind, "error_description": error_text(error), "code": error["code"]}


@extend_schema(exclude=True)
class DeviceCode(_DeviceEndpoint):
    """Starts a login. The client shows the user code to the person, and polls for the token with the device
    code.
    """

    rate_limits = {"POST": RateLimit.SIGN_IN}

    def post(self, request: Request) -> HttpResponse:
        started = logins.start(read_known(DeviceCodeRequest, request.data)["label"])
        document = {
            "device_code": started.secret,
            "user_code": logins.shown_code(started.code),
            "verification_uri": absolute_url(reverse("device-login")),
            "expires_in": int(logins.LIFETIME.total_seconds()),
            "interval": logins.INTERVAL_S,
        }
        return etag.set_private(JsonResponse(document))


@extend_schema(exclude=True)
class DeviceToken(_DeviceEndpoint):
    """The token of a confirmed login, once; otherwise the reason why there is none."""

    def post(self, request: Request) -> HttpResponse:
        result = logins.poll(read_known(DeviceTokenRequest, request.data)["device_code"])
        if isinstance(result, logins.PollResult):
            return etag.set_private(JsonResponse({"error": result.value}, status=400))
        scope = " ".join(result.scopes)
        document = {"access_token": result.secret, "token_type": "bearer", "scope": scope}
        return etag.set_private(JsonResponse(document))
