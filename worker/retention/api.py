from django.http import HttpResponse
from rest_framework.request import Request

from registry.api import etag
from registry.api.endpoint import Endpoint
from registry.api.schema import Operations, read_body
from registry.identity.permissions import Action
from registry.lookup import skills
from registry.models import Team
from worker.retention import documents
from worker.retention.policies import require_reader, set_policy
from worker.retention.preview import preview

operation = Operations("retention")


class _Policy(Endpoint):
    requires_sign_in = True

    def read(self, request: Request, team: Team | None) -> HttpResponse:
        require_reader(team, self.actor)
        return etag.document_response(request, documents.retention_document(team))

    def change(self, request: Request, team: Team | None) -> HttpResponse:
        set_policy(team, read_body(documents.RetentionPolicyRequest, request.data), self.actor)
        return etag.document_response(request, documents.retention_document(team))


class _Preview(Endpoint):
    requires_sign_in = True

    def show(self, request: Request, team: Team | None) -> HttpResponse:
        changes = read_body(documents.RetentionPolicyRequest, request.data)
        document = documents.preview_document(preview(team, changes, self.actor))
        return etag.document_response(request, document)


class SiteRetention(_Policy):
    required_actions = {"GET": (Action.LIMITS,), "PATCH": (Action.LIMITS,)}

    @operation("get_retention", "Get the site's retention policy", answer=documents.RetentionDoc)
    def get(self, request: Request) -> HttpResponse:
        """Returns the site's policy and the amounts that the last pass removed. Requires administrator rights
        and a session.
        """
        return self.read(request, None)

    @operation(
        "update_retention",
        "Update the site's retention policy",
        body=documents.RetentionPolicyRequest,
        answer=documents.RetentionDoc,
    )
    def patch(self, request: Request) -> HttpResponse:
        """Changes only the values that you send. Old runs are removed within minutes, so use the preview
        first. Requires administrator rights and a session.
        """
        return self.change(request, None)


class SiteRetentionPreview(_Preview):
    required_actions = {"POST": (Action.LIMITS,)}

    @operation(
        "preview_retention",
        "Preview the site's retention",
        body=documents.RetentionPolicyRequest,
        answer=documents.RetentionPreviewDoc,
    )
    def post(self, request: Request) -> HttpResponse:
        """Counts the runs, artifacts and logs that would be removed now with these changes to the site's
        policy. Changes nothing. With an empty body, uses the current policy. Requires administrator rights
        and a session.
        """
        return self.show(request, None)


class TeamRetention(_Policy):
    required_actions = {"GET": (Action.SEE,), "PATCH": (Action.SETTINGS,)}

    @operation("get_team_retention", "Get a team's retention policy", answer=documents.RetentionDoc)
    def get(self, request: Request, team: str) -> HttpResponse:
        """Returns the team's own policy and the effective one. Requires team membership or administrator
        rights.
        """
        return self.read(request, skills.find_team(team, self.actor))

    @operation(
        "update_team_retention",
        "Update a team's retention policy",
        body=documents.RetentionPolicyRequest,
        answer=documents.RetentionDoc,
    )
    def patch(self, request: Request, team: str) -> HttpResponse:
        """Changes only the values that you send; null means the site's value. A team can remove runs earlier
        than the site, but not keep them longer. Requires at least the maintainer role, or administrator
        rights.
        """
        return self.change(request, skills.find_team(team, self.actor))


class TeamRetentionPreview(_Preview):
    required_actions = {"POST": (Action.SETTINGS,)}

    @operation(
        "preview_team_retention",
        "Preview a team's retention",
        body=documents.RetentionPolicyRequest,
        answer=documents.RetentionPreviewDoc,
    )
    def post(self, request: Request, team: str) -> HttpResponse:
        """Counts the team's runs, artifacts and logs that would be removed now with these changes to its
        policy. Changes nothing. Requires at least the maintainer role, or administrator rights.
        """
        return self.show(request, skills.find_team(team, self.actor))
