"""What the requests about runs may hold."""

from __future__ import annotations

from rest_framework import serializers

from registry.api.shapes import PageQuery, Query, Shape, StrictBoolean, StrictText
from worker.models import Status


class RunRequest(Shape):
    skill = StrictText(max_length=200, help_text="`team/slug`, or `team/slug@version`.")
    version = StrictText(required=False, max_length=64)
    script = StrictText(required=False, max_length=500, help_text="Of several scripts: this one.")
    action = StrictText(required=False, max_length=200)
    tool = StrictText(required=False, max_length=200)
    inputs = serializers.JSONField(
        required=False, help_text='An object; a file is `{"input": id}` or `{"artifact": "run id/path"}`.'
    )
    stdin = StrictText(required=False, allow_blank=True, max_length=1_000_000)
    debug = StrictBoolean(default=False, help_text="SKILL_DEBUG=1.")
    fresh = StrictBoolean(default=False, help_text="Run it even where a stored answer would do.")
    context = serializers.JSONField(  # type: ignore[assignment]
        required=False, help_text="An object that the skill gets as context."
    )
    team = StrictText(required=False, max_length=64, help_text="The team of yours that the run is for.")
    again_of = StrictText(required=False, max_length=26, help_text="The id of the run that this repeats.")

    def validate_inputs(self, value: object) -> object:
        return _an_object(value)

    def validate_context(self, value: object) -> object:
        return _an_object(value)


def _an_object(value: object) -> object:
    if not isinstance(value, dict):
        raise serializers.ValidationError("an object is expected")
    return value


class RunsQuery(PageQuery):
    status = serializers.MultipleChoiceField(required=False, choices=Status.choices)
    skill = serializers.CharField(required=False, max_length=130, help_text="`team/slug`.")
    version = serializers.CharField(required=False, max_length=64)
    team = serializers.CharField(required=False, max_length=64, help_text="The caller's team.")
    failure_code = serializers.CharField(required=False, max_length=64)
    mine = serializers.BooleanField(default=False, help_text="Only those that you started.")
    request_id = serializers.CharField(required=False, max_length=64, help_text="Of a run that you may read.")
    since = serializers.DateTimeField(required=False)
    until = serializers.DateTimeField(required=False)
    ids = serializers.CharField(required=False, max_length=4000, help_text="At most 100, with commas.")

    def validate_ids(self, value: str) -> str:
        if len(value.split(",")) > 100:
            raise serializers.ValidationError("at most 100")
        return value


class LogQuery(Query):
    attempt = serializers.IntegerField(
        required=False, min_value=1, max_value=1000, help_text="The last when not said."
    )
    offset = serializers.IntegerField(default=0, min_value=0, max_value=2**31 - 1)
    limit = serializers.IntegerField(
        default=262_144, min_value=1, max_value=1_048_576, help_text="Bytes, in whole pieces."
    )


class EventsQuery(Query):
    after = serializers.CharField(required=False, max_length=200, help_text="The id of the last event seen.")


class InputQuery(Query):
    name = serializers.CharField(required=False, max_length=255, help_text="A raw body's file name.")
