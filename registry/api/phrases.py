"""Phrases beside those of a package: proposed by a model, accepted by a person."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog, phrases
from registry.actors import Actor
from registry.api import etags, examples
from registry.api.documents import Doc
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.shapes import Shape, StrictBoolean, read_body
from registry.languages import LANGUAGES
from registry.models import Skill
from registry.permissions import Action

_EXAMPLE = {
    "items": [
        {
            "id": "01kajq3s5d8m6v9x2c4b7n1p30",
            "text": "总结这份报告",
            "language": "zh",
            "state": "proposed",
        }
    ]
}


class PhraseDoc(Doc):
    id = serializers.CharField()
    text = serializers.CharField()
    language = serializers.ChoiceField(choices=LANGUAGES)
    state = serializers.ChoiceField(choices=["proposed", "accepted"])


class PhrasesDoc(Doc):
    items = PhraseDoc(many=True)


class PhraseDecision(Shape):
    accept = StrictBoolean(help_text="False declines it, or takes an accepted one away.")


class Phrases(Endpoint):
    needs = {"GET": (Action.SETTINGS,)}

    @extend_schema(
        operation_id="list_phrases",
        summary="List the phrases beside a skill's package",
        tags=["skills"],
        responses=PhrasesDoc,
        examples=[examples.answers(_EXAMPLE)],
    )
    def get(self, request: Request, team: str, slug: str) -> HttpResponse:
        """For maintainers: those that wait for a decision first, then the accepted ones."""
        skill = catalog.find_skill(f"{team}/{slug}", self.actor)
        return etags.document_response(request, phrases_document(skill, self.actor))


class PhraseProposals(Endpoint):
    needs = {"POST": (Action.SETTINGS,)}

    @extend_schema(
        operation_id="propose_phrases",
        summary="Have phrases proposed by the site's model",
        tags=["skills"],
        request=None,
        responses=PhrasesDoc,
        examples=[examples.answers(_EXAMPLE)],
    )
    def post(self, request: Request, team: str, slug: str) -> HttpResponse:
        """For maintainers, where a model is named. Nothing is a phrase before a person has accepted it."""
        skill = catalog.find_skill(f"{team}/{slug}", self.actor)
        texts = phrases.ask(skill, self.actor)  # before the transaction: writers would wait for the model

        def act() -> HttpResponse:
            phrases.propose(skill, texts, self.actor)
            return etags.document_response(request, phrases_document(skill, self.actor))

        return once(request, None, act)


class PhraseDetail(Endpoint):
    needs = {"POST": (Action.APPROVE,)}

    @extend_schema(
        operation_id="decide_phrase",
        summary="Accept or decline a phrase",
        tags=["skills"],
        request=PhraseDecision,
        responses=PhrasesDoc,
        examples=[examples.asks({"accept": True}), examples.answers(_EXAMPLE)],
    )
    def post(self, request: Request, team: str, slug: str, uid: str) -> HttpResponse:
        """For maintainers in a session. An accepted one is matched at once; the package stays as it is."""
        skill = catalog.find_skill(f"{team}/{slug}", self.actor)
        decision = read_body(PhraseDecision, request.data)

        def act() -> HttpResponse:
            phrases.decide(skill, uid, self.actor, accept=decision["accept"])
            return etags.document_response(request, phrases_document(skill, self.actor))

        return once(request, decision, act)


def phrases_document(skill: Skill, actor: Actor) -> dict[str, Any]:
    rows = phrases.of_skill(skill, actor)
    return {
        "items": [
            {"id": row.uid, "text": row.text, "language": row.language, "state": row.state} for row in rows
        ]
    }
