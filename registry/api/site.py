"""Who you are to this site, and what its codes mean."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.actors import Actor
from registry.api import etags, examples
from registry.api.documents import Doc
from registry.api.endpoint import Endpoint
from registry.models import Team
from registry.moments import moment
from registry.packages.problems import CODES, Code, filled, refuse


class MembershipDoc(Doc):
    team = serializers.CharField()
    name = serializers.CharField()
    role = serializers.ChoiceField(choices=["viewer", "member", "maintainer", "owner"])


class TokenDoc(Doc):
    name = serializers.CharField()
    scopes = serializers.ListField(child=serializers.CharField())
    team = serializers.CharField(allow_null=True, help_text="The only team it is for.")
    expires_at = serializers.DateTimeField()


class MeDoc(Doc):
    id = serializers.CharField()
    username = serializers.CharField()
    is_administrator = serializers.BooleanField()
    teams = MembershipDoc(many=True)
    token = TokenDoc(allow_null=True)


class Me(Endpoint):
    signed_in = True

    @extend_schema(
        operation_id="get_me",
        summary="Who you are, your teams, your token's scopes",
        tags=["site"],
        responses=MeDoc,
        examples=[examples.answers(examples.ME)],
    )
    def get(self, request: Request) -> HttpResponse:
        """Any token may ask this, whatever it was made for."""
        return etags.document_response(request, _me(self.actor))


def _me(actor: Actor) -> dict[str, Any]:
    assert actor.user
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
            "expires_at": moment(token.expires_at),
        },
    }


class CodeDoc(Doc):
    code = serializers.CharField()
    message = serializers.CharField(help_text="With `%(name)s` where a refusal fills in what it speaks of.")
    remedy = serializers.CharField()
    severity = serializers.ChoiceField(choices=["error", "warning", "notice"])
    status = serializers.IntegerField(help_text="The HTTP status where it refuses a request.")
    retryable = serializers.BooleanField()


class CodesDoc(Doc):
    items = CodeDoc(many=True)


class Codes(Endpoint):
    @extend_schema(
        operation_id="list_codes",
        summary="Every code of every refusal",
        tags=["site"],
        responses=CodesDoc,
        examples=[examples.answers({"items": [examples.CODE]})],
    )
    def get(self, request: Request) -> HttpResponse:
        """Codes are stable; their texts are in the language of Accept-Language."""
        items = [_code(CODES[name]) for name in sorted(CODES)]
        return etags.document_response(request, {"items": items})


class CodeDetail(Endpoint):
    @extend_schema(
        operation_id="get_code",
        summary="What one code means",
        tags=["site"],
        responses=CodeDoc,
        examples=[examples.answers(examples.CODE)],
    )
    def get(self, request: Request, code: str) -> HttpResponse:
        """Where the `docs_url` of every error leads."""
        if code not in CODES:
            raise refuse("NOT_FOUND", what="code", name=code[:80])
        return etags.document_response(request, _code(CODES[code]))


def _code(code: Code) -> dict[str, Any]:
    return {
        "code": code.name,
        "message": filled(gettext(code.message), {}),
        "remedy": filled(gettext(code.remedy), {}),
        "severity": code.severity,
        "status": code.http,
        "retryable": code.retryable,
    }
