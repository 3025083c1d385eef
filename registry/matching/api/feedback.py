"""Endpoints to send and read feedback on skills, and to manage a skill's trigger tests."""

from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import Doc
from registry.api.endpoint import Endpoint, SkillEndpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, Shape, StrictBoolean, StrictText, read_body
from registry.identity.actors import Actor
from registry.identity.permissions import Action
from registry.lookup import skills
from registry.matching import feedback
from registry.models import (
    FeedbackOutcome,
    Skill,
    TriggerTestOrigin,
)

operation = Operations("usage")


class FeedbackRequest(Shape):
    skill = StrictText(max_length=200, help_text="The skill: `team/slug` or `team/slug@version`.")
    version = StrictText(
        required=False, max_length=64, help_text="The version that was used; default: latest."
    )
    outcome = serializers.ChoiceField(choices=FeedbackOutcome.values)
    utterance = StrictText(
        required=False,
        allow_blank=True,
        default="",
        max_length=feedback.MAX_UTTERANCE_CHARACTERS,
        help_text="The user's request; required for `wrong_skill`. Visible to the skill's team.",
    )
    note = StrictText(required=False, allow_blank=True, default="", max_length=feedback.MAX_NOTE_CHARACTERS)


class FeedbackReceiptDoc(Doc):
    skill = serializers.CharField()
    counted = serializers.BooleanField(
        help_text="Whether the report counted as a use; false within 60 s of your last use of the "
        "skill, but always true for `wrong_skill`."
    )


class FeedbackNoteDoc(Doc):
    outcome = serializers.ChoiceField(choices=FeedbackOutcome.values)
    version = serializers.CharField(source="version_number")
    note = serializers.CharField()
    created_by = serializers.CharField(source="by.username", allow_null=True)
    created_at = serializers.DateTimeField()


class ProposedTriggerTestDoc(Doc):
    id = serializers.CharField(source="uid")
    utterance = serializers.CharField()
    must_match = serializers.BooleanField()
    created_by = serializers.CharField(source="by.username", allow_null=True)
    created_at = serializers.DateTimeField()


class SavedTriggerTestDoc(Doc):
    id = serializers.CharField(source="uid")
    utterance = serializers.CharField()
    must_match = serializers.BooleanField()
    origin = serializers.ChoiceField(choices=TriggerTestOrigin.values)
    accepted_by = serializers.CharField(source="accepted_by.username", allow_null=True)
    created_at = serializers.DateTimeField()


class FeedbackDoc(Doc):
    skill = serializers.CharField()
    counts = serializers.DictField(
        child=serializers.IntegerField(), help_text="The number of stored reports by outcome."
    )
    notes = FeedbackNoteDoc(many=True)
    proposals = ProposedTriggerTestDoc(
        many=True, help_text="Proposed trigger tests that a maintainer must accept or decline."
    )
    tests = SavedTriggerTestDoc(
        many=True, help_text="Trigger tests of the skill that are not part of its package."
    )


class TestDecisionRequest(Shape):
    accept = StrictBoolean(help_text="True adds the test to the skill's trigger tests; false declines it.")


class TriggerTestRequest(Shape):
    utterance = StrictText(max_length=feedback.MAX_UTTERANCE_CHARACTERS)
    must_match = StrictBoolean()


class FeedbackReports(Endpoint):
    required_actions = {"POST": (Action.SEE,)}

    @operation(
        "send_feedback", "Report the outcome of a skill", body=FeedbackRequest, answer=FeedbackReceiptDoc
    )
    @idempotent(FeedbackRequest)
    def post(self, request: Request) -> HttpResponse:
        """Records the outcome of a use. Send `worked` or `failed` for a run outside this site; runs on this
        site are recorded automatically. Send `wrong_skill` with the utterance to propose a trigger test to
        the skill's team.
        """
        body = read_body(FeedbackRequest, request.data)
        label, _, number = body["skill"].partition("@")
        skill = skills.find_skill(label, self.actor)
        version = skills.find_version(skill, body.get("version") or number or None, self.actor)
        report = feedback.FeedbackReport(body["outcome"], body["utterance"], body["note"])
        counted = feedback.submit_feedback(version, report, self.actor)
        return etag.document_response(request, {"skill": str(skill), "counted": counted})


class SkillFeedback(SkillEndpoint):
    required_actions = {"GET": (Action.SETTINGS,)}

    @operation("get_feedback", "Get the feedback on a skill", answer=FeedbackDoc)
    def get(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Returns the skill's proposed tests, its tests outside the package, and the counts and latest notes
        of its feedback. Requires the maintainer role or administrator rights.
        """
        return etag.document_response(request, _document(self.skill(team, slug), self.actor))


class FeedbackDecision(SkillEndpoint):
    required_actions = {"POST": (Action.SETTINGS,)}

    @operation(
        "decide_proposed_test",
        "Accept or decline a proposed trigger test",
        body=TestDecisionRequest,
        answer=FeedbackDoc,
    )
    @idempotent()
    def post(self, request: Request, team: str, slug: str, uid: str) -> HttpResponse:
        """Accepts or declines a proposed test. The same utterance is not proposed again. Requires the
        maintainer role or administrator rights.
        """
        skill = self.skill(team, slug)
        proposal = feedback.find_proposal(skill, uid, self.actor)
        body = read_body(TestDecisionRequest, request.data)
        (feedback.accept if body["accept"] else feedback.decline)(proposal, self.actor)
        return etag.document_response(request, _document(skill, self.actor))


class TriggerTests(SkillEndpoint):
    required_actions = {"POST": (Action.SETTINGS,)}

    @operation(
        "add_trigger_test",
        "Add a trigger test to a skill",
        body=TriggerTestRequest,
        answer={201: SavedTriggerTestDoc},
    )
    @idempotent()
    def post(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Adds a trigger test: a request that must match the skill or must not match it. The new test
        replaces a test of the same utterance. Requires the maintainer role or administrator rights.
        """
        skill = self.skill(team, slug)
        body = read_body(TriggerTestRequest, request.data)
        test = feedback.add_test(skill, body["utterance"], must_match=body["must_match"], actor=self.actor)
        return etag.document_response(request, SavedTriggerTestDoc.document(test), status=201)


class TriggerTestDetail(SkillEndpoint):
    required_actions = {"DELETE": (Action.SETTINGS,)}

    @operation("remove_trigger_test", "Remove a trigger test")
    def delete(self, request: Request, team: str, slug: str, uid: str) -> HttpResponse:
        """Removes a test. To remove a test that is part of a package, publish a version without it.
        Requires the maintainer role or administrator rights.
        """
        feedback.remove_test(self.skill(team, slug), uid, self.actor)
        return etag.set_private(HttpResponse(status=204))


def _document(skill: Skill, actor: Actor) -> dict[str, Any]:
    tests = skill.trigger_tests.select_related("accepted_by")
    return {
        "skill": str(skill),
        "counts": feedback.counts(skill),
        "notes": [FeedbackNoteDoc.document(row) for row in feedback.notes(skill)],
        "proposals": [ProposedTriggerTestDoc.document(row) for row in feedback.proposals(skill, actor)],
        "tests": [SavedTriggerTestDoc.document(row) for row in tests.order_by("pk")],
    }
