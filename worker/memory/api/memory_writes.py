from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag, pagination
from registry.api.documents.skills import Doc, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, PageQuery, Shape, StrictBoolean, StrictText, read_body, read_query
from registry.identity.permissions import Action
from worker.memory import find, review
from worker.memory.api.memories import MemoryOwnerDoc, OwnerQuery
from worker.memory.documents import write_document
from worker.models import MemoryType, WriteState
from worker.protocols.formats.traces import MAX_CONTENT_LENGTH

operation = Operations("memory")


class MemoryWritesQuery(PageQuery, OwnerQuery):
    pass


class MemoryWriteDoc(Doc):
    id = serializers.CharField()
    state = serializers.ChoiceField(choices=WriteState.values)
    code = serializers.CharField(
        allow_blank=True, help_text="Error code that explains the state; empty if there is none."
    )
    owner = MemoryOwnerDoc()
    type = serializers.ChoiceField(choices=MemoryType.values)
    importance = serializers.IntegerField()
    original_importance = serializers.FloatField()
    content = serializers.CharField(
        allow_blank=True,
        help_text="The proposed content; empty after the decision, and for a refused proposal.",
    )
    metadata = serializers.DictField()
    skill = serializers.CharField(allow_null=True, help_text="The skill; null if you can't see it.")
    run = serializers.CharField(allow_null=True, help_text="The run; null if you can't see it.")
    proposed_by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    memory = serializers.CharField(
        allow_null=True, help_text="Id of the resulting memory; null if there is none."
    )


class MemoryDecisionRequest(Shape):
    accept = StrictBoolean(help_text="True accepts the proposal, false declines it.")
    content = StrictText(
        required=False, max_length=MAX_CONTENT_LENGTH, help_text="Replaces the proposed content."
    )
    type = serializers.ChoiceField(required=False, choices=MemoryType.values)
    importance = serializers.IntegerField(required=False, min_value=1, max_value=5)


class MemoryDecisionsRequest(Shape):
    ids = serializers.ListField(child=StrictText(max_length=26), max_length=review.MAX_BATCH)
    accept = StrictBoolean()


class MemoryDecisionsDoc(Doc):
    decided = serializers.IntegerField()
    skipped = serializers.IntegerField(help_text="The number of ids that were not found or already decided.")


class MemoryWrites(Endpoint):
    required_actions = {"GET": (Action.APPROVE,)}
    requires_sign_in = True

    @operation(
        "list_memory_writes",
        "List memory proposals to review",
        query=MemoryWritesQuery,
        answer=page_schema(MemoryWriteDoc),
    )
    def get(self, request: Request) -> HttpResponse:
        """Lists the proposals that you can decide on, oldest first. Each concerns you, a team that you
        maintain, or a run that you started. Administrators also get those for all other teams. Requires a
        session.
        """
        query = read_query(MemoryWritesQuery, request)
        owner = find.find_owner(query["owner"], self.actor) if query.get("owner") else None
        page = pagination.read_page("memory-writes", query, kinds=(int,))
        found, cursor = pagination.in_order(review.queue(self.actor, owner), page)
        items = [write_document(row, actor=self.actor) for row in found]
        return etag.document_response(request, page_document(items, cursor))


class MemoryWriteDecision(Endpoint):
    required_actions = {"POST": (Action.APPROVE,)}
    requires_sign_in = True

    @operation(
        "decide_memory_write",
        "Accept or decline a memory proposal",
        body=MemoryDecisionRequest,
        answer=MemoryWriteDoc,
    )
    @idempotent()
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Accepts or declines a proposal for you, for a team that you maintain, or for a run that you
        started. Administrators can decide those for all teams. Fields that you send replace the proposed
        values; the run's own record does not change. Requires a session.
        """
        # Looked up before the body is read, so that a stranger gets only a 404.
        write = review.find_write(uid, self.actor)
        decision = read_body(MemoryDecisionRequest, request.data)
        decided = review.decide(write, review.ReviewDecision(**decision), self.actor)
        return etag.document_response(request, write_document(decided, actor=self.actor))


class MemoryWriteDecisions(Endpoint):
    required_actions = {"POST": (Action.APPROVE,)}
    requires_sign_in = True

    @operation(
        "decide_memory_writes",
        "Accept or decline several memory proposals",
        body=MemoryDecisionsRequest,
        answer=MemoryDecisionsDoc,
    )
    @idempotent(MemoryDecisionsRequest)
    def post(self, request: Request) -> HttpResponse:
        """Accepts or declines up to 100 proposals without changing their values. Requires a session."""
        decision = read_body(MemoryDecisionsRequest, request.data)
        decided = review.decide_many(decision["ids"], decision["accept"], self.actor)
        return etag.document_response(request, {"decided": decided.decided, "skipped": decided.skipped})
