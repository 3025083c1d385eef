"""Endpoints of the saved views of the run list."""

from django.http import HttpResponse
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import api_url
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, read_body
from registry.identity.permissions import Action
from worker.api.documents.saved_views import (
    SavedViewChange,
    SavedViewDoc,
    SavedViewRequest,
    SavedViewsDoc,
    read_query_string,
    saved_view_document,
)
from worker.saved_views import saved_views

operation = Operations("runs")
_READS = (Action.READ_RUNS, Action.RUN)


class SavedViews(Endpoint):
    required_actions = {"GET": _READS, "POST": (Action.RUN,)}
    requires_sign_in = True

    @operation("list_saved_views", "List saved views", answer=SavedViewsDoc)
    def get(self, request: Request) -> HttpResponse:
        """Lists your saved views of the run list, by name. A token for one team sees none."""
        items = [*map(saved_view_document, saved_views.views_of(self.actor))]
        return etag.document_response(request, {"items": items})

    @operation("create_saved_view", "Save a view", body=SavedViewRequest, answer={201: SavedViewDoc})
    @idempotent(SavedViewRequest)
    def post(self, request: Request) -> HttpResponse:
        """Saves filters of the run list under a name, for you. The page `/runs/` shows your views."""
        body = read_body(SavedViewRequest, request.data)
        view = saved_views.create_view(self.actor, body["name"], read_query_string(body) or "")
        response = etag.document_response(request, saved_view_document(view), status=201)
        response["Location"] = api_url("saved-views", view.uid)
        return response


class SavedViewDetail(Endpoint):
    required_actions = {"GET": _READS, "PATCH": (Action.RUN,), "DELETE": (Action.RUN,)}
    requires_sign_in = True

    @operation("get_saved_view", "Get a saved view", answer=SavedViewDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns one of your saved views."""
        return etag.document_response(request, saved_view_document(saved_views.find_view(uid, self.actor)))

    @operation(
        "update_saved_view", "Rename or change a saved view", body=SavedViewChange, answer=SavedViewDoc
    )
    def patch(self, request: Request, uid: str) -> HttpResponse:
        """Changes the given fields. Send `If-Match: <ETag>` to change the view only if it has not changed
        since you read it.
        """
        view = saved_views.find_view(uid, self.actor)
        etag.require_match(request, saved_view_document(view))
        body = read_body(SavedViewChange, request.data)
        view = saved_views.change_view(view, name=body.get("name"), query=read_query_string(body))
        return etag.document_response(request, saved_view_document(view))

    @operation("delete_saved_view", "Delete a saved view")
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """Deletes one of your saved views."""
        saved_views.find_view(uid, self.actor).delete()
        return etag.set_private(HttpResponse(status=204))
