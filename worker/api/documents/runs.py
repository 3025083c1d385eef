"""API documents of runs and their input files."""

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from registry.api.documents.skills import Doc, ProblemDoc, api_url
from registry.core.time import rfc3339
from worker.dependencies.waits import DependencyWait
from worker.models import DependencyKind, InputFile, Run, RunStatus, StepKind
from worker.run_views.cause import cause_document

_OPTIONAL: dict[str, Any] = {"required": False, "allow_null": True}


def run_summary(
    run: Run, *, readable: bool, waits: Sequence[DependencyWait] = (), labels: Sequence[str] = ()
) -> dict[str, Any]:
    """The API document of a run in a list. The fields with its content are null unless ``readable``."""
    seen = {
        "id": run.uid,
        "number": run.number or None,
        "skill": run.skill_label,
        "version": run.version_number,
        "digest": run.digest,
        "status": run.status,
        "failure_code": run.failure_code,
        "attempt": run.attempt,
        "duration_ms": run.duration_ms,
        "created_at": rfc3339(run.created_at),
        "started_at": rfc3339(run.started_at),
        "finished_at": rfc3339(run.finished_at),
        "readable": readable,
        "url": api_url("runs", run.uid),
    }
    content = _content(run, waits) | {"pinned_at": rfc3339(run.pinned_at), "labels": list(labels)}
    return seen | content if readable else seen | dict.fromkeys(content)


def _content(run: Run, waits: Sequence[DependencyWait]) -> dict[str, Any]:
    return {
        "team": run.team.slug if run.team else None,
        "caller": run.caller.username if run.caller else None,
        "protocol": run.protocol,
        "entry": run.entry,
        "case": run.case_name or None,
        "progress": run.progress,
        "message": run.message,
        "cause": cause_document(run),
        "request_id": run.request_id,
        "waiting_for": [each.document() for each in waits],
    }


def input_document(file: InputFile) -> dict[str, Any]:
    return {
        "id": file.uid,
        "name": file.name,
        "size": file.size,
        "digest": file.digest,
        "created_at": rfc3339(file.created_at),
        "expires_at": rfc3339(file.expires_at),
        "reference": {"input": file.uid},
    }


class ArtifactDoc(Doc):
    path = serializers.CharField()
    size = serializers.IntegerField()
    digest = serializers.CharField()
    url = serializers.URLField()


class ArtifactsDoc(Doc):
    items = ArtifactDoc(many=True)


class PendingDependencyDoc(Doc):
    """Dependencies of one kind that a run waits for. `since` is the time at which a running build started;
    otherwise the time at which the build was requested.
    """

    kind = serializers.ChoiceField(choices=DependencyKind.values)
    state = serializers.ChoiceField(choices=["waiting", "running", "failed"])
    requirements = serializers.ListField(child=serializers.CharField())
    since = serializers.DateTimeField()
    waiting_seconds = serializers.FloatField()
    problem = ProblemDoc(allow_null=True)


def _run_number() -> serializers.IntegerField:
    help_text = "Number of the run within the skill, as in “Run #12”; a rename does not restart the numbers."
    return serializers.IntegerField(allow_null=True, help_text=help_text)


class CauseDoc(Doc):
    """The cause of a failed run: the script's exception, or a failure code with its message."""

    type = serializers.CharField(
        help_text='The exception type, such as `ValueError`, or the failure code; "" if unknown.'
    )
    message = serializers.CharField(help_text="The error message, at most 500 characters.")
    file = serializers.CharField(help_text='Path in the package; "" if unknown.')
    line = serializers.IntegerField(allow_null=True)
    remedy = serializers.CharField(help_text='How to fix the problem; "" for a code that the skill defines.')


