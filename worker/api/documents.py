"""Runs and inputs as the JSON objects of the API, and their shapes for its documentation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from registry.api.documents import Doc, ProblemDoc, api_address
from registry.moments import moment
from worker.dependencies.waiting import Wait
from worker.models import Artifact, InputFile, PreparationKind, Run, Status


def run_summary(run: Run, *, readable: bool, waits: Sequence[Wait] = ()) -> dict[str, Any]:
    """A row of the list; who may not read the run's content learns status, code and times."""
    seen = {
        "id": run.uid,
        "skill": run.skill_label,
        "version": run.version_number,
        "digest": run.digest,
        "status": run.status,
        "failure_code": run.failure_code,
        "attempt": run.attempt,
        "duration_ms": _duration_ms(run),
        "created_at": moment(run.created_at),
        "started_at": moment(run.started_at),
        "finished_at": moment(run.finished_at),
        "readable": readable,
        "url": api_address("runs", run.uid),
    }
    content = _content(run, waits)
    return seen | content if readable else seen | dict.fromkeys(content)


def _content(run: Run, waits: Sequence[Wait]) -> dict[str, Any]:
    return {
        "team": run.team.slug if run.team else None,
        "caller": run.caller.username if run.caller else None,
        "protocol": run.protocol,
        "entry": run.entry,
        "progress": run.progress,
        "message": run.message,
        "request_id": run.request_id,
        "waits_for": [each.document() for each in waits],
    }


def _duration_ms(run: Run) -> float | None:
    if run.started_at is None or run.finished_at is None:
        return None
    return round((run.finished_at - run.started_at).total_seconds() * 1000, 3)


def artifact_document(run: Run, artifact: Artifact) -> dict[str, Any]:
    return {
        "path": artifact.path,
        "size": artifact.size,
        "digest": artifact.digest,
        "url": api_address("runs", run.uid, "artifacts", artifact.path),
    }


def input_document(file: InputFile) -> dict[str, Any]:
    return {
        "id": file.uid,
        "name": file.name,
        "size": file.size,
        "digest": file.digest,
        "created_at": moment(file.created_at),
        "expires_at": moment(file.expires_at),
        "use_as": {"input": file.uid},
    }


class ArtifactDoc(Doc):
    path = serializers.CharField()
    size = serializers.IntegerField()
    digest = serializers.CharField()
    url = serializers.URLField()


class ArtifactsDoc(Doc):
    items = ArtifactDoc(many=True)


class WaitDoc(Doc):
    """Dependencies that are not ready; `seconds` since the making began, or since it was asked for."""

    kind = serializers.ChoiceField(choices=PreparationKind.values)
    state = serializers.ChoiceField(choices=["waiting", "running", "failed"])
    asks = serializers.ListField(child=serializers.CharField())
    since = serializers.DateTimeField()
    seconds = serializers.FloatField()
    problem = ProblemDoc(allow_null=True)


class RunSummaryDoc(Doc):
    id = serializers.CharField()
    skill = serializers.CharField()
    version = serializers.CharField()
    digest = serializers.CharField()
    status = serializers.ChoiceField(choices=Status.values)
    failure_code = serializers.CharField(allow_blank=True)
    attempt = serializers.IntegerField()
    duration_ms = serializers.FloatField(allow_null=True)
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    readable = serializers.BooleanField(help_text="False: the fields from team on are null.")
    team = serializers.CharField(allow_null=True)
    caller = serializers.CharField(allow_null=True)
    protocol = serializers.CharField(allow_null=True)
    entry = serializers.CharField(allow_null=True)
    progress = serializers.IntegerField(allow_null=True)
    message = serializers.CharField(allow_null=True)
    request_id = serializers.CharField(allow_null=True)
    waits_for = WaitDoc(many=True, allow_null=True)
    url = serializers.URLField()


class RunDoc(Doc):
    """A run and, for who may read it, everything that came of it; `status` tells when it has ended."""

    id = serializers.CharField()
    skill = serializers.CharField()
    version = serializers.CharField()
    digest = serializers.CharField()
    status = serializers.ChoiceField(choices=Status.values)
    failure_code = serializers.CharField(allow_blank=True)
    protocol = serializers.CharField(required=False)
    success = serializers.BooleanField(required=False, allow_null=True)
    outputs = serializers.DictField(required=False, allow_null=True, help_text="Of a plain script.")
    output = serializers.JSONField(required=False, allow_null=True, help_text="Of every other protocol.")
    format = serializers.CharField(
        required=False, allow_null=True, help_text="What the skill says of output."
    )
    answer = serializers.DictField(
        required=False, allow_null=True, help_text="The whole answer, of skills on stdin and of tools."
    )
    metadata = serializers.DictField(
        required=False, allow_null=True, help_text="Such as `{execution_time_ms, items_count}`."
    )
    token_usage = serializers.IntegerField(required=False, allow_null=True)
    message = serializers.CharField(required=False, allow_null=True)
    error = serializers.DictField(required=False, allow_null=True, help_text="`{code, message, details}`.")
    warnings = serializers.ListField(required=False, allow_null=True)
    stdout = serializers.CharField(required=False, allow_null=True)
    stderr = serializers.CharField(required=False, allow_null=True)
    steps = serializers.ListField(child=serializers.DictField(), required=False, allow_null=True)
    artifacts = ArtifactDoc(many=True, required=False, allow_null=True)
    memory_writes = serializers.ListField(required=False, allow_null=True)
    messages = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        allow_null=True,
        help_text="Of a prompt: `{role, content}`.",
    )
    context = serializers.DictField(  # type: ignore[assignment]
        required=False, allow_null=True, help_text="What they change: `{allowedTools, model, effort}`."
    )
    cached = serializers.BooleanField(required=False, allow_null=True)
    cached_from = serializers.CharField(
        required=False,
        allow_null=True,
        help_text="The run whose stored answer this is, where you may see it.",
    )
    parent = serializers.CharField(  # type: ignore[assignment]
        required=False, allow_null=True, help_text="The run that started it."
    )
    children = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="The runs that it started."
    )
    attempt = serializers.IntegerField(required=False)
    duration_ms = serializers.FloatField(required=False, allow_null=True)
    sandbox = serializers.DictField(required=False, allow_null=True)
    network = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="Hosts that it asked for: `{host, port, allowed, why, count, message, remedy}`.",
    )
    permission = serializers.DictField(
        required=False,
        allow_null=True,
        help_text="What let it run: `{by: rule｜canonical｜safe｜person｜approval, rule, name}`.",
    )
    waits_for = WaitDoc(many=True, required=False, help_text="Before its script starts.")
    approval = serializers.DictField(
        required=False,
        allow_null=True,
        help_text="Of a run that somebody has to let: `{standing, page, expires_at, asks, new, exact, …}`.",
    )
    erased_at = serializers.DateTimeField(allow_null=True, help_text="When its content was erased.")


class PieceDoc(Doc):
    stream = serializers.ChoiceField(choices=["stdout", "stderr"])
    offset = serializers.IntegerField(help_text="Bytes of the attempt's log before it, both streams.")
    text = serializers.CharField()


class LogDoc(Doc):
    attempt = serializers.IntegerField()
    offset = serializers.IntegerField()
    pieces = PieceDoc(many=True)
    next_offset = serializers.IntegerField(help_text="Ask on from here until `ended`.")
    ended = serializers.BooleanField()


class InputDoc(Doc):
    id = serializers.CharField()
    name = serializers.CharField()
    size = serializers.IntegerField()
    digest = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(help_text="Swept then, unless a run holds it.")
    use_as = serializers.DictField(help_text="What to write in a run's inputs.")
