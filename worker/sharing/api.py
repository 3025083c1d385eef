"""Endpoints of share links. Responses with an address are not stored for ``Idempotency-Key``."""

from django.http import HttpResponse
from rest_framework.request import Request

from registry.api import etag
from registry.api.endpoint import Endpoint
from registry.api.schema import Operations, read_body
from registry.identity.permissions import Action
from worker.api.documents.find_run import find_readable_run
from worker.api.documents.share_links import (
    NewShareLinkDoc,
    ShareLinkDoc,
    ShareLinkRequest,
    ShareLinksDoc,
    link_document,
)
from worker.sharing.links import LinkOptions, create_link, find_link, links_of, require_sharer, revoke_link

operation = Operations("runs")


class ShareLinks(Endpoint):
    required_actions = {"GET": (Action.SHARE_RUNS,), "POST": (Action.SHARE_RUNS,)}
    requires_sign_in = True

    @operation("list_share_links", "List links to a run", answer=ShareLinksDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Lists the links, newest first. Requires a session and permission to share the run."""
        run = find_readable_run(uid, self.actor)
        require_sharer(run, self.actor)
        return etag.document_response(request, {"items": [*map(link_document, links_of(run))]})

    @operation(
        "create_share_link", "Create a link to a run", body=ShareLinkRequest, answer={201: NewShareLinkDoc}
    )
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Creates a link that shows the outcome of the run without signing in. Requires a session and
        permission to share the run.
        """
        run = find_readable_run(uid, self.actor)
        link, address = create_link(run, LinkOptions(**read_body(ShareLinkRequest, request.data)), self.actor)
        response = etag.document_response(request, link_document(link) | {"page_url": address}, status=201)
        response["Cache-Control"] = "private, no-store"
        return response


class ShareLinkDetail(Endpoint):
    required_actions = {"DELETE": (Action.SHARE_RUNS,)}
    requires_sign_in = True

    @operation("revoke_share_link", "Revoke a link to a run", answer=ShareLinkDoc)
    def delete(self, request: Request, uid: str, other: str) -> HttpResponse:
        """Revokes the link; it stops working at once. The run's caller, maintainers of its team and
        administrators can also revoke links that other people created. Requires a session.
        """
        link = find_link(find_readable_run(uid, self.actor), other, self.actor)
        revoke_link(link, self.actor)
        return etag.document_response(request, link_document(link))
