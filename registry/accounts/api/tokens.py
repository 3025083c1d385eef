"""Endpoints of access tokens. Responses with a secret are not stored for ``Idempotency-Key``."""

from datetime import timedelta
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag, pagination
from registry.api.documents.skills import AddressField, Doc, TextOrNull, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.schema import Operations, PageQuery, Shape, StrictText, read_body, read_query
from registry.identity import tokens
from registry.identity.actors import Actor
from registry.identity.errors import SIGN_IN_REQUIRED
from registry.identity.permissions import Action
from registry.lookup.skills import find_team
from registry.models import Scope, Team, User

operation = Operations("tokens")
# No action covers tokens, because they belong to people. The scope of this action is `administer`.
TOKENS = (Action.MEMBERS,)
_STATES = ("active", "expired", "revoked")


class StateField(serializers.ChoiceField):
    def __init__(self) -> None:
        super().__init__(choices=_STATES, source="*")

    def to_representation(self, value: Any) -> str:
        return tokens.state_of(value, timezone.now())


class AccessTokenDoc(Doc):
    id = serializers.CharField(source="uid")
    name = serializers.CharField()
    owner = serializers.CharField(source="owner.username", help_text="The person or service account.")
    team = serializers.CharField(
        source="team.slug",
        allow_null=True,
        default=None,
        help_text="The team that the token is limited to; null without a limit.",
    )
    prefix = serializers.CharField(help_text="The first characters of the token's secret.")
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.values))
    state = StateField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(
        allow_null=True, help_text="When the token was last used, to the minute; null if never."
    )
    last_used_address = TextOrNull()
    previous_expires_at = serializers.DateTimeField(
        allow_null=True, help_text="When the previous secret stops working; null if there is none."
    )
    url = AddressField("/api/v1/tokens/{0.uid}")


class NewAccessTokenDoc(AccessTokenDoc):
    secret = serializers.CharField(help_text="The secret; shown only in this response.")


class TokensQuery(PageQuery):
    state = serializers.ChoiceField(choices=_STATES, required=False, help_text="Only tokens in this state.")


class ServiceTokenRequest(Shape):
    name = StrictText(max_length=120, help_text="The agent or script that uses the token.")
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.values), min_length=1)
    days = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=tokens.MAX_DAYS,
        help_text="Days until the token expires; default: 30, but not later than the token that creates it.",
    )


class TokenRequest(ServiceTokenRequest):
    team = StrictText(
        max_length=64, required=False, help_text="Limits the token to this team; default: all your teams."
    )


class RotationRequest(Shape):
    overlap_hours = serializers.IntegerField(
        required=False,
        default=tokens.DEFAULT_OVERLAP_HOURS,
        min_value=0,
        max_value=tokens.MAX_OVERLAP_HOURS,
        help_text="Hours for which the current secret keeps working.",
    )
    days = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=tokens.MAX_DAYS,
        help_text="Days until the token expires; default: its expiry date does not change.",
    )


class Tokens(Endpoint):
    required_actions = {"GET": TOKENS, "POST": TOKENS}
    requires_sign_in = True

    @operation(
        "list_tokens", "List your access tokens", query=TokensQuery, answer=page_schema(AccessTokenDoc)
    )
    def get(self, request: Request) -> HttpResponse:
        """Lists your own tokens, newest first. A token limited to a team lists only that team's tokens."""
        return token_page(request, self.actor, _require_user(self.actor))

    @operation("create_token", "Create an access token", body=TokenRequest, answer={201: NewAccessTokenDoc})
    def post(self, request: Request) -> HttpResponse:
        """Creates a token that acts as you. If you use a token for this request, the new one can't do more.
        It has no further scopes, doesn't expire later, and has the same limit to a team.
        """
        body = read_body(TokenRequest, request.data)
        team = find_team(body["team"], self.actor) if "team" in body else None
        if team is None and self.actor.token:
            team = self.actor.token.team
        return new_token_response(request, self.actor, _require_user(self.actor), team, body)


class TokenDetail(Endpoint):
    required_actions = {"GET": TOKENS, "DELETE": TOKENS}
    requires_sign_in = True

    @operation("get_token", "Get an access token", answer=AccessTokenDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns a token that you manage: one of your own or, as an owner of a team, one of its service
        accounts. Administrators with a session manage all tokens.
        """
        return etag.document_response(request, AccessTokenDoc.document(tokens.find_token(uid, self.actor)))

    @operation("revoke_token", "Revoke an access token")
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """Revokes the token; it stops working at once."""
        tokens.revoke(tokens.find_token(uid, self.actor), self.actor)
        return HttpResponse(status=204)


class TokenRotation(Endpoint):
    required_actions = {"POST": TOKENS}
    requires_sign_in = True

    @operation("rotate_token", "Rotate an access token", body=RotationRequest, answer=NewAccessTokenDoc)
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Replaces the token's secret. The current secret keeps working for `overlap_hours`, but any older
        one stops at once. A token with the scope `administer` can rotate itself, and other tokens that have
        no more rights and no allow rules.
        """
        token = tokens.find_token(uid, self.actor)
        body = read_body(RotationRequest, request.data)
        expires_at = timezone.now() + timedelta(days=body["days"]) if "days" in body else None
        token, secret = tokens.rotate(
            token, self.actor, overlap_hours=body["overlap_hours"], expires_at=expires_at
        )
        return etag.document_response(request, AccessTokenDoc.document(token) | {"secret": secret})


def token_page(request: Request, actor: Actor, owner: User) -> HttpResponse:
    """A page of the owner's tokens that the actor manages."""
    query, now = read_query(TokensQuery, request), timezone.now()
    rows = tokens.managed_tokens(actor).filter(owner=owner)
    rows = tokens.in_state(rows, query["state"], now) if "state" in query else rows
    page = pagination.read_page(f"tokens:{owner.uid}", query, kinds=(str,))
    found, cursor = pagination.newest_first(rows, page)
    return etag.document_response(request, page_document([*map(AccessTokenDoc.document, found)], cursor))


def new_token_response(
    request: Request, actor: Actor, owner: User, team: Team | None, body: dict[str, Any]
) -> HttpResponse:
    token, secret = tokens.issue(
        owner,
        name=body["name"],
        scopes=body["scopes"],
        expires_at=tokens.expiry_after(body.get("days"), actor),
        by=actor,
        team=team,
    )
    return etag.document_response(request, AccessTokenDoc.document(token) | {"secret": secret}, status=201)


def _require_user(actor: Actor) -> User:
    """The actor's user. Raises SIGN_IN_REQUIRED if there is none, as for a command on a site without
    administrators.
    """
    if actor.user is None:
        raise SIGN_IN_REQUIRED.refusal()
    return actor.user
