from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag, pagination
from registry.api.documents.skills import AddressField, Doc, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, PageQuery, Shape, StrictText, read_body, read_query
from registry.core.errors import NOT_FOUND
from registry.identity import teams
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.lookup.skills import find_team
from registry.models import Membership, Role, Team

operation = Operations("teams")


class TeamDoc(Doc):
    id = serializers.CharField(source="uid")
    slug = serializers.CharField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()
    archived_at = serializers.DateTimeField(
        allow_null=True, help_text="When the team was archived. The skills of an archived team are read-only."
    )
    url = AddressField("/api/v1/teams/{0.slug}")
    page_url = AddressField("/teams/{0.slug}/")


class TeamRequest(Shape):
    slug = StrictText(
        max_length=64, help_text="Short name of the team; the first part of the addresses of its skills."
    )
    name = StrictText(max_length=120, required=False, help_text="The display name; default: the slug.")


class TeamChangeRequest(Shape):
    name = StrictText(max_length=120, help_text="The display name.")


class MemberDoc(Doc):
    username = serializers.CharField(source="user.username")
    name = serializers.CharField(source="user.get_full_name")
    role = serializers.ChoiceField(choices=Role.values)
    active = serializers.BooleanField(source="user.is_active")
    since = serializers.DateTimeField(source="created_at")


class MemberRequest(Shape):
    username = StrictText(max_length=150)
    role = serializers.ChoiceField(choices=Role.values, required=False, default=Role.MEMBER.value)


class RoleRequest(Shape):
    role = serializers.ChoiceField(choices=Role.values)


class TransferRequest(Shape):
    username = StrictText(max_length=150, help_text="The member who becomes an owner.")
    role = serializers.ChoiceField(
        choices=Role.values,
        required=False,
        default=Role.MAINTAINER.value,
        help_text="Your own role afterwards.",
    )


class Teams(Endpoint):
    required_actions = {"GET": (Action.SEE,), "POST": (Action.MEMBERS,)}
    requires_sign_in = True

    @operation("list_teams", "List teams", query=PageQuery, answer=page_schema(TeamDoc))
    def get(self, request: Request) -> HttpResponse:
        """Lists your teams and the teams with a skill that you can see; for administrators, all teams."""
        page = pagination.read_page("teams", read_query(PageQuery, request), kinds=(int,))
        found, cursor = pagination.in_order(Team.objects.visible_to(self.actor), page)
        return etag.document_response(request, page_document([*map(TeamDoc.document, found)], cursor))

    @operation("create_team", "Create a team", body=TeamRequest, answer={201: TeamDoc})
    @idempotent(TeamRequest)
    def post(self, request: Request) -> HttpResponse:
        """Creates a team with you as its owner. Tokens that are limited to a team can't create teams."""
        body = read_body(TeamRequest, request.data)
        team = teams.create_team(body["slug"], body.get("name", ""), self.actor)
        return etag.document_response(request, TeamDoc.document(team), status=201)


class TeamDetail(Endpoint):
    required_actions = {"GET": (Action.SEE,), "PATCH": (Action.MEMBERS,)}
    requires_sign_in = True

    @operation("get_team", "Get a team", answer=TeamDoc)
    def get(self, request: Request, team: str) -> HttpResponse:
        """Returns the team with its display name and URLs."""
        return etag.document_response(request, TeamDoc.document(find_team(team, self.actor)))

    @operation("update_team", "Change a team's display name", body=TeamChangeRequest, answer=TeamDoc)
    def patch(self, request: Request, team: str) -> HttpResponse:
        """Changes the team's display name. Requires the owner role or administrator rights."""
        found = find_team(team, self.actor)
        change = read_body(TeamChangeRequest, request.data)
        changed = teams.rename_team(found, change["name"], self.actor)
        return etag.document_response(request, TeamDoc.document(changed))


class TeamTransfer(Endpoint):
    required_actions = {"POST": (Action.MEMBERS,)}
    requires_sign_in = True

    @operation("transfer_team", "Transfer ownership", body=TransferRequest, answer=page_schema(MemberDoc))
    @idempotent(TransferRequest)
    def post(self, request: Request, team: str) -> HttpResponse:
        """Makes another member an owner and gives you the role that you choose. Returns both members.
        Requires the owner role; administrator rights are not enough.
        """
        found = find_team(team, self.actor)
        body = read_body(TransferRequest, request.data)
        heir = find_member(found, body["username"], self.actor)
        mine = teams.transfer_ownership(found, heir.user, self.actor, role=body["role"])
        heir.refresh_from_db()
        members = [MemberDoc.document(row) for row in (heir, mine)]
        return etag.document_response(request, page_document(members, None))


