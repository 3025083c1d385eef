"""Endpoints of user accounts and invitations, for administrators.

Responses with a password or link are not stored for ``Idempotency-Key``.
"""

from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.accounts import invitations, mail, second_factors, users
from registry.api import etag, pagination
from registry.api.documents.skills import Doc, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, PageQuery, Shape, StrictBoolean, StrictText, read_body, read_query
from registry.identity.permissions import Action
from registry.lookup.skills import find_team
from registry.models import Role, User, UserKind

operation = Operations("people")
_USERS = (Action.USERS,)


class UserDoc(Doc):
    id = serializers.CharField(source="uid")
    username = serializers.CharField()
    name = serializers.CharField(source="get_full_name")
    email = serializers.CharField()
    active = serializers.BooleanField(source="is_active")
    administrator = serializers.BooleanField(source="is_superuser")
    kind = serializers.ChoiceField(
        choices=UserKind.values, help_text="Kind of account; `service` is a service account of a team."
    )
    created_at = serializers.DateTimeField(source="date_joined")
    last_sign_in_at = serializers.DateTimeField(source="last_login", allow_null=True)


class NewUserDoc(UserDoc):
    one_time_password = serializers.CharField(
        help_text="Shown only in this response; the user replaces it at the first sign-in."
    )


class DependentsDoc(Doc):
    teams = serializers.ListField(
        child=serializers.CharField(), help_text="Teams whose only active owner is this user."
    )
    sources = serializers.ListField(
        child=serializers.CharField(),
        help_text="IDs of scheduled import sources that run in this user's name.",
    )
    webhooks = serializers.ListField(
        child=serializers.CharField(), help_text="IDs of webhooks that start runs in this user's name."
    )


class DeactivatedUserDoc(UserDoc):
    needs_owner = DependentsDoc(help_text="Teams, import sources and webhooks that need another owner.")


class PasswordResetDoc(Doc):
    url = serializers.URLField(help_text="The URL at which the user can set a new password, once.")
    mailed = serializers.BooleanField(help_text="Whether the link was mailed to the user.")


class UsersQuery(PageQuery):
    state = serializers.ChoiceField(
        choices=["active", "inactive"], required=False, help_text="Only users in this state."
    )
    kind = serializers.ChoiceField(
        choices=UserKind.values, required=False, help_text="Only people, or only service accounts."
    )
    q = serializers.CharField(
        required=False,
        max_length=150,
        help_text="Only users whose user name or e-mail address contains this text.",
    )


class UserRequest(Shape):
    username = StrictText(max_length=150)
    email = StrictText(max_length=254, required=False, allow_blank=True)
    administrator = StrictBoolean(required=False, default=False)


class UserChangeRequest(Shape):
    administrator = StrictBoolean(help_text="True if the user has administrator rights.")


class InvitationDoc(Doc):
    id = serializers.CharField(source="uid")
    email = serializers.CharField(
        help_text="The e-mail address of the invited person; empty if none was given."
    )
    team = serializers.CharField(source="team.slug", allow_null=True, default=None)
    role = serializers.ChoiceField(choices=Role.values, help_text="Role of the invited person in the team.")
    created_by = serializers.CharField(source="created_by.username", allow_null=True, default=None)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class NewInvitationDoc(InvitationDoc):
    url = serializers.URLField(help_text="The URL for the invited person; shown only in this response.")
    mailed = serializers.BooleanField(help_text="Whether the link was mailed to the e-mail address.")


def send_invitation(new: invitations.NewInvitation) -> dict[str, Any]:
    """The JSON object of a new invitation. Mails the link if the invitation has an e-mail address and the
    site sends mail.
    """
    mailed = mail.send_invitation(new.invitation.email, new.url)
    return InvitationDoc.document(new.invitation) | {"url": new.url, "mailed": mailed}


class InvitationRequest(Shape):
    email = StrictText(
        max_length=254, required=False, allow_blank=True, help_text="The e-mail address of the new account."
    )
    team = StrictText(max_length=64, required=False, help_text="The team that the person joins.")
    role = serializers.ChoiceField(choices=Role.values, required=False, default=Role.MEMBER.value)
    days = serializers.IntegerField(
        required=False,
        default=invitations.DEFAULT_DAYS,
        help_text="Days until the invitation expires; at most 90.",
    )


class Users(Endpoint):
    required_actions = {"GET": _USERS, "POST": _USERS}
    requires_sign_in = True

    @operation("list_users", "List users", query=UsersQuery, answer=page_schema(UserDoc))
    def get(self, request: Request) -> HttpResponse:
        """Lists accounts, oldest first, without erased ones. Requires administrator rights."""
        query = read_query(UsersQuery, request)
        rows = users.list_users(self.actor)
        if "state" in query:
            rows = rows.filter(is_active=query["state"] == "active")
        if "kind" in query:
            rows = rows.filter(kind=query["kind"])
        if "q" in query:
            rows = users.containing(rows, query["q"])
        found, cursor = pagination.in_order(rows, pagination.read_page("users", query, kinds=(int,)))
        return etag.document_response(request, page_document([*map(UserDoc.document, found)], cursor))

    @operation("create_user", "Create a user", body=UserRequest, answer={201: NewUserDoc})
    def post(self, request: Request) -> HttpResponse:
        """Creates an account with a one-time password. Requires administrator rights."""
        body = read_body(UserRequest, request.data)
        new = users.create_user(
            body["username"],
            self.actor,
            email=body.get("email", ""),
            is_administrator=body["administrator"],
        )
        document = UserDoc.document(new.user) | {"one_time_password": new.one_time_password}
        return etag.document_response(request, document, status=201)


