from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.additions.additions import ADDITION_KINDS
from registry.api import etag
from registry.api.documents.additions import AdditionsDoc, additions_document
from registry.api.endpoint import SkillEndpoint
from registry.api.schema import Operations, Shape, StrictText, read_body
from registry.identity.permissions import Action
from registry.versions.needs.change_additions import set_additions

operation = Operations("versions")
_MAX_ADDITIONS = 500


class AdditionRequest(Shape):
    kind = serializers.ChoiceField(choices=ADDITION_KINDS)
    name = StrictText(max_length=200)


class AdditionsRequest(Shape):
    additions = serializers.ListField(
        child=AdditionRequest(),
        max_length=_MAX_ADDITIONS,
        help_text="All additions; an empty list removes them.",
    )


class VersionAdditions(SkillEndpoint):
    required_actions = {"GET": (Action.SEE,), "PUT": (Action.RELEASE,)}

    @operation("get_additions", "Get a version's additions", answer=AdditionsDoc)
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Returns the version's additions, and the further needs of its scripts that you can add."""
        return etag.document_response(request, additions_document(self.version(team, slug, number)))

    @operation("set_additions", "Set a version's additions", body=AdditionsRequest, answer=AdditionsDoc)
    def put(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Replaces the additions of the version; the package does not change. New permissions can require a
        new approval, and new secrets a new grant. Requires a session, and the maintainer role or
        administrator rights.
        """
        version = self.version(team, slug, number)
        body = read_body(AdditionsRequest, request.data)
        wanted = [(each["kind"], each["name"]) for each in body["additions"]]
        return etag.document_response(request, additions_document(set_additions(version, wanted, self.actor)))
