"""Endpoint that lists the names, reported by agents, that belong to no skill."""

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import Doc
from registry.api.endpoint import Endpoint
from registry.api.schema import Operations
from registry.core.time import rfc3339
from registry.identity.permissions import Action
from registry.identity.teams import require_member
from registry.lookup import skills
from registry.usage.activations import list_unknown

operation = Operations("usage")


class UnknownActivationDoc(Doc):
    name = serializers.CharField(help_text="Empty for activations without a name.")
    count = serializers.IntegerField()
    last_at = serializers.DateTimeField()


class UnknownActivationsDoc(Doc):
    items = UnknownActivationDoc(many=True)


class UnknownActivations(Endpoint):
    required_actions = {"GET": (Action.SEE,)}
    requires_sign_in = True

    @operation("list_unknown_activations", "List activations of unknown skills", answer=UnknownActivationsDoc)
    def get(self, request: Request, team: str) -> HttpResponse:
        """Lists names that agents of the team reported with OpenTelemetry and that are no skills visible to
        them, most frequent first. Requires membership in the team or administrator rights.
        """
        found = skills.find_team(team, self.actor)
        require_member(found, self.actor)
        rows = [
            {"name": row.name, "count": row.count, "last_at": rfc3339(row.last_at)}
            for row in list_unknown(found)
        ]
        return etag.document_response(request, {"items": rows})
