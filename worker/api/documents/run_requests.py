"""Request bodies and query parameters of the run endpoints."""

from rest_framework import serializers

from registry.api.schema import PageQuery, Query, Shape, StrictBoolean, StrictText, UploadQuery
from worker.models import RunStatus


class RunRequest(Shape):
    skill = StrictText(max_length=200, help_text="`team/slug` or `team/slug@version`.")
    version = StrictText(required=False, max_length=64)
    script = StrictText(
        required=False, max_length=500, help_text="Id of the script to run if the skill has several."
    )
    action = StrictText(required=False, max_length=200)
    tool = StrictText(required=False, max_length=200)
    inputs = serializers.JSONField(
        required=False,
        help_text='Object with the inputs. A file is `{"input": id}` or `{"artifact": "run id/path"}`, at '
        "any depth.",
    )
    arguments = serializers.ListField(
        child=serializers.JSONField(allow_null=True),
        required=False,
        help_text="Command line of the script, before the inputs: for example "
        '`["build", "--json", {"input": id}]`.',
    )
    stdin = StrictText(required=False, allow_blank=True, max_length=1_000_000)
    debug = StrictBoolean(default=False, help_text="Sets SKILL_DEBUG=1 for the script.")
    no_cache = StrictBoolean(default=False, help_text="True runs the skill even if a cached result exists.")
    context = serializers.JSONField(  # type: ignore[assignment]
        required=False, help_text="Object that the skill receives as its context."
    )
    team = StrictText(
        required=False,
        max_length=64,
        help_text="Team to run as; default: the token's team, the skill's team if it is yours, "
        "otherwise your oldest team.",
    )
    rerun_of = StrictText(
        required=False,
        max_length=26,
        help_text="Id of the run that this one repeats; files of that run can be used even if they have "
        "expired.",
    )

    def validate_inputs(self, value: object) -> object:
        return an_object(value)

    def validate_context(self, value: object) -> object:
        return an_object(value)


class RerunRequest(Shape):
    inputs = serializers.JSONField(
        required=False, help_text="Object that replaces all inputs; default: the inputs of the run."
    )
    arguments = serializers.ListField(
        child=serializers.JSONField(allow_null=True),
        required=False,
        help_text="List that replaces all arguments; default: the arguments of the run.",
    )
    version = StrictText(
        required=False, max_length=64, help_text="Version number or channel; default: the version of the run."
    )
    no_cache = StrictBoolean(default=False, help_text="True runs the skill even if a cached result exists.")

    def validate_inputs(self, value: object) -> object:
        return an_object(value)


def an_object(value: object) -> object:
    """The value; raises ValidationError unless it is an object."""
    if not isinstance(value, dict):
        raise serializers.ValidationError("must be an object")
    return value


class RunFilterFields(Shape):
    status = serializers.MultipleChoiceField(required=False, choices=RunStatus.choices)
    skill = serializers.CharField(required=False, max_length=130, help_text="`team/slug`.")
    skill_contains = serializers.CharField(
        required=False, max_length=130, help_text="Only runs of skills whose name contains this text."
    )
    version = serializers.CharField(required=False, max_length=64)
    team = serializers.CharField(required=False, max_length=64, help_text="Only runs of this team.")
    failure_code = serializers.CharField(required=False, max_length=64)
    mine = serializers.BooleanField(default=False, help_text="Only runs that you started.")
    caller = serializers.CharField(
        required=False, max_length=150, help_text="Only runs of this user, or of `me`, `agents` or `people`."
    )
    request_id = serializers.CharField(
        required=False, max_length=64, help_text="Only runs with this request id that you can read."
    )
    error_group = serializers.CharField(
        required=False, max_length=26, help_text="Only runs of the error group with this id."
    )
    pinned = serializers.BooleanField(default=False, help_text="Only pinned runs that you can read.")
    label = serializers.CharField(  # type: ignore[assignment]
        required=False, max_length=40, help_text="Only runs with this label that you can read."
    )
    since = serializers.DateTimeField(required=False)
    until = serializers.DateTimeField(required=False)
    ids = serializers.CharField(
        required=False, max_length=4000, help_text="Up to 100 run ids, separated by commas."
    )

    def validate_ids(self, value: str) -> str:
        if len(value.split(",")) > 100:
            raise serializers.ValidationError("must have at most 100 ids")
        return value


class RunsQuery(RunFilterFields, PageQuery):
    pass


class LogQuery(Query):
    attempt = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=1000,
        help_text="Number of the attempt; default: the last attempt.",
    )
    offset = serializers.IntegerField(default=0, min_value=0, max_value=2**31 - 1)
    limit = serializers.IntegerField(
        default=262_144,
        min_value=1,
        max_value=1_048_576,
        help_text="Maximum number of bytes; the server can return up to one chunk more.",
    )


class EventsQuery(Query):
    after = serializers.CharField(
        required=False, max_length=200, help_text="Id of the last event that you received."
    )


class InputQuery(UploadQuery):
    name = serializers.CharField(
        required=False,
        max_length=255,
        help_text="Name of the file; default: the name in the form or of the upload, or `input` for a file "
        "sent as the body.",
    )