class RunSummaryDoc(Doc):
    id = serializers.CharField()
    number = _run_number()
    skill = serializers.CharField()
    version = serializers.CharField()
    digest = serializers.CharField()
    status = serializers.ChoiceField(choices=RunStatus.values)
    failure_code = serializers.CharField(allow_blank=True)
    attempt = serializers.IntegerField()
    duration_ms = serializers.FloatField(allow_null=True)
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    readable = serializers.BooleanField(
        help_text="False if you can't read the run's content; the fields of the content are then null."
    )
    team = serializers.CharField(allow_null=True)
    caller = serializers.CharField(allow_null=True)
    protocol = serializers.CharField(allow_null=True)
    entry = serializers.CharField(allow_null=True)
    case = serializers.CharField(
        allow_null=True, help_text="Name of the package's case that the run executes."
    )
    progress = serializers.IntegerField(allow_null=True)
    message = serializers.CharField(allow_null=True)
    cause = CauseDoc(
        allow_null=True, help_text="Why the run failed; null unless it failed and you can read the content."
    )
    request_id = serializers.CharField(allow_null=True)
    waiting_for = PendingDependencyDoc(many=True, allow_null=True)
    pinned_at = serializers.DateTimeField(allow_null=True)
    labels = serializers.ListField(child=serializers.CharField(), allow_null=True)
    url = serializers.URLField()


class StepDoc(Doc):
    """A step of the platform or of the skill."""

    seq = serializers.IntegerField(help_text="Position in the run, from 0.")
    step_id = serializers.CharField(
        allow_blank=True,
        help_text='The id as reported by the skill, otherwise its number; "" for platform steps.',
    )
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=["platform", *StepKind.values])
    status = serializers.ChoiceField(choices=["running", "succeeded", "failed"])
    timestamp = serializers.FloatField(
        allow_null=True, help_text="The start time in milliseconds since 1970 (UTC)."
    )
    duration_ms = serializers.FloatField(allow_null=True)
    error = serializers.DictField(allow_null=True, help_text="`{name, message, stack}`.")
    input = serializers.JSONField(allow_null=True)
    output = serializers.JSONField(allow_null=True)
    child = serializers.CharField(allow_null=True, help_text="Run that the step started.")


