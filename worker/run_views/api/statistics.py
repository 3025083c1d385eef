from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import Doc
from registry.api.endpoint import SkillEndpoint
from registry.api.schema import Operations
from registry.identity.permissions import Action
from worker.daily_runs.run_counts import RunCounts
from worker.failures.groups import TopGroup, top_groups
from worker.run_views.statistics import RunDay, VersionStatistics, skill_statistics

operation = Operations("runs")
_FAILED = "Failed, timed out and lost runs."
_RATE = "Percentage of `succeeded` in the sum of `succeeded` and `failed`; null if that sum is 0."


class TopErrorGroupDoc(Doc):
    id = serializers.CharField()
    title = serializers.CharField(help_text="The cause, or the failure code if you can't read the cause.")
    failures = serializers.IntegerField()


class VersionStatisticsDoc(Doc):
    version = serializers.CharField()
    runs = serializers.IntegerField(help_text="Number of ended runs.")
    succeeded = serializers.IntegerField()
    failed = serializers.IntegerField(help_text=_FAILED)
    cancelled = serializers.IntegerField()
    refused = serializers.IntegerField()
    success_rate = serializers.IntegerField(allow_null=True, help_text=_RATE)
    p50_ms = serializers.FloatField(
        allow_null=True, help_text="Median duration of runs in milliseconds, without cached results."
    )
    p95_ms = serializers.FloatField(allow_null=True)
    peak_cpu_ms = serializers.IntegerField(help_text="Highest CPU time of one run; 0 if unknown.")
    peak_memory = serializers.IntegerField(
        help_text="Largest resident memory of one process, in bytes; 0 if unknown."
    )
    worse_than = serializers.CharField(
        allow_null=True,
        help_text=(
            "The previous version, if this version fails significantly more often (Fisher's exact "
            "test, 1 %, at least 20 runs of each); otherwise null."
        ),
    )
    failure_codes = serializers.DictField(child=serializers.IntegerField())
    error_groups = TopErrorGroupDoc(
        many=True,
        help_text=(
            "The three error groups with the most failures of all time, among the 300 groups of the skill "
            "that failed last."
        ),
    )


class RunDayStatisticsDoc(Doc):
    day = serializers.DateField(help_text="The day in UTC.")
    runs = serializers.IntegerField(help_text="Number of ended runs.")
    succeeded = serializers.IntegerField()
    failed = serializers.IntegerField(help_text=_FAILED)
    cancelled = serializers.IntegerField()
    refused = serializers.IntegerField()
    success_rate = serializers.IntegerField(allow_null=True, help_text=_RATE)


class RunStatisticsDoc(Doc):
    skill = serializers.CharField()
    versions = VersionStatisticsDoc(many=True, help_text="Highest version first.")
    days = RunDayStatisticsDoc(many=True, help_text="Days with runs, oldest first.")


class RunStatistics(SkillEndpoint):
    required_actions = {"GET": (Action.READ_RUNS, Action.RUN)}
    requires_sign_in = True

    @operation(
        "get_run_statistics", "Get a skill's run statistics by version and day", answer=RunStatisticsDoc
    )
    def get(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Counts the ended runs of the last 90 days that you can see, except runs of test cases."""
        skill = self.skill(team, slug)
        current, groups = skill_statistics(skill, self.actor), top_groups(skill, self.actor)
        document = {
            "skill": str(skill),
            "versions": [_version(each, groups.get(each.version, ())) for each in current.versions],
            "days": [_day(each) for each in current.days if each.counts.runs],
        }
        return etag.document_response(request, document)


def _version(each: VersionStatistics, groups: Sequence[TopGroup]) -> dict[str, Any]:
    return {
        "version": each.version,
        **_counts(each.counts),
        "peak_cpu_ms": each.peak_cpu_ms,
        "peak_memory": each.peak_memory,
        "worse_than": each.worse_than or None,
        "p50_ms": each.p50_ms,
        "p95_ms": each.p95_ms,
        "failure_codes": dict(each.codes),
        "error_groups": [
            {"id": group.uid, "title": group.title, "failures": group.count} for group in groups
        ],
    }


def _day(each: RunDay) -> dict[str, Any]:
    return {"day": each.day.isoformat(), **_counts(each.counts)}


def _counts(counts: RunCounts) -> dict[str, int | None]:
    return {
        "runs": counts.runs,
        "succeeded": counts.succeeded,
        "failed": counts.failed,
        "cancelled": counts.cancelled,
        "refused": counts.refused,
        "success_rate": counts.success_rate,
    }
