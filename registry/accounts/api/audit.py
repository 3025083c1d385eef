from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag, pagination
from registry.api.documents.skills import Doc, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.schema import Operations, PageQuery, read_query
from registry.identity import audit
from registry.identity.permissions import Action
from registry.lookup.skills import find_team
from registry.models import Capacity, Team

operation = Operations("audit")


class AuditQuery(PageQuery):
    person = serializers.CharField(
        required=False,
        max_length=150,
        help_text="Only actions of this user, also as the user named with `--as`.",
    )
    group = serializers.ChoiceField(
        choices=list(audit.GROUPS), required=False, help_text="Only actions of this kind."
    )
    target = serializers.CharField(
        required=False,
        max_length=200,
        help_text="Only actions whose `target` contains this text, such as `acme/report`.",
    )
    since = serializers.DateField(required=False, help_text="The first day, in UTC.")
    until = serializers.DateField(required=False, help_text="The last day, in UTC.")


class AuditEntryDoc(Doc):
    id = serializers.CharField(source="uid")
    at = serializers.DateTimeField()
    user = serializers.CharField(
        source="user.username",
        allow_null=True,
        default=None,
        help_text="The user who acted; null for actions of the site.",
    )
    as_user = serializers.CharField(
        source="as_user.username",
        allow_null=True,
        default=None,
        help_text="The user named with `--as`; the command ran with this user's rights.",
    )
    capacity = serializers.ChoiceField(
        choices=["", *Capacity.values],
        help_text="The rights with which the user acted, if the user was not a member of the team.",
    )
    token = serializers.CharField(
        source="token_name",
        help_text="The name of the access token, `shell` for a command, empty for a browser session.",
    )
    address = serializers.CharField(
        source="shown_address",
        help_text="The client's IP address; empty for commands and background work, and if you may not see "
        "it. Maintainers see the addresses of current members of the team.",
    )
    team = serializers.CharField(source="team.slug", allow_null=True, default=None)
    action = serializers.CharField(help_text="The action, such as `version.yank`.")
    target = serializers.CharField(help_text="The object of the action, such as `acme/report@1.2.0`.")
    detail = serializers.DictField(help_text="Further details, which depend on the action.")
    sequence = serializers.IntegerField(
        allow_null=True,
        help_text="The position in the hash chain; null until the entry is added to the chain.",
    )
    hash = serializers.CharField(
        source="entry_hash", help_text="The hash of the entry; empty until the entry is added to the chain."
    )


_PAGE = page_schema(AuditEntryDoc)


class AuditEndpoint(Endpoint):
    requires_sign_in = True

    def respond(self, request: Request, team: Team | None = None) -> HttpResponse:
        query: dict[str, Any] = read_query(AuditQuery, request)
        page = pagination.read_page(f"audit:{team}", query, kinds=(int, str))
        chosen = {name: value for name, value in query.items() if name not in ("cursor", "limit")}
        rows = audit.entries(self.actor, audit.AuditFilter(**chosen), team=team)
        found, cursor = pagination.highest_first(rows, page, "pk")  # in one millisecond, uids have no order
        return etag.document_response(request, page_document([*map(AuditEntryDoc.document, found)], cursor))


class SiteAudit(AuditEndpoint):
    required_actions = {"GET": (Action.USERS,)}

    @operation("list_audit", "List the site's audit log", query=AuditQuery, answer=_PAGE)
    def get(self, request: Request) -> HttpResponse:
        """Lists recorded actions, newest first. Requires administrator rights."""
        return self.respond(request)


class TeamAudit(AuditEndpoint):
    required_actions = {"GET": (Action.SETTINGS,)}

    @operation("list_team_audit", "List a team's audit log", query=AuditQuery, answer=_PAGE)
    def get(self, request: Request, team: str) -> HttpResponse:
        """Lists recorded actions in the team, newest first. Requires the maintainer role or administrator
        rights.
        """
        return self.respond(request, find_team(team, self.actor))