class RunDoc(Doc):
    """A run, with its content if you can read it; `status` shows whether it has ended."""

    id = serializers.CharField()
    number = _run_number()
    skill = serializers.CharField()
    version = serializers.CharField()
    digest = serializers.CharField()
    url = serializers.URLField()
    team = serializers.CharField(**_OPTIONAL, help_text="Team that the run belongs to.")
    caller = serializers.CharField(**_OPTIONAL, help_text="User who started the run.")
    status = serializers.ChoiceField(choices=RunStatus.values)
    failure_code = serializers.CharField(allow_blank=True)
    protocol = serializers.CharField(required=False)
    entry = serializers.CharField(required=False, help_text="Path of the script, or URL of the service.")
    case = serializers.CharField(**_OPTIONAL, help_text="Name of the package's case that the run executes.")
    request_id = serializers.CharField(
        required=False, help_text="The `request_id` that the caller sent in `context`."
    )
    inputs = serializers.DictField(required=False, help_text="Inputs as sent; files are references.")
    arguments = serializers.ListField(
        child=serializers.JSONField(), required=False, help_text="Arguments as sent; files are references."
    )
    success = serializers.BooleanField(**_OPTIONAL)
    outputs = serializers.DictField(
        **_OPTIONAL, help_text="Result of the run if the script uses the `script` protocol."
    )
    output = serializers.JSONField(
        **_OPTIONAL, help_text="Result of the run, unless the script uses the `script` protocol."
    )
    format = serializers.CharField(**_OPTIONAL, help_text="Format of `output`, as declared by the skill.")
    answer = serializers.DictField(
        **_OPTIONAL,
        help_text="The complete answer of a tool, or of a skill that uses the JSON stdin protocol.",
    )
    metadata = serializers.DictField(
        **_OPTIONAL, help_text="Metadata that the skill reported, such as `{items_count}`."
    )
    token_usage = serializers.IntegerField(**_OPTIONAL)
    message = serializers.CharField(**_OPTIONAL)
    error = serializers.DictField(**_OPTIONAL, help_text="`{code, message, details}`.")
    cause = CauseDoc(**_OPTIONAL, help_text="Why the run failed; null unless it failed.")
    warnings = serializers.ListField(**_OPTIONAL)
    stdout = serializers.CharField(**_OPTIONAL)
    stderr = serializers.CharField(**_OPTIONAL)
    steps = StepDoc(many=True, **_OPTIONAL)
    artifacts = ArtifactDoc(many=True, **_OPTIONAL)
    memory_writes = serializers.ListField(**_OPTIONAL)
    messages = serializers.ListField(
        child=serializers.DictField(), **_OPTIONAL, help_text="Messages of a prompt: `{role, content}`."
    )
    context = serializers.DictField(  # type: ignore[assignment]
        **_OPTIONAL, help_text="Settings that a prompt changes: `{allowedTools, model, effort}`."
    )
    cached = serializers.BooleanField(**_OPTIONAL)
    cached_from = serializers.CharField(
        **_OPTIONAL, help_text="Run that this cached result comes from, if you can read it."
    )
    rerun_of = serializers.CharField(**_OPTIONAL, help_text="Run that this one repeats, if you can read it.")
    parent = serializers.CharField(  # type: ignore[assignment]
        **_OPTIONAL, help_text="Run that started this one, if you can read it."
    )
    children = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Runs that this one started, if you can read them.",
    )
    attempt = serializers.IntegerField(required=False)
    progress = serializers.IntegerField(**_OPTIONAL, help_text="The progress in percent.")
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    duration_ms = serializers.FloatField(**_OPTIONAL)
    sandbox = serializers.DictField(
        **_OPTIONAL,
        help_text="`{tier, enforcement, interpreter, programs, cpu_ms, peak_memory}`: also the version of "
        "the script's interpreter, the system whose programs it can call, the CPU time of all its processes, "
        "and the largest resident memory of one of them, in bytes.",
    )
    network = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="Hosts that the run tried to reach: `{host, port, allowed, code, count, message, remedy}`.",
    )
    permission = serializers.DictField(
        **_OPTIONAL,
        help_text="Why the run was allowed: `{basis: rule｜canonical｜safe｜person｜approval, rule, name}`.",
    )
    waiting_for = PendingDependencyDoc(
        many=True, required=False, help_text="Dependencies to build before the script starts."
    )
    approval = serializers.DictField(
        **_OPTIONAL,
        help_text="Approval request of the run: `{state, page_url, expires_at, requested_permissions, …}`.",
    )
    readable = serializers.BooleanField(
        help_text="False if you can't read the run's content; the fields of the content are then missing."
    )
    erased_at = serializers.DateTimeField(
        allow_null=True, help_text="The time at which the content was erased."
    )
    pinned_at = serializers.DateTimeField(
        **_OPTIONAL, help_text="The time of pinning; retention keeps pinned runs."
    )
    labels = serializers.ListField(child=serializers.CharField(), required=False)


class LogChunkDoc(Doc):
    stream = serializers.ChoiceField(choices=["stdout", "stderr"])
    offset = serializers.IntegerField(help_text="Byte offset in the attempt's log, over both streams.")
    text = serializers.CharField()


class LogDoc(Doc):
    attempt = serializers.IntegerField()
    offset = serializers.IntegerField()
    chunks = LogChunkDoc(many=True)
    next_offset = serializers.IntegerField(help_text="Offset for the next request, until `ended` is true.")
    ended = serializers.BooleanField()


class InputDoc(Doc):
    id = serializers.CharField()
    name = serializers.CharField()
    size = serializers.IntegerField()
    digest = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(
        help_text="When the file is deleted; runs that use it keep a copy."
    )
    reference = serializers.DictField(help_text="Value for a run's inputs or arguments.")
