"""What is remembered: found, read, exported and deleted by whose it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.actors import Actor
from registry.api import cursors, etags
from registry.api.documents import Doc, page_document, page_shape
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.shapes import PageQuery, Query, read_query
from registry.permissions import Action
from worker.api import examples
from worker.memory import finding
from worker.memory.documents import memory_document
from worker.memory.store import Wanted, store
from worker.models import Memory, MemoryType, OwnerType

_OWNER = "`me`, a team's slug, or `run:` and a run's id."
EXAMPLE = {
    "id": "01kajq3s5d8m6v9x2c4b7n1p60",
    "owner": {"type": "user", "name": "alice"},
    "type": "preference",
    "importance": 4,
    "importance_given": 0.8,
    "content": "用户喜欢喝拿铁",
    "metadata": {"category": "drink"},
    "count": 2,
    "skill": "docs/preference-recorder",
    "version": "1.0.0",
    "created_at": "2026-11-20T09:30:00.000000Z",
    "updated_at": "2026-11-20T09:30:00.000000Z",
    "url": "https://skills.example/api/v1/memories/01kajq3s5d8m6v9x2c4b7n1p60",
    "page": "https://skills.example/memory/01kajq3s5d8m6v9x2c4b7n1p60/",
}


class OwnerQuery(Query):
    owner = serializers.CharField(required=False, max_length=80, help_text=_OWNER)


class OneOwnerQuery(Query):
    owner = serializers.CharField(max_length=80, help_text=_OWNER)


class MemoriesQuery(PageQuery, OwnerQuery):
    q = serializers.CharField(required=False, max_length=500, help_text="Words; the fittest come first.")
    type = serializers.MultipleChoiceField(required=False, choices=MemoryType.choices)
    skill = serializers.CharField(required=False, max_length=130, help_text="`team/slug` that said it first.")
    importance = serializers.IntegerField(default=1, min_value=1, max_value=5, help_text="At least.")
    since = serializers.DateTimeField(required=False, help_text="Said last at or after.")
    until = serializers.DateTimeField(required=False)


class MemoryOwnerDoc(Doc):
    type = serializers.ChoiceField(choices=OwnerType.values)
    name = serializers.CharField(help_text="A user name, a team's slug or a run's id.")


class MemoryDoc(Doc):
    id = serializers.CharField()
    owner = MemoryOwnerDoc()
    type = serializers.ChoiceField(choices=MemoryType.values)
    importance = serializers.IntegerField(min_value=1, max_value=5)
    importance_given = serializers.FloatField(help_text="As the skill said it; ABP tools say 0 to 1.")
    content = serializers.CharField()
    metadata = serializers.DictField()
    count = serializers.IntegerField(help_text="How often it was proposed.")
    skill = serializers.CharField(allow_null=True)
    version = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    url = serializers.URLField()
    page = serializers.URLField()


class MemoriesDoc(Doc):
    items = MemoryDoc(many=True)


class MemoriesDeletedDoc(Doc):
    deleted = serializers.IntegerField()


class Memories(Endpoint):
    needs = {"GET": (Action.READ_RUNS,), "DELETE": (Action.APPROVE,)}
    signed_in = True

    @extend_schema(
        operation_id="list_memories",
        summary="List or search what is remembered",
        tags=["memory"],
        parameters=[MemoriesQuery],
        responses=page_shape(MemoryDoc),
        examples=[examples.answers(examples.page(EXAMPLE))],
    )
    def get(self, request: Request) -> HttpResponse:
        """Yours, your teams' and that of runs you may read; the newest first. With `q` the fittest, in one
        page: words of English, pairs of characters of Chinese."""
        query = read_query(MemoriesQuery, request)
        wanted = wanted_of(query, self.actor)
        page = cursors.page_of("memories", query, kinds=(str,))
        if query.get("q"):
            found: list[Memory] = store().search(query["q"], wanted, most=page.limit)
            cursor = None
        else:
            found, cursor = cursors.newest_first(store().list(wanted), page)
        return etags.document_response(
            request, page_document([memory_document(each) for each in found], cursor)
        )

    @extend_schema(
        operation_id="delete_memories",
        summary="Delete all that somebody has",
        tags=["memory"],
        parameters=[OneOwnerQuery],
        responses=MemoriesDeletedDoc,
        examples=[examples.answers({"deleted": 12})],
    )
    def delete(self, request: Request) -> HttpResponse:
        """In a session: your own, a team's that you maintain, or a run's that you may read. For a quarter of
        an hour each can be restored."""
        owner = finding.find_owner(read_query(OneOwnerQuery, request)["owner"], self.actor)
        return etags.document_response(request, {"deleted": finding.delete_all(owner, self.actor)})


class MemoryDetail(Endpoint):
    needs = {"GET": (Action.READ_RUNS,), "DELETE": (Action.APPROVE,)}
    signed_in = True

    @extend_schema(
        operation_id="get_memory",
        summary="Read one memory",
        tags=["memory"],
        responses=MemoryDoc,
        examples=[examples.answers(EXAMPLE)],
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """410 where it was deleted."""
        return etags.document_response(request, memory_document(finding.find_memory(uid, self.actor)))

    @extend_schema(
        operation_id="delete_memory",
        summary="Delete one memory",
        tags=["memory"],
        responses={204: None},
    )
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """In a session, for its owner or a maintainer of the team. What the run that said it holds stays
        until that is erased."""
        finding.delete(finding.find_memory(uid, self.actor), self.actor)
        return etags.private(HttpResponse(status=204))


class MemoryRestoration(Endpoint):
    needs = {"POST": (Action.APPROVE,)}
    signed_in = True

    @extend_schema(
        operation_id="restore_memory",
        summary="Take a deletion back",
        tags=["memory"],
        request=None,
        responses=MemoryDoc,
        examples=[examples.answers(EXAMPLE)],
    )
    def post(self, request: Request, uid: str) -> HttpResponse:
        """In a session, within a quarter of an hour; 410 later."""

        def act() -> HttpResponse:
            return etags.document_response(request, memory_document(finding.restore(uid, self.actor)))

        return once(request, uid, act)


class MemoryExport(Endpoint):
    needs = {"GET": (Action.READ_RUNS,)}
    signed_in = True

    @extend_schema(
        operation_id="export_memories",
        summary="All that somebody has, as one document",
        tags=["memory"],
        parameters=[OneOwnerQuery],
        responses=MemoriesDoc,
        examples=[examples.answers({"items": [EXAMPLE]})],
    )
    def get(self, request: Request) -> HttpResponse:
        """Oldest first, without pages."""
        owner = finding.find_owner(read_query(OneOwnerQuery, request)["owner"], self.actor)
        return export_answer(store().export(Wanted(self.actor, owner)))


def export_answer(documents: Iterable[Mapping[str, Any]]) -> HttpResponse:
    """A file to keep, of documents as they are."""
    text = json.dumps({"items": list(documents)}, ensure_ascii=False, indent=2)
    answer = HttpResponse(text, content_type="application/json; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="skillquay-memory.json"'
    answer["Cache-Control"] = "private, no-store"
    return answer


def wanted_of(query: Mapping[str, Any], actor: Actor) -> Wanted:
    """What the parameters ask for; refused where their owner is not for this reader."""
    return Wanted(
        actor=actor,
        owner=finding.find_owner(query["owner"], actor) if query.get("owner") else None,
        types=frozenset(query.get("type") or ()),
        skill=query.get("skill") or "",
        importance=query.get("importance") or 1,
        since=query.get("since"),
        until=query.get("until"),
    )