class TeamArchival(Endpoint):
    required_actions = {"POST": (Action.MEMBERS,)}
    requires_sign_in = True

    @operation("archive_team", "Archive a team", answer=TeamDoc)
    @idempotent()
    def post(self, request: Request, team: str) -> HttpResponse:
        """Archives the team. Its skills stay readable. Publishing, runs, imports and changes of members fail
        with `TEAM_ARCHIVED`, and the tokens of its service accounts stop working. Requires the owner role or
        administrator rights.
        """
        archived = teams.archive(find_team(team, self.actor), self.actor)
        return etag.document_response(request, TeamDoc.document(archived))


class TeamUnarchival(Endpoint):
    required_actions = {"POST": (Action.MEMBERS,)}
    requires_sign_in = True

    @operation("unarchive_team", "Unarchive a team", answer=TeamDoc)
    @idempotent()
    def post(self, request: Request, team: str) -> HttpResponse:
        """Makes an archived team active again. Requires the owner role or administrator rights."""
        team_row = teams.unarchive(find_team(team, self.actor), self.actor)
        return etag.document_response(request, TeamDoc.document(team_row))


class Members(Endpoint):
    required_actions = {"GET": (Action.SEE,), "POST": (Action.MEMBERS,)}
    requires_sign_in = True

    @operation("list_members", "List a team's members", query=PageQuery, answer=page_schema(MemberDoc))
    def get(self, request: Request, team: str) -> HttpResponse:
        """Lists the team's members, without service accounts. Requires team membership or administrator
        rights.
        """
        page = pagination.read_page("members", read_query(PageQuery, request), kinds=(int,))
        rows = teams.members_of(find_team(team, self.actor), self.actor)
        found, cursor = pagination.in_order(rows, page)
        return etag.document_response(request, page_document([*map(MemberDoc.document, found)], cursor))

    @operation("add_member", "Add a member", body=MemberRequest, answer={201: MemberDoc})
    @idempotent(MemberRequest)
    def post(self, request: Request, team: str) -> HttpResponse:
        """Adds a user to the team. Requires the owner role or administrator rights."""
        found = find_team(team, self.actor)
        require(self.actor, Action.MEMBERS, team=found)
        body = read_body(MemberRequest, request.data)
        user = teams.find_person(body["username"], found, self.actor)
        member = teams.add_member(found, user, body["role"], self.actor)
        return etag.document_response(request, MemberDoc.document(member), status=201)


class MemberDetail(Endpoint):
    required_actions = {"PATCH": (Action.MEMBERS,), "DELETE": (Action.MEMBERS,)}
    requires_sign_in = True

    @operation("update_member", "Change a member's role", body=RoleRequest, answer=MemberDoc)
    def patch(self, request: Request, team: str, username: str) -> HttpResponse:
        """Changes the member's role. The only owner can't get another role. Requires the owner role or
        administrator rights.
        """
        member = self._member(team, username)
        role = read_body(RoleRequest, request.data)["role"]
        changed = teams.change_role(member.team, member.user, role, self.actor)
        return etag.document_response(request, MemberDoc.document(changed))

    @operation("remove_member", "Remove a member")
    def delete(self, request: Request, team: str, username: str) -> HttpResponse:
        """Removes the member. Members can remove themselves in a session; only owners and administrators can
        remove other members. The only owner can't be removed.
        """
        member = self._member(team, username)
        teams.remove_member(member.team, member.user, self.actor)
        return HttpResponse(status=204)

    def _member(self, team: str, username: str) -> Membership:
        return find_member(find_team(team, self.actor), username, self.actor)


def find_member(team: Team, username: str, actor: Actor) -> Membership:
    rows = teams.members_of(team, actor)
    member = rows.select_related("team").filter(user__username=username).first()
    if member is None:
        raise NOT_FOUND.refusal(what="member", name=username[:150])
    return member
