"""Endpoints that propose, list and decide the trigger phrases of a skill that are not in its package."""

from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import Doc
from registry.api.endpoint import SkillEndpoint
from registry.api.idempotency import idempotent, run_once
from registry.api.schema import Operations, Shape, StrictBoolean, read_body
from registry.core.languages import LANGUAGES
from registry.identity.actors import Actor
from registry.identity.permissions import Action
from registry.models import Skill
from registry.trigger_tests import phrases

operation = Operations("skills")


class PhraseDoc(Doc):
    id = serializers.CharField()
    text = serializers.CharField()
    language = serializers.ChoiceField(choices=LANGUAGES)
    state = serializers.ChoiceField(choices=["proposed", "accepted"])


class PhrasesDoc(Doc):
    items = PhraseDoc(many=True)


class PhraseDecisionRequest(Shape):
    accept = StrictBoolean(
        help_text="True accepts a proposed phrase. False declines it, or removes an accepted phrase."
    )


class Phrases(SkillEndpoint):
    required_actions = {"GET": (Action.SETTINGS,)}

    @operation("list_phrases", "List a skill's additional phrases", answer=PhrasesDoc)
    def get(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Lists the skill's additional phrases: proposed ones first, then accepted ones. Requires the
        maintainer role or administrator rights.
        """
        skill = self.skill(team, slug)
        return etag.document_response(request, phrases_document(skill, self.actor))


class PhraseProposals(SkillEndpoint):
    contacts_servers = True
    required_actions = {"POST": (Action.SETTINGS,)}

    @operation("propose_phrases", "Propose phrases with the site's model", answer=PhrasesDoc)
    def post(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Sends the name, description and phrases of the skill to the site's model, which proposes phrases.
        A proposed phrase takes effect after it is accepted. Requires a configured model, and the maintainer
        role or administrator rights.
        """
        skill = self.skill(team, slug)
        # Before the transaction, so that writers do not wait for the model.
        texts = phrases.request_proposals(skill, self.actor)

        def act() -> HttpResponse:
            phrases.propose(skill, texts, self.actor)
            return etag.document_response(request, phrases_document(skill, self.actor))

        return run_once(request, None, act)


class PhraseDetail(SkillEndpoint):
    required_actions = {"POST": (Action.APPROVE,)}

    @operation("decide_phrase", "Accept or decline a phrase", body=PhraseDecisionRequest, answer=PhrasesDoc)
    @idempotent()
    def post(self, request: Request, team: str, slug: str, uid: str) -> HttpResponse:
        """Accepts or declines a phrase, with immediate effect; the package does not change. Requires the
        maintainer role or administrator rights, and a session.
        """
        skill = self.skill(team, slug)
        decision = read_body(PhraseDecisionRequest, request.data)
        phrases.decide(skill, uid, self.actor, accept=decision["accept"])
        return etag.document_response(request, phrases_document(skill, self.actor))


def phrases_document(skill: Skill, actor: Actor) -> dict[str, Any]:
    rows = phrases.skill_phrases(skill, actor)
    return {
        "items": [
            {"id": row.uid, "text": row.text, "language": row.language, "state": row.state} for row in rows
        ]
    }
