from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import Doc
from registry.api.endpoint import Endpoint
from registry.api.schema import Operations, Shape, read_body
from registry.identity.permissions import Action
from registry.lookup import skills
from worker.quotas import team_limits

operation = Operations("teams")


class TeamLimitDoc(Doc):
    name = serializers.ChoiceField(choices=team_limits.NAMES)
    used = serializers.IntegerField(
        help_text="Current usage; for limits per day, the usage since midnight UTC."
    )
    limit = serializers.IntegerField(allow_null=True, help_text="Null if there is no limit.")
    overridden = serializers.BooleanField(
        help_text="True if set for this team, false if it is the site's default."
    )
    near_limit = serializers.BooleanField(help_text="True if at least 80 % of the limit is used.")
    exhausted = serializers.BooleanField()


class TeamLimitsDoc(Doc):
    team = serializers.CharField()
    limits = TeamLimitDoc(many=True)


class TeamLimitsRequest(Shape):
    concurrent_runs = serializers.IntegerField(required=False, allow_null=True, min_value=0)
    runs_per_day = serializers.IntegerField(required=False, allow_null=True, min_value=0)
    cpu_seconds_per_day = serializers.IntegerField(required=False, allow_null=True, min_value=0)
    stored_bytes = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        help_text="Maximum total size of the artifacts of the team's runs, in bytes; 0 for no limit.",
    )


class TeamUses(Endpoint):
    required_actions = {"GET": (Action.SEE,), "PATCH": (Action.SEE,)}
    requires_sign_in = True

    @operation("get_team_limits", "Get a team's limits and usage", answer=TeamLimitsDoc)
    def get(self, request: Request, team: str) -> HttpResponse:
        """Returns each limit with the current usage. Requires team membership or administrator rights."""
        document = team_limits.usage_document(skills.find_team(team, self.actor), self.actor)
        return etag.document_response(request, document)

    @operation("update_team_limits", "Update a team's limits", body=TeamLimitsRequest, answer=TeamLimitsDoc)
    def patch(self, request: Request, team: str) -> HttpResponse:
        """Changes only the limits that you send: null means the site's default, 0 means no limit. Requires
        administrator rights and a session.
        """
        found = skills.find_team(team, self.actor)
        team_limits.set_limits(found, read_body(TeamLimitsRequest, request.data), self.actor)
        return etag.document_response(request, team_limits.usage_document(found, self.actor))
