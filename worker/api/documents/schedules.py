from rest_framework import serializers

from registry.api.documents.skills import Doc, ProblemDoc
from registry.api.schema import PageQuery, Query, Shape, StrictBoolean, StrictText
from worker.api.documents.run_requests import an_object
from worker.models import CatchUpPolicy, FiringState, OverlapPolicy, RunStatus, ScheduleState
from worker.schedules.plan import MAX_CATCH_UP
from worker.schedules.timing import MAX_INTERVAL_S, MAX_JITTER_S


class TimingQuery(Query):
    cron = serializers.CharField(required=False, max_length=200)
    every_s = serializers.IntegerField(required=False, min_value=1, max_value=MAX_INTERVAL_S)
    at = serializers.DateTimeField(required=False)
    time_zone = serializers.CharField(default="UTC", max_length=64)


class ScheduleChange(Shape):
    name = StrictText(
        required=False, max_length=200, help_text="The name of the schedule; default: the name of the skill."
    )
    cron = StrictText(
        required=False,
        max_length=200,
        help_text="Minute, hour, day of month, month, day of week, as in `30 8 * * 1-5`. Exactly one of "
        "`cron`, `every_s` and `at` is required.",
    )
    every_s = serializers.IntegerField(
        required=False, min_value=1, max_value=MAX_INTERVAL_S, help_text="Seconds between runs, at least 60."
    )
    at = serializers.DateTimeField(required=False, help_text="The time of a single run.")
    time_zone = StrictText(
        required=False,
        max_length=64,
        help_text="Time zone of `cron`, such as Asia/Shanghai; by default UTC.",
    )
    jitter_s = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_JITTER_S,
        help_text="Delays each run by up to this many seconds, so that schedules don't start all at once.",
    )
    overlap = serializers.ChoiceField(
        required=False,
        choices=OverlapPolicy.values,
        help_text="When an earlier run has not ended: skip the new run, let it wait, cancel the earlier one, "
        "or run both. Default: skip.",
    )
    catch_up = serializers.ChoiceField(
        required=False,
        choices=CatchUpPolicy.values,
        help_text="The missed runs to start later. Default: none.",
    )
    catch_up_limit = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_CATCH_UP,
        help_text="The maximum number of missed runs that `catch_up: all` starts. Default: 10.",
    )
    version = StrictText(required=False, max_length=64, help_text="Pins the schedule to this version.")
    channel = StrictText(
        required=False, max_length=64, help_text="The channel to follow; default: latest. Not with `version`."
    )
    inputs = serializers.JSONField(
        required=False,
        help_text='Object with the inputs. A file is `{"input": id}` or `{"artifact": "run id/path"}`, at '
        "any depth; the schedule keeps its content.",
    )
    params = serializers.JSONField(required=False, help_text="Same as `inputs`; send only one of them.")
    arguments = serializers.ListField(child=serializers.JSONField(allow_null=True), required=False)
    script = StrictText(required=False, max_length=500)
    action = StrictText(required=False, max_length=200)
    tool = StrictText(required=False, max_length=200)
    stdin = StrictText(required=False, allow_blank=True, max_length=1_000_000)
    debug = StrictBoolean(required=False)
    team = StrictText(required=False, max_length=64, help_text="Team to run as; default: as in `POST /runs`.")
    run_as = StrictText(
        required=False,
        max_length=150,
        help_text="A service account of the team, if you own the team; default: you.",
    )
    token = StrictText(
        required=False, max_length=26, help_text="Id of your token whose scopes and rules the runs get."
    )

    def validate_inputs(self, value: object) -> object:
        return an_object(value)

    def validate_params(self, value: object) -> object:
        return an_object(value)


class ScheduleRequest(ScheduleChange):
    skill = StrictText(required=False, max_length=200, help_text="`team/slug` or `team/slug@version`.")
    agent_role = StrictText(
        required=False,
        max_length=200,
        help_text="The agent's role. Send it with `skill_name` instead of `skill`.",
    )
    skill_name = StrictText(
        required=False, max_length=200, help_text="Name of a skill in the agent's agent.yaml."
    )
    paused = StrictBoolean(default=False, help_text="Creates the schedule paused.")


