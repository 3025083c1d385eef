from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.accounts import service_accounts
from registry.accounts.api.tokens import (
    AccessTokenDoc,
    NewAccessTokenDoc,
    ServiceTokenRequest,
    TokensQuery,
    new_token_response,
    token_page,
)
from registry.api import etag, pagination
from registry.api.documents.skills import Doc, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, PageQuery, Shape, StrictText, read_body, read_query
from registry.identity.permissions import Action
from registry.lookup.skills import find_team
from registry.models import Membership, Role

operation = Operations("service accounts")
_MEMBERS = (Action.MEMBERS,)
_ROLES = [role.value for role in service_accounts.ROLES]


class ServiceAccountDoc(Doc):
    id = serializers.CharField(source="user.uid")
    username = serializers.CharField(source="user.username")
    team = serializers.CharField(source="team.slug")
    role = serializers.ChoiceField(choices=_ROLES)
    active = serializers.BooleanField(source="user.is_active")
    created_at = serializers.DateTimeField()


class ServiceAccountRequest(Shape):
    name = StrictText(
        max_length=64, help_text="Short name of the account; `ci` becomes `acme-ci` in the team `acme`."
    )
    role = serializers.ChoiceField(choices=_ROLES, required=False, default=Role.MEMBER.value)


class ServiceAccountChangeRequest(Shape):
    role = serializers.ChoiceField(choices=_ROLES)


class AccountEndpoint(Endpoint):
    requires_sign_in = True

    def account(self, team: str, username: str) -> Membership:
        found = find_team(team, self.actor)
        return service_accounts.find_service_account(found, username, self.actor)

    def respond(self, request: Request, row: Membership, *, status: int = 200) -> HttpResponse:
        return etag.document_response(request, ServiceAccountDoc.document(row), status=status)


class ServiceAccounts(AccountEndpoint):
    required_actions = {"GET": _MEMBERS, "POST": _MEMBERS}

    @operation(
        "list_service_accounts",
        "List a team's service accounts",
        query=PageQuery,
        answer=page_schema(ServiceAccountDoc),
    )
    def get(self, request: Request, team: str) -> HttpResponse:
        """Lists the team's service accounts. Requires the owner role or administrator rights."""
        page = pagination.read_page("service-accounts", read_query(PageQuery, request), kinds=(int,))
        rows = service_accounts.list_service_accounts(find_team(team, self.actor), self.actor)
        found, cursor = pagination.in_order(rows, page)
        return etag.document_response(
            request, page_document([*map(ServiceAccountDoc.document, found)], cursor)
        )

    @operation(
        "create_service_account",
        "Create a service account",
        body=ServiceAccountRequest,
        answer={201: ServiceAccountDoc},
    )
    @idempotent(ServiceAccountRequest)
    def post(self, request: Request, team: str) -> HttpResponse:
        """Creates an account without a password. The account acts only in this team, and only with access
        tokens. Requires the owner role or administrator rights.
        """
        found = find_team(team, self.actor)
        body = read_body(ServiceAccountRequest, request.data)
        row = service_accounts.create(found, body["name"], body["role"], self.actor)
        return self.respond(request, row, status=201)


class ServiceAccountDetail(AccountEndpoint):
    required_actions = {"GET": _MEMBERS, "PATCH": _MEMBERS}

    @operation("get_service_account", "Get a service account", answer=ServiceAccountDoc)
    def get(self, request: Request, team: str, username: str) -> HttpResponse:
        """Returns the service account. Requires the owner role or administrator rights."""
        return self.respond(request, self.account(team, username))

    @operation(
        "update_service_account",
        "Change a service account's role",
        body=ServiceAccountChangeRequest,
        answer=ServiceAccountDoc,
    )
    def patch(self, request: Request, team: str, username: str) -> HttpResponse:
        """Changes the role of the service account. Requires the owner role or administrator rights."""
        row = self.account(team, username)
        role = read_body(ServiceAccountChangeRequest, request.data)["role"]
        return self.respond(request, service_accounts.change_role(row, role, self.actor))


class ServiceAccountDeactivation(AccountEndpoint):
    required_actions = {"POST": _MEMBERS}

    @operation("deactivate_service_account", "Deactivate a service account", answer=ServiceAccountDoc)
    @idempotent()
    def post(self, request: Request, team: str, username: str) -> HttpResponse:
        """Deactivates the account; all its tokens stop working at once. Requires the owner role or
        administrator rights.
        """
        row = self.account(team, username)
        service_accounts.deactivate(row, self.actor)
        return self.respond(request, row)


class ServiceAccountReactivation(AccountEndpoint):
    required_actions = {"POST": _MEMBERS}

    @operation("reactivate_service_account", "Reactivate a service account", answer=ServiceAccountDoc)
    @idempotent()
    def post(self, request: Request, team: str, username: str) -> HttpResponse:
        """Reactivates the account; tokens that have not expired work again. Requires the owner role or
        administrator rights.
        """
        row = self.account(team, username)
        service_accounts.reactivate(row, self.actor)
        return self.respond(request, row)


class ServiceAccountTokens(AccountEndpoint):
    required_actions = {"GET": _MEMBERS, "POST": _MEMBERS}

    @operation(
        "list_service_account_tokens",
        "List a service account's tokens",
        query=TokensQuery,
        answer=page_schema(AccessTokenDoc),
    )
    def get(self, request: Request, team: str, username: str) -> HttpResponse:
        """Lists the tokens of the account, newest first. Requires the owner role or administrator rights."""
        return token_page(request, self.actor, self.account(team, username).user)

    @operation(
        "create_service_account_token",
        "Create a token of a service account",
        body=ServiceTokenRequest,
        answer={201: NewAccessTokenDoc},
    )
    def post(self, request: Request, team: str, username: str) -> HttpResponse:
        """Creates a token for the service account. If you use a token for this request, the new token can't
        do more than yours. To rotate or revoke the token, use `/tokens/{id}`. Requires the owner role or
        administrator rights.
        """
        row = self.account(team, username)
        body = read_body(ServiceTokenRequest, request.data)
        return new_token_response(request, self.actor, row.user, row.team, body)
