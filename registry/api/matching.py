"""Which skills fit what somebody wants: the question that an agent asks before it starts."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request as HttpRequest

from registry.api import cursors, etags, examples
from registry.api.documents import Doc
from registry.api.endpoint import Endpoint
from registry.api.finding import HitDoc
from registry.api.idempotency import once
from registry.api.shapes import Shape, StrictText, read_body
from registry.matching import Request, match
from registry.matching.documents import document
from registry.permissions import Action

MOST_PATHS = 1000


class MatchRequest(Shape):
    utterance = StrictText(
        required=False,
        allow_blank=True,
        default="",
        max_length=200_000,
        help_text="What somebody said; the first 500 words count.",
    )
    intent = StrictText(required=False, allow_blank=True, default="", max_length=200)
    event = StrictText(
        required=False, allow_blank=True, default="", max_length=200, help_text="The type of an event."
    )
    paths = serializers.ListField(
        child=StrictText(max_length=1000),
        required=False,
        default=list,
        max_length=MOST_PATHS,
        help_text="Files that are worked on: a skill with `paths` is there only where one of them fits.",
    )
    limit = serializers.IntegerField(default=20, min_value=1, max_value=cursors.LONGEST_PAGE)


class CanDoc(Doc):
    load = serializers.BooleanField()
    run = serializers.BooleanField(help_text="There is a script, and you may start it.")


class NeedsDoc(Doc):
    approval = serializers.BooleanField()
    secret = serializers.BooleanField()
    files = serializers.BooleanField()
    network = serializers.BooleanField()


class MatchRowDoc(HitDoc):
    name = serializers.CharField()
    description = serializers.CharField()
    can = CanDoc()
    needs = NeedsDoc()
    input_schema = serializers.URLField(allow_null=True, help_text="The version whose `manifest` holds it.")


class MatchDoc(Doc):
    query = serializers.CharField()
    none = serializers.BooleanField(help_text="Whether nothing is likely enough.")
    results = MatchRowDoc(many=True)


class Matching(Endpoint):
    needs = {"POST": (Action.SEE,)}
    only_asks = True

    @extend_schema(
        operation_id="match_skills",
        summary="Ask which skills fit a request",
        tags=["skills"],
        request=MatchRequest,
        responses=MatchDoc,
        examples=[
            examples.asks({"utterance": "summarise this report for me", "paths": ["report.pdf"]}),
            examples.answers(examples.MATCH),
        ],
    )
    def post(self, request: HttpRequest) -> HttpResponse:
        """Skills asked for by event, intent, phrase or name first, then by what they say of themselves.
        `score` is how likely a skill is the one that is meant; `start` and `end` are places in the text, in
        Unicode characters (code points)."""
        asked = read_body(MatchRequest, request.data)

        def act() -> HttpResponse:
            wanted = Request(asked["utterance"], asked["intent"], asked["event"], tuple(asked["paths"]))
            found = match(wanted, self.actor, limit=asked["limit"])
            return etags.document_response(request, document(found, self.actor))

        return once(request, asked, act) if self.actor.is_signed_in else act()
