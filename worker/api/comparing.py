"""Two runs held against each other."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etags
from registry.api.documents import Doc
from registry.api.endpoint import Endpoint
from registry.permissions import Action
from worker.api import examples
from worker.comparing import compare_runs, comparison_document, readable_pair


class RunFactDoc(Doc):
    name = serializers.CharField(help_text="Such as version, digest, status, duration_ms, sandbox.memory.")
    before = serializers.CharField()
    after = serializers.CharField()
    same = serializers.BooleanField()


class ValueChangeDoc(Doc):
    kind = serializers.ChoiceField(choices=["added", "removed", "changed"])
    place = serializers.CharField(help_text="A JSON pointer; of the earlier value where something is gone.")
    before = serializers.CharField(help_text="As JSON, at most 2,000 characters.")
    after = serializers.CharField()


class ValueChangesDoc(Doc):
    changes = ValueChangeDoc(many=True)
    more = serializers.BooleanField(help_text="There are more than the 300 that are told.")


class StepSideDoc(Doc):
    status = serializers.CharField()
    duration_ms = serializers.FloatField(allow_null=True)


class StepPairDoc(Doc):
    name = serializers.CharField()
    kind = serializers.CharField()
    before = StepSideDoc(allow_null=True)
    after = StepSideDoc(allow_null=True)


class ArtifactSideDoc(Doc):
    size = serializers.IntegerField()
    digest = serializers.CharField()


class ArtifactPairDoc(Doc):
    path = serializers.CharField()
    kind = serializers.ChoiceField(choices=["added", "removed", "changed", "same"])
    before = ArtifactSideDoc(allow_null=True)
    after = ArtifactSideDoc(allow_null=True)


class LogLineChangeDoc(Doc):
    kind = serializers.ChoiceField(choices=["changed", "removed", "added"])
    before_line = serializers.IntegerField(allow_null=True)
    after_line = serializers.IntegerField(allow_null=True)
    before = serializers.CharField()
    after = serializers.CharField()


class LogChangesDoc(Doc):
    too_large = serializers.BooleanField(help_text="One of the logs is, and nothing was compared.")
    removed = serializers.IntegerField()
    added = serializers.IntegerField()
    lines = LogLineChangeDoc(many=True)


class RunComparisonDoc(Doc):
    before = serializers.CharField()
    after = serializers.CharField()
    facts = RunFactDoc(many=True)
    inputs = ValueChangesDoc()
    output = ValueChangesDoc()
    steps = StepPairDoc(many=True)
    artifacts = ArtifactPairDoc(many=True)
    log = LogChangesDoc()
    url = serializers.URLField()


class CompareRuns(Endpoint):
    needs = {"GET": (Action.READ_RUNS, Action.RUN)}
    signed_in = True

    @extend_schema(
        operation_id="compare_runs",
        summary="Hold two runs against each other",
        tags=["runs"],
        responses=RunComparisonDoc,
        examples=[examples.answers(examples.COMPARISON)],
    )
    def get(self, request: Request, uid: str, other: str) -> HttpResponse:
        """What was asked, what ran, how long each step took, what was logged, answered and left. Both must
        be yours to read."""
        before, after = readable_pair(uid, other, self.actor)
        return etags.document_response(
            request, comparison_document(before, after, compare_runs(before, after))
        )
