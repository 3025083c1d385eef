"""What a team may use and has used, for its members; administrators set it."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog
from registry.api import etags, examples
from registry.api.documents import Doc
from registry.api.endpoint import Endpoint
from registry.api.shapes import Shape, read_body
from registry.permissions import Action
from worker import team_limits

_USES: dict[str, Any] = {
    "team": "docs",
    "limits": [
        {"name": "runs_a_day", "used": 82, "limit": 100, "own": True, "near": True, "spent": False},
        {"name": "kept_bytes", "used": 1048576, "limit": None, "own": False, "near": False, "spent": False},
    ],
}


class TeamUseDoc(Doc):
    name = serializers.ChoiceField(choices=team_limits.NAMES)
    used = serializers.IntegerField(help_text="Now, or today (UTC).")
    limit = serializers.IntegerField(allow_null=True, help_text="null: none.")
    own = serializers.BooleanField(help_text="Set for this team; else the site's.")
    near = serializers.BooleanField(help_text="Four fifths are used.")
    spent = serializers.BooleanField()


class TeamUsesDoc(Doc):
    team = serializers.CharField()
    limits = TeamUseDoc(many=True)


class TeamLimitsChange(Shape):
    concurrent_runs = serializers.IntegerField(required=False, allow_null=True, min_value=0)
    runs_a_day = serializers.IntegerField(required=False, allow_null=True, min_value=0)
    cpu_seconds_a_day = serializers.IntegerField(required=False, allow_null=True, min_value=0)
    kept_bytes = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, help_text="Of files that its runs left. 0: no limit."
    )


class TeamUses(Endpoint):
    needs = {"GET": (Action.SEE,), "PATCH": (Action.SEE,)}
    signed_in = True

    @extend_schema(
        operation_id="get_team_limits",
        summary="Read what a team may use and has used",
        tags=["teams"],
        responses=TeamUsesDoc,
        examples=[examples.answers(_USES)],
    )
    def get(self, request: Request, team: str) -> HttpResponse:
        """For its members."""
        document = team_limits.uses_document(catalog.find_team(team, self.actor), self.actor)
        return etags.document_response(request, document)

    @extend_schema(
        operation_id="set_team_limits",
        summary="Set what a team may use",
        tags=["teams"],
        request=TeamLimitsChange,
        responses=TeamUsesDoc,
        examples=[examples.asks({"runs_a_day": 100}), examples.answers(_USES)],
    )
    def patch(self, request: Request, team: str) -> HttpResponse:
        """For administrators, in a session. null is back to the site's setting, 0 no limit."""
        found = catalog.find_team(team, self.actor)
        team_limits.set_limits(found, read_body(TeamLimitsChange, request.data), self.actor)
        return etags.document_response(request, team_limits.uses_document(found, self.actor))
