"""Endpoints of lock-outs after failed sign-ins, for administrators."""

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.accounts import lock_outs
from registry.api import etag, pagination
from registry.api.documents.skills import Doc, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.schema import Operations, PageQuery, read_query
from registry.identity.permissions import Action

operation = Operations("people")
_USERS = (Action.USERS,)


class LockOutDoc(Doc):
    id = serializers.CharField(source="uid")
    username = serializers.CharField(
        help_text="The name as entered, in lower case; a user with this name need not exist."
    )
    address = serializers.CharField(
        help_text="The client's address or IPv6 network. Empty if the second factor is locked."
    )
    failures = serializers.IntegerField(source="count")
    ends_at = serializers.DateTimeField(source="ended_at")


class LockOuts(Endpoint):
    required_actions = {"GET": _USERS}
    requires_sign_in = True

    @operation("list_lock_outs", "List lock-outs", query=PageQuery, answer=page_schema(LockOutDoc))
    def get(self, request: Request) -> HttpResponse:
        """Lists user names that can't sign in after too many failures, newest first. Requires administrator
        rights.
        """
        page = pagination.read_page("lock_outs", read_query(PageQuery, request), kinds=(str,))
        found, cursor = pagination.newest_first(lock_outs.list_lock_outs(self.actor), page)
        return etag.document_response(request, page_document([*map(LockOutDoc.document, found)], cursor))


class LockOutDetail(Endpoint):
    required_actions = {"DELETE": _USERS}
    requires_sign_in = True

    @operation("end_lock_out", "End a lock-out")
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """Ends the lock-out: the user name can sign in again at once. Requires administrator rights."""
        lock_outs.end(uid, self.actor)
        return HttpResponse(status=204)
