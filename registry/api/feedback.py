"""What agents tell of skills they used, and what becomes of it."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog, feedback
from registry.actors import Actor
from registry.api import etags, examples
from registry.api.documents import Doc
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.shapes import Shape, StrictBoolean, StrictText, read_body
from registry.models import (
    FeedbackOutcome,
    ProposedTriggerTest,
    Skill,
    TriggerTest,
    TriggerTestOrigin,
)
from registry.moments import moment
from registry.permissions import Action

_AT = "2026-11-20T09:30:00.000000Z"
_PROPOSAL = {
    "id": "01kajq3s5d8m6v9x2c4b7n1p50",
    "utterance": "translate this letter",
    "must_match": False,
    "by": "bob",
    "created_at": _AT,
}
_TEST = {
    "id": "01kajq3s5d8m6v9x2c4b7n1p51",
    "utterance": "sum up this report",
    "must_match": True,
    "origin": "page",
    "accepted_by": "alice",
    "created_at": _AT,
}
_EXAMPLE = {
    "skill": "docs/summarise",
    "counts": {"worked": 12, "failed": 1, "wrong_skill": 1},
    "notes": [{"outcome": "failed", "version": "1.2.0", "note": "no PDF", "by": "bob", "created_at": _AT}],
    "proposals": [_PROPOSAL],
    "tests": [_TEST],
}


class FeedbackRequest(Shape):
    skill = StrictText(max_length=200, help_text="`team/slug`, or `team/slug@version`.")
    version = StrictText(required=False, max_length=64, help_text="The one that was used; else the latest.")
    outcome = serializers.ChoiceField(choices=FeedbackOutcome.values)
    utterance = StrictText(
        required=False,
        allow_blank=True,
        default="",
        max_length=feedback.LONGEST_UTTERANCE,
        help_text="What was said, for `wrong_skill`; the skill's team reads it.",
    )
    note = StrictText(required=False, allow_blank=True, default="", max_length=feedback.LONGEST_NOTE)


class FeedbackTakenDoc(Doc):
    skill = serializers.CharField()
    counted = serializers.BooleanField(help_text="False within 60 s of your last use of the skill.")


class NoteDoc(Doc):
    outcome = serializers.ChoiceField(choices=FeedbackOutcome.values)
    version = serializers.CharField()
    note = serializers.CharField()
    by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()


class ProposedTestDoc(Doc):
    id = serializers.CharField()
    utterance = serializers.CharField()
    must_match = serializers.BooleanField()
    by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()


class SiteTestDoc(Doc):
    id = serializers.CharField()
    utterance = serializers.CharField()
    must_match = serializers.BooleanField()
    origin = serializers.ChoiceField(choices=TriggerTestOrigin.values)
    accepted_by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()


class FeedbackDoc(Doc):
    skill = serializers.CharField()
    counts = serializers.DictField(child=serializers.IntegerField(), help_text="Of what is kept.")
    notes = NoteDoc(many=True)
    proposals = ProposedTestDoc(many=True, help_text="Trigger tests that wait for a maintainer.")
    tests = SiteTestDoc(many=True, help_text="Those that the site keeps for the skill.")


class Decision(Shape):
    accept = StrictBoolean(help_text="True makes it a trigger test of the skill.")


class TriggerTestRequest(Shape):
    utterance = StrictText(max_length=feedback.LONGEST_UTTERANCE)
    must_match = StrictBoolean()


class FeedbackReports(Endpoint):
    needs = {"POST": (Action.SEE,)}

    @extend_schema(
        operation_id="send_feedback",
        summary="Tell how a skill did",
        tags=["usage"],
        request=FeedbackRequest,
        responses=FeedbackTakenDoc,
        examples=[
            examples.asks(
                {
                    "skill": "docs/summarise",
                    "outcome": "wrong_skill",
                    "utterance": "translate this letter",
                }
            ),
            examples.answers({"skill": "docs/summarise", "counted": True}),
        ],
    )
    def post(self, request: Request) -> HttpResponse:
        """`worked` and `failed` count as a run on your own side; `wrong_skill` with what was said proposes
        a trigger test to the skill's team. Runs of this site are counted without this."""
        asked = read_body(FeedbackRequest, request.data)

        def act() -> HttpResponse:
            label, _, number = asked["skill"].partition("@")
            skill = catalog.find_skill(label, self.actor)
            version = catalog.find_version(skill, asked.get("version") or number or None, self.actor)
            told = feedback.Told(asked["outcome"], asked["utterance"], asked["note"])
            counted = feedback.report(version, told, self.actor)
            return etags.document_response(request, {"skill": str(skill), "counted": counted})

        return once(request, asked, act)


