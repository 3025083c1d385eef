"""Endpoints of install links."""

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag, pagination
from registry.api.documents.skills import Doc, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.schema import Operations, PageQuery, Shape, StrictText, read_body, read_query
from registry.core.time import rfc3339
from registry.identity import tokens
from registry.identity.permissions import Action
from registry.install_links import links
from registry.models import Token

operation = Operations("tokens")
_TOKENS = (Action.MEMBERS,)
_STATES = ("active", "expired", "revoked")


class InstallLinkRequest(Shape):
    target = StrictText(
        max_length=200,
        help_text="The team, skill or collection: `team`, `team/skill` or `collections/team/name`.",
    )
    name = StrictText(max_length=120, required=False, help_text="The name of the link; default: the target.")
    days = serializers.IntegerField(
        required=False,
        default=links.DEFAULT_DAYS,
        min_value=1,
        max_value=links.MAX_DAYS,
        help_text="Days until the link expires.",
    )


class InstallLinkDoc(Doc):
    id = serializers.CharField()
    name = serializers.CharField()
    target = serializers.CharField()
    state = serializers.ChoiceField(choices=_STATES)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(allow_null=True)


class NewInstallLinkDoc(InstallLinkDoc):
    address = serializers.URLField(help_text="The address; shown only in this response.")


class InstallLinks(Endpoint):
    required_actions = {"GET": _TOKENS, "POST": _TOKENS}
    requires_sign_in = True

    @operation(
        "list_install_links", "List your install links", query=PageQuery, answer=page_schema(InstallLinkDoc)
    )
    def get(self, request: Request) -> HttpResponse:
        """Lists your install links, newest first, including those that have ended."""
        page = pagination.read_page("install links", read_query(PageQuery, request), kinds=(str,))
        found, cursor = pagination.newest_first(links.links_of(self.actor), page)
        return etag.document_response(request, page_document([*map(_document, found)], cursor))

    @operation(
        "create_install_link",
        "Create an install link",
        body=InstallLinkRequest,
        answer={201: NewInstallLinkDoc},
    )
    def post(self, request: Request) -> HttpResponse:
        """Creates an address for clients that can't send a token. Until the link expires or you
        revoke it, everyone with the address can read one team, skill or collection with your rights.
        """
        body = read_body(InstallLinkRequest, request.data)
        target = links.find_target(body["target"], self.actor)
        link, address = links.create_link(target, self.actor, name=body.get("name", ""), days=body["days"])
        return etag.document_response(request, {**_document(link), "address": address}, status=201)


class InstallLinkDetail(Endpoint):
    required_actions = {"DELETE": _TOKENS}
    requires_sign_in = True

    @operation("revoke_install_link", "Revoke an install link")
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """Revokes the link; it stops working at once."""
        tokens.revoke(links.find_link(uid, self.actor), self.actor)
        return HttpResponse(status=204)


def _document(link: Token) -> dict[str, Any]:
    return {
        "id": link.uid,
        "name": link.name,
        "target": links.target_of(link).path,
        "state": tokens.state_of(link, timezone.now()),
        "created_at": rfc3339(link.created_at),
        "expires_at": rfc3339(link.expires_at),
        "last_used_at": rfc3339(link.last_used_at),
    }
