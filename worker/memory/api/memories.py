import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag, pagination
from registry.api.documents.skills import Doc, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, PageQuery, Query, read_query
from registry.identity.actors import Actor
from registry.identity.permissions import Action
from worker.memory import find
from worker.memory.documents import memory_document
from worker.memory.store import MemoryQuery, store
from worker.models import Memory, MemoryType, OwnerType

operation = Operations("memory")
_OWNER = "`me`, a team's slug, or `run:` followed by a run's id."


class OwnerQuery(Query):
    owner = serializers.CharField(required=False, max_length=80, help_text=_OWNER)


class OneOwnerQuery(Query):
    owner = serializers.CharField(max_length=80, help_text=_OWNER)


class MemoriesQuery(PageQuery, OwnerQuery):
    q = serializers.CharField(
        required=False, max_length=500, help_text="Words to search for. The best matches come first."
    )
    type = serializers.MultipleChoiceField(required=False, choices=MemoryType.choices)
    skill = serializers.CharField(
        required=False, max_length=130, help_text="`team/slug` of the skill that first proposed the memory."
    )
    importance = serializers.IntegerField(
        default=1, min_value=1, max_value=5, help_text="Only memories of at least this importance."
    )
    since = serializers.DateTimeField(required=False, help_text="Only memories updated since this time.")
    until = serializers.DateTimeField(required=False)


class MemoryOwnerDoc(Doc):
    type = serializers.ChoiceField(choices=OwnerType.values)
    name = serializers.CharField(help_text="A user name, a team's slug or a run's id.")


class MemoryDoc(Doc):
    id = serializers.CharField()
    owner = MemoryOwnerDoc()
    type = serializers.ChoiceField(choices=MemoryType.values)
    importance = serializers.IntegerField(min_value=1, max_value=5)
    original_importance = serializers.FloatField(
        help_text="Importance as the skill set it. ABP tools use 0 to 1."
    )
    content = serializers.CharField()
    metadata = serializers.DictField()
    count = serializers.IntegerField(help_text="The number of times that the memory was proposed.")
    skill = serializers.CharField(allow_null=True)
    version = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    url = serializers.URLField()
    page_url = serializers.URLField()


class MemoriesDoc(Doc):
    items = MemoryDoc(many=True)


class MemoriesDeletedDoc(Doc):
    deleted = serializers.IntegerField()


class Memories(Endpoint):
    required_actions = {"GET": (Action.READ_RUNS,), "DELETE": (Action.APPROVE,)}
    requires_sign_in = True

    @operation("list_memories", "List or search memories", query=MemoriesQuery, answer=page_schema(MemoryDoc))
    def get(self, request: Request) -> HttpResponse:
        """Lists your memories, those of your teams and those of runs that you can read, newest first;
        administrators get all. With `q`, returns the best matches on one page. The search finds English
        words and pairs of Chinese characters.
        """
        query = read_query(MemoriesQuery, request)
        selection = memory_filter(query, self.actor)
        page = pagination.read_page("memories", query, kinds=(str,))
        if query.get("q"):
            found: list[Memory] = store().search(query["q"], selection, limit=page.limit)
            cursor = None
        else:
            found, cursor = pagination.newest_first(store().list(selection), page)
        return etag.document_response(
            request, page_document([memory_document(each) for each in found], cursor)
        )

    @operation(
        "delete_memories", "Delete all memories of an owner", query=OneOwnerQuery, answer=MemoriesDeletedDoc
    )
    def delete(self, request: Request) -> HttpResponse:
        """Deletes all memories of an owner. `owner` can be you, a team that you maintain, or a run that you
        can read; administrators can name any team. Each memory can be restored for 15 minutes. Requires a
        session.
        """
        owner = find.find_owner(read_query(OneOwnerQuery, request)["owner"], self.actor)
        return etag.document_response(request, {"deleted": find.delete_all(owner, self.actor)})


class MemoryDetail(Endpoint):
    required_actions = {"GET": (Action.READ_RUNS,), "DELETE": (Action.APPROVE,)}
    requires_sign_in = True

    @operation("get_memory", "Get a memory", answer=MemoryDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns the memory, or 410 if it was deleted."""
        return etag.document_response(request, memory_document(find.find_memory(uid, self.actor)))

    @operation("delete_memory", "Delete a memory")
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """Deletes the memory. You can delete your own memories, those of teams that you maintain and those of
        runs that you can read; administrators can delete all. The run that proposed the memory keeps a copy
        until the run is erased. Requires a session.
        """
        find.delete(find.find_memory(uid, self.actor), self.actor)
        return etag.set_private(HttpResponse(status=204))


class MemoryRestoration(Endpoint):
    required_actions = {"POST": (Action.APPROVE,)}
    requires_sign_in = True

    @operation("restore_memory", "Restore a deleted memory", answer=MemoryDoc)
    @idempotent()
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Restores a memory within 15 minutes of its deletion. After that, returns 410. Requires a
        session.
        """
        return etag.document_response(request, memory_document(find.restore(uid, self.actor)))


class MemoryExport(Endpoint):
    required_actions = {"GET": (Action.READ_RUNS,)}
    requires_sign_in = True

    @operation("export_memories", "Export all memories of an owner", query=OneOwnerQuery, answer=MemoriesDoc)
    def get(self, request: Request) -> HttpResponse:
        """Returns all memories of the owner in one document, oldest first."""
        owner = find.find_owner(read_query(OneOwnerQuery, request)["owner"], self.actor)
        return export_response(store().export(MemoryQuery(self.actor, owner)))


def export_response(documents: Iterable[Mapping[str, Any]]) -> HttpResponse:
    """The documents as a JSON file to download."""
    text = json.dumps({"items": list(documents)}, ensure_ascii=False, indent=2)
    answer = HttpResponse(text, content_type="application/json; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="skillquay-memory.json"'
    answer["Cache-Control"] = "private, no-store"
    return answer


def memory_filter(query: Mapping[str, Any], actor: Actor) -> MemoryQuery:
    """The store's query for the parameters; raises NOT_FOUND if the actor can't read the owner's memories."""
    return MemoryQuery(
        actor=actor,
        owner=find.find_owner(query["owner"], actor) if query.get("owner") else None,
        types=frozenset(query.get("type") or ()),
        skill=query.get("skill") or "",
        importance=query.get("importance") or 1,
        since=query.get("since"),
        until=query.get("until"),
    )
