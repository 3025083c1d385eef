"""Endpoints of browser sessions. Users manage their own; administrators manage those of all users."""

from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.accounts import sessions, users
from registry.api import etag
from registry.api.documents.skills import Doc, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.schema import Operations
from registry.identity.errors import FORBIDDEN, SIGN_IN_REQUIRED
from registry.identity.permissions import Action
from registry.models import User

operation = Operations("people")


class SessionDoc(Doc):
    id = serializers.CharField(source="uid")
    current = serializers.BooleanField(
        source="is_current", help_text="Whether the request belongs to this session."
    )
    user_agent = serializers.CharField()
    address = serializers.CharField(help_text="The client's IP address at sign-in.")
    started_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(
        allow_null=True, help_text="When the session was last used, to within ten minutes."
    )


class EndedSessionsDoc(Doc):
    ended = serializers.IntegerField(help_text="The number of ended sessions.")


_PAGE = page_schema(SessionDoc)


class SessionEndpoint(Endpoint):
    requires_sign_in = True

    @property
    def own_user(self) -> User:
        """The signed-in user. Raises FORBIDDEN for a token, because a token must not end its owner's
        sessions, and SIGN_IN_REQUIRED without a user.
        """
        if self.actor.token:
            raise FORBIDDEN.refusal(action="manage sessions")
        if self.actor.user is None:
            raise SIGN_IN_REQUIRED.refusal()
        return self.actor.user

    def list_of(self, request: Request, user: User) -> HttpResponse:
        found: list[Any] = sessions.list_sessions(user, request.session.session_key or "")
        return etag.document_response(request, page_document([*map(SessionDoc.document, found)], None))


class MySessions(SessionEndpoint):
    @operation("list_my_sessions", "List your sessions", answer=_PAGE)
    def get(self, request: Request) -> HttpResponse:
        """Lists all your browser sessions in one response: the session of this request, then the others,
        newest sign-in first. Requires a session.
        """
        return self.list_of(request, self.own_user)

    @operation("end_my_other_sessions", "End your other sessions", answer=EndedSessionsDoc)
    def delete(self, request: Request) -> HttpResponse:
        """Signs you out everywhere, except in the session of this request. Requires a session."""
        count = sessions.end_other_sessions(self.own_user, request.session.session_key or "")
        return etag.document_response(request, {"ended": count})


class MySession(SessionEndpoint):
    @operation("end_my_session", "End one of your sessions")
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """Signs you out in one browser. Requires a session."""
        sessions.end_session(self.own_user, uid)
        return HttpResponse(status=204)


class UserSessions(SessionEndpoint):
    required_actions = {"GET": (Action.USERS,), "DELETE": (Action.USERS,)}

    @operation("list_user_sessions", "List a user's sessions", answer=_PAGE)
    def get(self, request: Request, username: str) -> HttpResponse:
        """Lists all the user's browser sessions in one response, newest sign-in first. Requires administrator
        rights.
        """
        return self.list_of(request, users.find_user(username, self.actor))

    @operation("end_user_sessions", "End a user's sessions", answer=EndedSessionsDoc)
    def delete(self, request: Request, username: str) -> HttpResponse:
        """Signs the user out everywhere. Requires administrator rights."""
        user = users.find_user(username, self.actor)
        return etag.document_response(request, {"ended": sessions.end_sessions_as(user, self.actor)})