class _OfSkill(Endpoint):
    def skill(self, team: str, slug: str) -> Skill:
        return catalog.find_skill(f"{team}/{slug}", self.actor)


class SkillFeedback(_OfSkill):
    needs = {"GET": (Action.SETTINGS,)}

    @extend_schema(
        operation_id="get_feedback",
        summary="What agents told of a skill",
        tags=["usage"],
        responses=FeedbackDoc,
        examples=[examples.answers(_EXAMPLE)],
    )
    def get(self, request: Request, team: str, slug: str) -> HttpResponse:
        """For maintainers: what was said is the skill's team's alone."""
        return etags.document_response(request, _document(self.skill(team, slug), self.actor))


class FeedbackDecision(_OfSkill):
    needs = {"POST": (Action.SETTINGS,)}

    @extend_schema(
        operation_id="decide_proposed_test",
        summary="Accept or decline a proposed trigger test",
        tags=["usage"],
        request=Decision,
        responses=FeedbackDoc,
        examples=[examples.asks({"accept": True}), examples.answers(_EXAMPLE)],
    )
    def post(self, request: Request, team: str, slug: str, uid: str) -> HttpResponse:
        """For maintainers. What was decided is not proposed again."""
        skill = self.skill(team, slug)
        proposal = feedback.find_proposal(skill, uid, self.actor)
        asked = read_body(Decision, request.data)

        def act() -> HttpResponse:
            (feedback.accept if asked["accept"] else feedback.decline)(proposal, self.actor)
            return etags.document_response(request, _document(skill, self.actor))

        return once(request, asked, act)


class TriggerTests(_OfSkill):
    needs = {"POST": (Action.SETTINGS,)}

    @extend_schema(
        operation_id="add_trigger_test",
        summary="Add a trigger test to a skill",
        tags=["usage"],
        request=TriggerTestRequest,
        responses={201: SiteTestDoc},
        examples=[
            examples.asks({"utterance": "sum up this report", "must_match": True}),
            examples.answers(_TEST, "201"),
        ],
    )
    def post(self, request: Request, team: str, slug: str) -> HttpResponse:
        """For maintainers: what must match the skill, or must not. It replaces one of the same words."""
        skill = self.skill(team, slug)
        asked = read_body(TriggerTestRequest, request.data)

        def act() -> HttpResponse:
            made = feedback.add_test(
                skill, asked["utterance"], must_match=asked["must_match"], actor=self.actor
            )
            return etags.document_response(request, _test(made), status=201)

        return once(request, asked, act)


class TriggerTestDetail(_OfSkill):
    needs = {"DELETE": (Action.SETTINGS,)}

    @extend_schema(
        operation_id="remove_trigger_test",
        summary="Remove a trigger test",
        tags=["usage"],
        responses={204: None},
    )
    def delete(self, request: Request, team: str, slug: str, uid: str) -> HttpResponse:
        """For maintainers; one that a package carries stands in the package."""
        feedback.remove_test(self.skill(team, slug), uid, self.actor)
        return etags.private(HttpResponse(status=204))


def _document(skill: Skill, actor: Actor) -> dict[str, Any]:
    proposals = feedback.proposals(skill, actor)
    return {
        "skill": str(skill),
        "counts": feedback.counts(skill),
        "notes": [
            {
                "outcome": row.outcome,
                "version": row.version_number,
                "note": row.note,
                "by": row.by.username if row.by else None,
                "created_at": moment(row.created_at),
            }
            for row in feedback.notes(skill)
        ],
        "proposals": [_proposal(row) for row in proposals],
        "tests": [_test(row) for row in skill.trigger_tests.select_related("accepted_by").order_by("pk")],
    }


def _proposal(row: ProposedTriggerTest) -> dict[str, Any]:
    return {
        "id": row.uid,
        "utterance": row.utterance,
        "must_match": row.must_match,
        "by": row.by.username if row.by else None,
        "created_at": moment(row.created_at),
    }


def _test(row: TriggerTest) -> dict[str, Any]:
    return {
        "id": row.uid,
        "utterance": row.utterance,
        "must_match": row.must_match,
        "origin": row.origin,
        "accepted_by": row.accepted_by.username if row.accepted_by else None,
        "created_at": moment(row.created_at),
    }
