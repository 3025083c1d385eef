from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from registry.api.documents.skills import Doc, ProblemDoc
from registry.api.schema import PageQuery, Shape, StrictBoolean, StrictText
from worker.api.documents.run_requests import RunFilterFields, an_object
from worker.models import BatchItemState, RunBatchAction, RunBatchState, RunStatus


class RunBatchSelection(RunFilterFields):
    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping) and (unknown := self.unknown(data)):
            raise serializers.ValidationError(dict.fromkeys(unknown, "unknown filter"))
        return super().to_internal_value(data)


class RunBatchRequest(Shape):
    action = serializers.ChoiceField(choices=RunBatchAction.values)
    filter = RunBatchSelection(help_text="At least one filter of `GET /runs`.")
    version = StrictText(
        required=False,
        max_length=64,
        help_text="To repeat runs: `same` (default), `newest` or a version number.",
    )
    inputs = serializers.JSONField(
        required=False,
        help_text="To repeat runs: object that is merged into the inputs of each run, as a JSON merge patch; "
        "null removes an input.",
    )
    preview = StrictBoolean(default=False, help_text="Only counts the runs; creates no batch.")

    def validate_inputs(self, value: object) -> object:
        return an_object(value)


class RunBatchCancelRequest(Shape):
    undo = StrictBoolean(
        default=False, help_text="Also cancels the runs that the batch queued and that have not started."
    )


class RunBatchesQuery(PageQuery):
    state = serializers.ChoiceField(required=False, choices=RunBatchState.values)


class RunBatchItemsQuery(PageQuery):
    state = serializers.ChoiceField(required=False, choices=BatchItemState.values)


class RunBatchReasonDoc(Doc):
    state = serializers.ChoiceField(choices=BatchItemState.values)
    count = serializers.IntegerField()
    problem = ProblemDoc()


class RunBatchSampleDoc(Doc):
    run = serializers.CharField()
    skill = serializers.CharField()
    version = serializers.CharField()
    status = serializers.ChoiceField(choices=RunStatus.values)
    replaced_inputs = serializers.DictField(
        help_text="The run's current values of the inputs that would change."
    )
    problem = ProblemDoc(allow_null=True, help_text="Why the new run would be refused.")


class RunBatchPreviewDoc(Doc):
    action = serializers.ChoiceField(choices=RunBatchAction.values)
    version = serializers.CharField(allow_null=True)
    filter = serializers.DictField(help_text="The filters of the request.")
    inputs = serializers.DictField(help_text="Merged into the inputs of each run that is repeated.")
    total = serializers.IntegerField(help_text="Number of matching runs.")
    ready = serializers.IntegerField(help_text="Number of runs that the batch would cancel or repeat.")
    skipped = serializers.IntegerField()
    reasons = RunBatchReasonDoc(many=True, help_text="Reasons why runs would be skipped, with counts.")
    sample = RunBatchSampleDoc(
        many=True, help_text="The ten oldest runs that the batch would cancel or repeat."
    )


class RunBatchSummaryDoc(Doc):
    id = serializers.CharField()
    action = serializers.ChoiceField(choices=RunBatchAction.values)
    version = serializers.CharField(
        allow_null=True, help_text="`same`, `newest` or a number; null for the action `cancel`."
    )
    filter = serializers.DictField(help_text="The filters of the request.")
    inputs = serializers.DictField(help_text="Merged into the inputs of each run that is repeated.")
    state = serializers.ChoiceField(choices=RunBatchState.values)
    total = serializers.IntegerField()
    pending = serializers.IntegerField()
    done = serializers.IntegerField()
    skipped = serializers.IntegerField()
    failed = serializers.IntegerField()
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    undone_at = serializers.DateTimeField(allow_null=True)
    url = serializers.URLField()
    page_url = serializers.URLField()


class RunBatchDoc(RunBatchSummaryDoc):
    problem = ProblemDoc(allow_null=True, help_text="Why the site cancelled the batch.")
    reasons = RunBatchReasonDoc(many=True, help_text="Reasons why runs were skipped or failed, with counts.")


class RunBatchItemDoc(Doc):
    run = serializers.CharField()
    skill = serializers.CharField()
    state = serializers.ChoiceField(choices=BatchItemState.values)
    new_run = serializers.CharField(allow_null=True, help_text="The new run that repeats the run.")
    new_run_status = serializers.ChoiceField(choices=RunStatus.values, allow_null=True)
    problem = ProblemDoc(allow_null=True, help_text="Why the run was skipped or failed.")