class UserDetail(Endpoint):
    required_actions = {"GET": _USERS, "PATCH": _USERS}
    requires_sign_in = True

    @operation("get_user", "Get a user", answer=UserDoc)
    def get(self, request: Request, username: str) -> HttpResponse:
        """Returns the account. Requires administrator rights."""
        return self.respond(request, users.find_user(username, self.actor))

    @operation("update_user", "Change a user", body=UserChangeRequest, answer=UserDoc)
    def patch(self, request: Request, username: str) -> HttpResponse:
        """Gives the user administrator rights, or removes them. The last administrator can't lose these
        rights. Requires administrator rights.
        """
        user = users.find_user(username, self.actor)
        change = read_body(UserChangeRequest, request.data)
        return self.respond(request, users.set_administrator(user, change["administrator"], self.actor))

    def respond(self, request: Request, user: User) -> HttpResponse:
        return etag.document_response(request, UserDoc.document(user))


class UserDeactivation(Endpoint):
    required_actions = {"POST": _USERS}
    requires_sign_in = True

    @operation("deactivate_user", "Deactivate a user", answer=DeactivatedUserDoc)
    @idempotent()
    def post(self, request: Request, username: str) -> HttpResponse:
        """Deactivates the account: the user's sessions end and tokens stop working at once. Scheduled
        imports and webhooks in the user's name stop. Requires administrator rights; the last
        administrator can't be deactivated.
        """
        user = users.find_user(username, self.actor)
        left = users.deactivate(user, self.actor)
        user.refresh_from_db()
        needs_owner = {
            "teams": [team.slug for team in left.teams],
            "sources": [source.uid for source in left.sources],
            "webhooks": [webhook.uid for webhook in left.webhooks],
        }
        return etag.document_response(request, UserDoc.document(user) | {"needs_owner": needs_owner})


class UserReactivation(Endpoint):
    required_actions = {"POST": _USERS}
    requires_sign_in = True

    @operation("reactivate_user", "Reactivate a user", answer=UserDoc)
    @idempotent()
    def post(self, request: Request, username: str) -> HttpResponse:
        """Reactivates the account: the user can sign in again, and tokens that have not expired work again.
        Requires administrator rights.
        """
        user = users.reactivate(users.find_user(username, self.actor), self.actor)
        return etag.document_response(request, UserDoc.document(user))


class PasswordReset(Endpoint):
    required_actions = {"POST": _USERS}
    requires_sign_in = True

    @operation("reset_password", "Reset a user's password", answer=PasswordResetDoc)
    def post(self, request: Request, username: str) -> HttpResponse:
        """Creates a link with which the user can set a new password, and mails it if possible. The link works
        once, within a day. The current password stops working, and the user's sessions end. Requires
        administrator rights.
        """
        user = users.find_user(username, self.actor)
        url = users.reset_password(user, self.actor)
        return etag.document_response(request, {"url": url, "mailed": mail.send_reset_link(user, url)})


class SecondFactorReset(Endpoint):
    required_actions = {"POST": _USERS}
    requires_sign_in = True

    @operation("reset_second_factors", "Remove a user's second factors", answer=UserDoc)
    @idempotent()
    def post(self, request: Request, username: str) -> HttpResponse:
        """Removes the authenticator app, keys and recovery codes of a user who lost them. The user's sessions
        end; the password alone is then enough to sign in. Requires administrator rights.
        """
        user = users.find_user(username, self.actor)
        second_factors.reset(user, self.actor)
        return etag.document_response(request, UserDoc.document(user))


class Invitations(Endpoint):
    required_actions = {"GET": _USERS, "POST": _USERS}
    requires_sign_in = True

    @operation(
        "list_invitations", "List open invitations", query=PageQuery, answer=page_schema(InvitationDoc)
    )
    def get(self, request: Request) -> HttpResponse:
        """Lists invitations that can still be accepted, newest first. Requires administrator rights."""
        page = pagination.read_page("invitations", read_query(PageQuery, request), kinds=(str,))
        found, cursor = pagination.newest_first(invitations.open_invitations(self.actor), page)
        return etag.document_response(request, page_document([*map(InvitationDoc.document, found)], cursor))

    @operation("invite", "Invite a person", body=InvitationRequest, answer={201: NewInvitationDoc})
    def post(self, request: Request) -> HttpResponse:
        """Creates a link with which one person can create an account and, if you name a team, join it. Mails
        the link if you give an address and the site sends mail. Requires administrator rights or, for a team,
        its owner role.
        """
        body: dict[str, Any] = read_body(InvitationRequest, request.data)
        team = find_team(body.pop("team"), self.actor) if "team" in body else None
        new = invitations.invite(self.actor, team=team, **body)
        return etag.document_response(request, send_invitation(new), status=201)


class InvitationDetail(Endpoint):
    required_actions = {"DELETE": _USERS}
    requires_sign_in = True

    @operation("revoke_invitation", "Revoke an invitation")
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """Revokes the invitation; its link stops working at once. Requires administrator rights."""
        invitations.revoke(uid, self.actor)
        return HttpResponse(status=204)
