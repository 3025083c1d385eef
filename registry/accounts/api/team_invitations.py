from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.accounts import invitations
from registry.accounts.api.users import InvitationDoc, NewInvitationDoc, send_invitation
from registry.api import etag, pagination
from registry.api.documents.skills import page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.schema import Operations, PageQuery, Shape, read_body, read_query
from registry.identity.permissions import Action
from registry.lookup.skills import find_team
from registry.models import Role

operation = Operations("teams")
_MEMBERS = (Action.MEMBERS,)


class TeamInvitationRequest(Shape):
    role = serializers.ChoiceField(choices=Role.values, required=False, default=Role.MEMBER.value)
    days = serializers.IntegerField(
        required=False,
        default=invitations.DEFAULT_DAYS,
        help_text="Days until the invitation expires; at most 90.",
    )


class TeamInvitations(Endpoint):
    required_actions = {"GET": _MEMBERS, "POST": _MEMBERS}
    requires_sign_in = True

    @operation(
        "list_team_invitations",
        "List open invitations to a team",
        query=PageQuery,
        answer=page_schema(InvitationDoc),
    )
    def get(self, request: Request, team: str) -> HttpResponse:
        """Lists invitations that can still be accepted, newest first. Requires the owner role or
        administrator rights.
        """
        page = pagination.read_page("team-invitations", read_query(PageQuery, request), kinds=(str,))
        rows = invitations.open_invitations(self.actor, team=find_team(team, self.actor))
        found, cursor = pagination.newest_first(rows, page)
        return etag.document_response(request, page_document([*map(InvitationDoc.document, found)], cursor))

    @operation(
        "invite_to_team",
        "Invite a person to a team",
        body=TeamInvitationRequest,
        answer={201: NewInvitationDoc},
    )
    def post(self, request: Request, team: str) -> HttpResponse:
        """Creates a link with which one person can join the team. The link stops working when you may no
        longer invite. Requires the owner role or administrator rights.
        """
        found = find_team(team, self.actor)
        body: dict[str, Any] = read_body(TeamInvitationRequest, request.data)
        new = invitations.invite(self.actor, team=found, **body)
        return etag.document_response(request, send_invitation(new), status=201)


class TeamInvitationDetail(Endpoint):
    required_actions = {"DELETE": _MEMBERS}
    requires_sign_in = True

    @operation("revoke_team_invitation", "Revoke an invitation to a team")
    def delete(self, request: Request, team: str, uid: str) -> HttpResponse:
        """Revokes the invitation; its link stops working at once. Requires the owner role or administrator
        rights.
        """
        invitations.revoke(uid, self.actor, team=find_team(team, self.actor))
        return HttpResponse(status=204)
