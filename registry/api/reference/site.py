"""Endpoints of the caller's account and of the error codes."""

from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import Doc
from registry.api.endpoint import Endpoint
from registry.api.schema import Operations
from registry.core.errors import NOT_FOUND
from registry.core.time import rfc3339
from registry.identity.actors import Actor
from registry.identity.errors import SIGN_IN_REQUIRED
from registry.models import Team
from registry.packages.problems import CODES, Code, code_named, with_names

operation = Operations("site")


class MembershipDoc(Doc):
    team = serializers.CharField()
    name = serializers.CharField()
    role = serializers.ChoiceField(choices=["viewer", "member", "maintainer", "owner"])


class TokenDoc(Doc):
    name = serializers.CharField()
    scopes = serializers.ListField(child=serializers.CharField())
    team = serializers.CharField(
        allow_null=True, help_text="The only team that the token can act for; null for all of your teams."
    )
    expires_at = serializers.DateTimeField()


class MeDoc(Doc):
    id = serializers.CharField()
    username = serializers.CharField()
    is_administrator = serializers.BooleanField()
    teams = MembershipDoc(many=True)
    token = TokenDoc(allow_null=True)


class Me(Endpoint):
    requires_sign_in = True

    @operation("get_me", "Get your account, teams and token scopes", answer=MeDoc)
    def get(self, request: Request) -> HttpResponse:
        """Returns your account, your teams and the properties of the token in use. Every token can call this
        endpoint, whatever its scopes.
        """
        return etag.document_response(request, _me(self.actor))


def _me(actor: Actor) -> dict[str, Any]:
    if actor.user is None:
        raise SIGN_IN_REQUIRED.refusal()
    token = actor.token
    teams = Team.objects.filter(pk__in=actor.team_ids).order_by("slug")
    return {
        "id": actor.user.uid,
        "username": actor.user.username,
        "is_administrator": actor.is_administrator,
        "teams": [
            {"team": team.slug, "name": team.name, "role": actor.roles[team.pk].value} for team in teams
        ],
        "token": token
        and {
            "name": token.name,
            "scopes": sorted(actor.scopes),
            "team": token.team.slug if token.team else None,
            "expires_at": rfc3339(token.expires_at),
        },
    }


class ErrorCodeDoc(Doc):
    code = serializers.CharField()
    message = serializers.CharField(help_text="The message; can contain placeholders of the form `%(name)s`.")
    remedy = serializers.CharField()
    severity = serializers.ChoiceField(choices=["error", "warning", "notice"])
    http_status = serializers.IntegerField(help_text="The HTTP status of responses with this code.")
    retryable = serializers.BooleanField()


class ErrorCodesDoc(Doc):
    items = ErrorCodeDoc(many=True)


class Codes(Endpoint):
    @operation("list_error_codes", "List all error codes", answer=ErrorCodesDoc)
    def get(self, request: Request) -> HttpResponse:
        """Lists all error codes with their texts in the language of Accept-Language. A code never changes."""
        items = [_code(CODES[name]) for name in sorted(CODES)]
        return etag.document_response(request, {"items": items})


class CodeDetail(Endpoint):
    @operation("get_error_code", "Get an error code", answer=ErrorCodeDoc)
    def get(self, request: Request, code: str) -> HttpResponse:
        """Returns the texts and properties of one code."""
        if code not in CODES:
            raise NOT_FOUND.refusal(what="code", name=code[:80])
        return etag.document_response(request, _code(code_named(code)))


def _code(code: Code[...]) -> dict[str, Any]:
    return {
        "code": code.name,
        "message": with_names(gettext(code.message)),
        "remedy": with_names(gettext(code.remedy)),
        "severity": code.severity,
        "http_status": code.http,
        "retryable": code.retryable,
    }
