from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import Doc
from registry.api.endpoint import Endpoint
from registry.api.schema import Operations
from registry.identity.permissions import Action
from worker.run_views.compare import compare_runs, comparison_document, find_readable_pair

operation = Operations("runs")


class RunFactDoc(Doc):
    name = serializers.CharField(
        help_text="For example `version`, `digest`, `status`, `duration_ms`, `sandbox.memory`."
    )
    before = serializers.CharField()
    after = serializers.CharField()
    same = serializers.BooleanField()


class ValueChangeDoc(Doc):
    kind = serializers.ChoiceField(choices=["added", "removed", "changed"])
    pointer = serializers.CharField(
        help_text="JSON pointer to the change; for a removal, it points into the earlier value."
    )
    before = serializers.CharField(help_text="The earlier value as JSON, at most 2,000 characters.")
    after = serializers.CharField()


class ValueChangesDoc(Doc):
    changes = ValueChangeDoc(many=True)
    truncated = serializers.BooleanField(help_text="True if there are more than the 300 changes returned.")
    too_large = serializers.BooleanField(help_text="True if a value is too large to compare.")


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
    too_large = serializers.BooleanField(
        help_text="True if the logs are not compared because one is too large."
    )
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
    required_actions = {"GET": (Action.READ_RUNS, Action.RUN)}
    requires_sign_in = True

    @operation("compare_runs", "Compare two runs", answer=RunComparisonDoc)
    def get(self, request: Request, uid: str, other: str) -> HttpResponse:
        """Compares requests, versions, step durations, logs, answers and artifacts. You must be able to read
        both runs."""
        before, after = find_readable_pair(uid, other, self.actor)
        return etag.document_response(
            request, comparison_document(before, after, compare_runs(before, after))
        )
