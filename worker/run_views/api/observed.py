"""The endpoint that compares a version's declared permissions with the accesses of its runs."""

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import Doc
from registry.api.endpoint import SkillEndpoint
from registry.api.schema import Operations
from registry.identity.permissions import Action
from worker.run_views.observed import observed_permissions

operation = Operations("runs")


class ObservedAccessDoc(Doc):
    kind = serializers.ChoiceField(choices=["host", "secret", "skill"])
    name = serializers.CharField()
    declared = serializers.BooleanField(help_text="True if SKILL.md or an addition declares it.")
    used = serializers.IntegerField(help_text="Connections to a host, runs with a secret, or child runs.")
    refused = serializers.IntegerField(help_text="Refused connections.")


class ObservedPermissionsDoc(Doc):
    version = serializers.CharField()
    runs = serializers.IntegerField(help_text="Ended runs of the version that you can read.")
    accesses = ObservedAccessDoc(many=True)


class VersionObservedPermissions(SkillEndpoint):
    required_actions = {"GET": (Action.READ_RUNS, Action.RUN)}
    requires_sign_in = True

    @operation(
        "get_observed_permissions",
        "Compare a version's declared permissions with its runs",
        answer=ObservedPermissionsDoc,
    )
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Lists the hosts, secrets and skills that the version declares and those that its runs used. Hosts
        are counted in all runs that you can read; secrets and skills in the newest 500 of these runs.
        """
        found = observed_permissions(self.version(team, slug, number), self.actor)
        accesses = [
            {
                "kind": row.kind,
                "name": row.name,
                "declared": row.is_declared,
                "used": row.used,
                "refused": row.refused,
            }
            for row in found.rows
        ]
        document = {"version": found.version, "runs": found.runs, "accesses": accesses}
        return etag.document_response(request, document)
