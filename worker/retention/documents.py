"""Request bodies and documents of retention policies and previews in the API."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rest_framework import serializers

from registry.api.documents.skills import Doc
from registry.api.schema import Shape
from registry.core.time import rfc3339
from registry.models import Team
from worker.models import RetentionPass, RunStatus
from worker.retention import remove
from worker.retention.policies import effective_policy, policy_of
from worker.retention.preview import Preview


def _number(help_text: str) -> serializers.IntegerField:
    return serializers.IntegerField(required=False, allow_null=True, help_text=help_text)


class RetentionPolicyRequest(Shape):
    succeeded_days = _number(
        "Days after which succeeded runs are removed; null, here and in the other fields, means never."
    )
    failed_days = _number("Days after which failed, timed out and lost runs are removed.")
    other_days = _number("Days after which cancelled and refused runs are removed.")
    artifact_days = _number("Days after which artifacts are removed; the run stays.")
    log_days = _number("Days after which logs are removed; the run stays.")
    artifact_bytes = _number("Maximum size of a team's artifacts. The oldest ones are removed first.")
    keep_last = _number("Number of newest runs per skill and team that are always kept.")


class RetentionPassDoc(Doc):
    started_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(
        allow_null=True, help_text="When the removal ended; null while it is running."
    )
    runs = serializers.IntegerField(help_text="Number of removed runs.")
    artifacts = serializers.IntegerField(help_text="Number of runs that lost only their artifacts.")
    logs = serializers.IntegerField(help_text="Number of runs that lost only their log.")
    bytes = serializers.IntegerField(help_text="Size of the removed artifacts and logs, in bytes.")


class RetentionDoc(Doc):
    team = serializers.CharField(allow_null=True, help_text="The team; null for the site's policy.")
    own = RetentionPolicyRequest(help_text="The policy of the team, or of the site.")
    effective = RetentionPolicyRequest(
        help_text="The policy in effect: for each value, the smaller of the two policies."
    )
    last_pass = RetentionPassDoc(
        allow_null=True,
        help_text="The site's last removal of old runs; null for a team and before the first removal.",
    )


class RetentionPreviewRowDoc(Doc):
    skill = serializers.CharField()
    status = serializers.ChoiceField(choices=RunStatus.values)
    runs = serializers.IntegerField()
    bytes = serializers.IntegerField(help_text="Size of the run's artifacts and logs, in bytes.")


class RetentionPreviewDoc(Doc):
    runs = serializers.IntegerField(help_text="Number of runs that would be removed, including child runs.")
    bytes = serializers.IntegerField(
        help_text="Size of the artifacts and logs that would be removed, in bytes."
    )
    artifact_runs = serializers.IntegerField(help_text="Number of runs that would lose only their artifacts.")
    artifact_bytes = serializers.IntegerField()
    log_runs = serializers.IntegerField(help_text="Number of runs that would lose only their log.")
    log_bytes = serializers.IntegerField()
    oldest = serializers.DateTimeField(
        allow_null=True, help_text="When the oldest run that would be removed ended."
    )
    newest = serializers.DateTimeField(allow_null=True)
    samples = serializers.ListField(
        child=serializers.CharField(), help_text="Ids of the oldest runs that would be removed."
    )
    complete = serializers.BooleanField(help_text="False if there are more runs than the preview counts.")
    rows = RetentionPreviewRowDoc(many=True)


def retention_document(team: Team | None) -> dict[str, Any]:
    own = policy_of(team)
    done = remove.last_pass() if team is None else None
    return {
        "team": team.slug if team else None,
        "own": asdict(own),
        "effective": asdict(effective_policy(policy_of(None), own) if team else own),
        "last_pass": _pass_document(done) if done and done.started_at else None,
    }


def _pass_document(done: RetentionPass) -> dict[str, Any]:
    return {
        "started_at": rfc3339(done.started_at),
        "finished_at": rfc3339(done.finished_at),
        "runs": done.runs,
        "artifacts": done.artifacts,
        "logs": done.logs,
        "bytes": done.bytes,
    }


def preview_document(found: Preview) -> dict[str, Any]:
    return {
        "runs": found.runs,
        "bytes": found.bytes,
        "artifact_runs": found.artifact_runs,
        "artifact_bytes": found.artifact_bytes,
        "log_runs": found.log_runs,
        "log_bytes": found.log_bytes,
        "oldest": rfc3339(found.oldest),
        "newest": rfc3339(found.newest),
        "samples": found.samples,
        "complete": found.is_complete,
        "rows": [asdict(row) for row in found.rows],
    }
