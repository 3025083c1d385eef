"""What the site keeps of you, and its erasure: in a session, never by a token."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import people
from registry.api import etags, examples
from registry.api.documents import Doc
from registry.api.endpoint import Endpoint
from registry.api.shapes import Shape, StrictText, read_body
from registry.packages.problems import refuse

_EXPORT: dict[str, Any] = {
    "account": {"uid": examples.ME["id"], "username": "alice", "email": "alice@skills.example"},
    "memberships": [{"team__slug": "docs", "role": "owner", "created_at": "2026-11-20T09:30:00.000000Z"}],
    "tokens": [],
    "sessions": 1,
    "versions": [],
    "uses": [],
    "audit": [],
    "inputs": [],
    "runs": [],
}


class ExportDoc(Doc):
    account = serializers.DictField()
    memberships = serializers.ListField(child=serializers.DictField())
    tokens = serializers.ListField(child=serializers.DictField(), help_text="Without their secrets.")
    sessions = serializers.IntegerField(help_text="How many are open.")
    versions = serializers.ListField(child=serializers.DictField(), help_text="What you published.")
    uses = serializers.ListField(child=serializers.DictField())
    audit = serializers.ListField(child=serializers.DictField(), help_text="What you did.")
    inputs = serializers.ListField(child=serializers.DictField())
    runs = serializers.ListField(child=serializers.DictField(), help_text="Each with what was asked.")


class Erasure(Shape):
    username = StrictText(max_length=150, help_text="Yours, so that it does not happen by mistake.")


class ErasedDoc(Doc):
    erased = serializers.CharField(help_text="The opaque name that stays.")


class MyExport(Endpoint):
    signed_in = True

    @extend_schema(
        operation_id="export_me",
        summary="Everything that is kept of you",
        tags=["site"],
        responses=ExportDoc,
        examples=[examples.answers(_EXPORT)],
    )
    def get(self, request: Request) -> HttpResponse:
        """One document, your runs with what they were asked and answered."""
        assert self.actor.user
        return etags.document_response(request, people.export_person(self.actor.user, self.actor))


class MyErasure(Endpoint):
    signed_in = True

    @extend_schema(
        operation_id="erase_me",
        summary="Erase yourself",
        tags=["site"],
        request=Erasure,
        responses=ErasedDoc,
        examples=[
            examples.asks({"username": "alice"}),
            examples.answers({"erased": "erased-01kajq3s5d8m6v9x2c4b7n1p11"}),
        ],
    )
    def post(self, request: Request) -> HttpResponse:
        """For good: account, tokens, sessions and the content of your runs. Versions stay, under an opaque
        name. Not while you are the last owner of a team with others, or the last administrator."""
        user = self.actor.user
        assert user
        if read_body(Erasure, request.data)["username"] != user.username:
            raise refuse("FIELD_INVALID", path="username", field="username", reason="it is not yours")
        erased = people.erase_person(user, self.actor)
        return etags.document_response(request, {"erased": erased.username})