class PauseRequest(Shape):
    reason = StrictText(required=False, default="", allow_blank=True, max_length=1000)


class SchedulesQuery(PageQuery):
    state = serializers.ChoiceField(required=False, choices=ScheduleState.values)
    skill = serializers.CharField(required=False, max_length=130, help_text="`team/slug`.")
    skill_contains = serializers.CharField(
        required=False, max_length=130, help_text="Only schedules of skills whose name contains this text."
    )
    team = serializers.CharField(required=False, max_length=64)


class FiringsQuery(PageQuery):
    state = serializers.ChoiceField(required=False, choices=FiringState.values)


class ScheduleSummaryDoc(Doc):
    id = serializers.CharField()
    name = serializers.CharField()
    skill = serializers.CharField()
    team = serializers.CharField(allow_null=True)
    state = serializers.ChoiceField(choices=ScheduleState.values)
    cron = serializers.CharField(allow_null=True)
    every_s = serializers.IntegerField(allow_null=True)
    at = serializers.DateTimeField(allow_null=True)
    time_zone = serializers.CharField()
    next_at = serializers.DateTimeField(
        allow_null=True, help_text="The next due time; null unless the schedule is active."
    )
    url = serializers.URLField()
    page_url = serializers.URLField()


class SchedulePauseDoc(Doc):
    at = serializers.DateTimeField()
    by = serializers.CharField(
        allow_null=True, help_text="The user who paused the schedule; null if the site paused it."
    )
    reason = serializers.CharField()
    problem = ProblemDoc(allow_null=True, help_text="The reason why the site paused the schedule.")


class ScheduleFileDoc(Doc):
    place = serializers.CharField(
        help_text="JSON pointer into the inputs, such as `/table_path`, or the position of an argument, such "
        "as `arguments/0`."
    )
    name = serializers.CharField()
    size = serializers.IntegerField(help_text="Bytes.")
    digest = serializers.CharField()
    reference = serializers.DictField(
        child=serializers.CharField(),
        help_text="The reference in the request. A change of this schedule can send it again, even if the "
        "upload has expired.",
    )


class ScheduleDoc(ScheduleSummaryDoc):
    version = serializers.CharField(allow_null=True, help_text="The pinned version.")
    digest = serializers.CharField(allow_null=True)
    channel = serializers.CharField(allow_null=True, help_text="The followed channel.")
    request = serializers.DictField(
        allow_null=True,
        help_text="Inputs, arguments and entry point of the runs; null if you can't read them.",
    )
    files = ScheduleFileDoc(
        many=True,
        allow_null=True,
        help_text="The files that the schedule keeps for its runs; null if you can't read the inputs.",
    )
    jitter_s = serializers.IntegerField()
    overlap = serializers.ChoiceField(choices=OverlapPolicy.values)
    catch_up = serializers.ChoiceField(choices=CatchUpPolicy.values)
    catch_up_limit = serializers.IntegerField()
    run_as = serializers.CharField(allow_null=True)
    token = serializers.CharField(allow_null=True, help_text="Name of the token that the runs use.")
    pause = SchedulePauseDoc(allow_null=True)
    next_runs = serializers.ListField(child=serializers.DateTimeField(), help_text="The next ten due times.")
    created_by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()


class NextRunsDoc(Doc):
    next_runs = serializers.ListField(child=serializers.DateTimeField())


class FiringDoc(Doc):
    due = serializers.DateTimeField()
    last_due = serializers.DateTimeField(help_text="The last due time that this item represents.")
    count = serializers.IntegerField(help_text="The number of due times that this item represents.")
    state = serializers.ChoiceField(choices=FiringState.values)
    late = serializers.BooleanField(help_text="Whether the run started more than two minutes late.")
    fire_at = serializers.DateTimeField(help_text="The due time with its jitter.")
    finished_at = serializers.DateTimeField(allow_null=True)
    run = serializers.CharField(allow_null=True)
    run_status = serializers.ChoiceField(choices=RunStatus.values, allow_null=True)
    problem = ProblemDoc(allow_null=True, help_text="The reason why there is no run.")
