"""API endpoints that list, create, change and delete collections, and return their prompt sections."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request

from registry.api import etag, pagination
from registry.api.documents.skills import api_url, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, read_body, read_query
from registry.collections import edit, find
from registry.collections.documents import (
    CollectionChange,
    CollectionDetailDoc,
    CollectionRequest,
    CollectionsQuery,
    CollectionSummaryDoc,
    PromptQuery,
    collection_detail,
    collection_summary,
    read_skills,
)
from registry.collections.prompt import prompt_section
from registry.identity.permissions import Action
from registry.lookup import skills

operation = Operations("collections")


class Collections(Endpoint):
    required_actions = {"GET": (Action.SEE,), "POST": (Action.COLLECTIONS,)}

    @operation(
        "list_collections",
        "List collections",
        query=CollectionsQuery,
        answer=page_schema(CollectionSummaryDoc),
    )
    def get(self, request: Request) -> HttpResponse:
        """Lists the collections that you can see, newest first, without the computed
        collection `all` that each team has.
        """
        query = read_query(CollectionsQuery, request)
        rows = find.collections(self.actor, team=query.get("team", ""))
        found, cursor = pagination.newest_first(
            rows, pagination.read_page("collections", query, kinds=(str,))
        )
        return etag.document_response(request, page_document([*map(collection_summary, found)], cursor))

    @operation(
        "create_collection",
        "Create a collection",
        body=CollectionRequest,
        answer={201: CollectionDetailDoc},
    )
    @idempotent(CollectionRequest)
    def post(self, request: Request) -> HttpResponse:
        """Creates a collection. Each skill follows its latest version or a channel, or is pinned to a
        version. Requires the maintainer role or administrator rights.
        """
        body = read_body(CollectionRequest, request.data)
        team = skills.find_team(body["team"], self.actor)
        chosen = read_skills(body) or ()
        options = {name: body[name] for name in ("title", "description", "visibility") if name in body}
        found = edit.create(team, body["slug"], self.actor, chosen=chosen, **options)
        response = etag.document_response(request, collection_detail(found, self.actor), status=201)
        response["Location"] = api_url("collections", str(found))
        return response


class CollectionDetail(Endpoint):
    required_actions = {
        "GET": (Action.SEE,),
        "PATCH": (Action.COLLECTIONS,),
        "DELETE": (Action.COLLECTIONS,),
    }

    @operation("get_collection", "Get a collection", answer=CollectionDetailDoc)
    def get(self, request: Request, team: str, collection: str) -> HttpResponse:
        """Returns the collection with the skills that you can see, and the addresses for clients. The
        collection `all` of a team contains the team's skills, the most used ones first, up to a limit.
        """
        found = find.find_collection(team, collection, self.actor)
        return etag.document_response(request, collection_detail(found, self.actor))

    @operation("update_collection", "Update a collection", body=CollectionChange, answer=CollectionDetailDoc)
    def patch(self, request: Request, team: str, collection: str) -> HttpResponse:
        """Changes the given fields. `skills` replaces the skills in their order; skills that you can't see
        stay. Send `If-Match: <ETag>` to change the collection only if it has not changed since you read it.
        Requires the maintainer role or administrator rights.
        """
        found = find.find_collection(team, collection, self.actor)
        etag.require_match(request, collection_detail(found, self.actor))
        body = read_body(CollectionChange, request.data)
        chosen = read_skills(body)
        options = {name: body[name] for name in ("title", "description", "visibility") if name in body}
        found = edit.change(found, self.actor, chosen=chosen, **options)
        return etag.document_response(request, collection_detail(found, self.actor))

    @operation("delete_collection", "Delete a collection")
    def delete(self, request: Request, team: str, collection: str) -> HttpResponse:
        """Deletes the collection. Its skills stay. Requires the maintainer role or administrator rights."""
        edit.delete(find.find_collection(team, collection, self.actor), self.actor)
        return HttpResponse(status=204)


class CollectionPrompt(Endpoint):
    required_actions = {"GET": (Action.SEE,)}

    @operation(
        "get_collection_prompt",
        "Get the prompt section of a collection",
        query=PromptQuery,
        answer={(200, "text/plain"): OpenApiTypes.STR},
    )
    def get(self, request: Request, team: str, collection: str) -> HttpResponse:
        """Returns a section for a system prompt with the collection's skills and their descriptions. It takes
        at most 1 % of the context window.
        """
        query = read_query(PromptQuery, request)
        found = find.find_collection(team, collection, self.actor)
        text = prompt_section(found, self.actor, context_tokens=query["context_tokens"])
        return etag.text_response(request, text, kind="text/plain")
