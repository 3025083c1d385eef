"""What runs propose to remember and a person has to look at: the queue, and decisions."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import cursors, etags
from registry.api.documents import Doc, page_document, page_shape
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.shapes import PageQuery, Shape, StrictBoolean, StrictText, read_body, read_query
from registry.permissions import Action
from worker.api import examples
from worker.api.memories import MemoryOwnerDoc, OwnerQuery
from worker.memory import finding, reviewing
from worker.memory.documents import write_document
from worker.models import MemoryType, WriteState
from worker.protocols.traces import LONGEST_CONTENT

_EXAMPLE = {
    "id": "01kajq3s5d8m6v9x2c4b7n1p70",
    "state": "waiting",
    "code": "MEMORY_REVIEWED",
    "owner": {"type": "group", "name": "docs"},
    "type": "fact",
    "importance": 3,
    "importance_given": 3,
    "content": "The team writes in English.",
    "metadata": {},
    "skill": "docs/summarise",
    "run": "01kajq3s5d8m6v9x2c4b7n1p0z",
    "by": "bob",
    "created_at": "2026-11-20T09:30:00.000000Z",
    "expires_at": "2026-12-20T09:30:00.000000Z",
    "memory": None,
}


class MemoryWritesQuery(PageQuery, OwnerQuery):
    pass


class MemoryWriteDoc(Doc):
    id = serializers.CharField()
    state = serializers.ChoiceField(choices=WriteState.values)
    code = serializers.CharField(allow_blank=True, help_text="Why it waits, or was refused.")
    owner = MemoryOwnerDoc()
    type = serializers.ChoiceField(choices=MemoryType.values)
    importance = serializers.IntegerField()
    importance_given = serializers.FloatField()
    content = serializers.CharField(allow_blank=True, help_text="Empty when it was decided.")
    metadata = serializers.DictField()
    skill = serializers.CharField(allow_null=True, help_text="Null where you may not see it.")
    run = serializers.CharField(allow_null=True, help_text="Null where you may not know of it.")
    by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    memory = serializers.CharField(allow_null=True, help_text="What it became.")


class MemoryDecision(Shape):
    accept = StrictBoolean(help_text="True remembers it.")
    content = StrictText(required=False, max_length=LONGEST_CONTENT, help_text="Instead of what was said.")
    type = serializers.ChoiceField(required=False, choices=MemoryType.values)
    importance = serializers.IntegerField(required=False, min_value=1, max_value=5)


class MemoryDecisions(Shape):
    ids = serializers.ListField(child=StrictText(max_length=26), max_length=reviewing.MOST_AT_ONCE)
    accept = StrictBoolean()


class MemoryDecidedDoc(Doc):
    done = serializers.IntegerField()
    left = serializers.IntegerField(help_text="Decided meanwhile, or not yours to decide.")


class MemoryWrites(Endpoint):
    needs = {"GET": (Action.APPROVE,)}
    signed_in = True

    @extend_schema(
        operation_id="list_memory_writes",
        summary="List the proposed memory that you decide",
        tags=["memory"],
        parameters=[MemoryWritesQuery],
        responses=page_shape(MemoryWriteDoc),
        examples=[examples.answers(examples.page(_EXAMPLE))],
    )
    def get(self, request: Request) -> HttpResponse:
        """In a session: for you, for teams that you maintain, for runs of yours; the oldest first."""
        query = read_query(MemoryWritesQuery, request)
        owner = finding.find_owner(query["owner"], self.actor) if query.get("owner") else None
        page = cursors.page_of("memory-writes", query, kinds=(int,))
        found, cursor = cursors.in_order(reviewing.queue(self.actor, owner), page)
        items = [write_document(row, actor=self.actor) for row in found]
        return etags.document_response(request, page_document(items, cursor))


class MemoryWriteDecision(Endpoint):
    needs = {"POST": (Action.APPROVE,)}
    signed_in = True

    @extend_schema(
        operation_id="decide_memory_write",
        summary="Remember or decline one proposal",
        tags=["memory"],
        request=MemoryDecision,
        responses=MemoryWriteDoc,
        examples=[
            examples.asks({"accept": True, "importance": 4}),
            examples.answers({**_EXAMPLE, "state": "committed", "content": "", "memory": "01kajq3s…"}),
        ],
    )
    def post(self, request: Request, uid: str) -> HttpResponse:
        """In a session, for whom it is. What you write instead is kept; the run keeps what it said."""
        write = reviewing.find_write(uid, self.actor)  # before the body is read: a stranger learns nothing
        asked = read_body(MemoryDecision, request.data)

        def act() -> HttpResponse:
            decided = reviewing.decide(write, reviewing.Decision(**asked), self.actor)
            return etags.document_response(request, write_document(decided, actor=self.actor))

        return once(request, [uid, asked], act)


class MemoryWriteDecisions(Endpoint):
    needs = {"POST": (Action.APPROVE,)}
    signed_in = True

    @extend_schema(
        operation_id="decide_memory_writes",
        summary="Remember or decline several proposals",
        tags=["memory"],
        request=MemoryDecisions,
        responses=MemoryDecidedDoc,
        examples=[
            examples.asks({"ids": ["01kajq3s5d8m6v9x2c4b7n1p70"], "accept": False}),
            examples.answers({"done": 1, "left": 0}),
        ],
    )
    def post(self, request: Request) -> HttpResponse:
        """In a session, as they were proposed; at most 100."""
        asked = read_body(MemoryDecisions, request.data)

        def act() -> HttpResponse:
            decided = reviewing.decide_many(asked["ids"], asked["accept"], self.actor)
            return etags.document_response(request, {"done": decided.done, "left": decided.left})

        return once(request, asked, act)
