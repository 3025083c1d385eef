"""The endpoint of a skill's run statistics."""

from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import Doc
from registry.api.endpoint import SkillEndpoint
from registry.api.schema import Operations
from registry.identity.permissions import Action
from worker.run_views.statistics import RunDay, VersionStatistics, skill_statistics

operation = Operations("runs")


class VersionStatisticsDoc(Doc):
    version = serializers.CharField()
    runs = serializers.IntegerField(help_text="Runs that have ended.")
    succeeded = serializers.IntegerField()
    p50_ms = serializers.FloatField(
        allow_null=True, help_text="Median duration, without runs that were answered from the cache."
    )
    p95_ms = serializers.FloatField(allow_null=True)
    failure_codes = serializers.DictField(child=serializers.IntegerField())


class RunDayStatisticsDoc(Doc):
    day = serializers.DateField(help_text="The day in UTC.")
    succeeded = serializers.IntegerField()
    failed = serializers.IntegerField(help_text="Runs that ended with a status other than `succeeded`.")


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
        """Counts the newest 5,000 ended runs of the last 90 days that you can see."""
        skill = self.skill(team, slug)
        current = skill_statistics(skill, self.actor)
        document = {
            "skill": str(skill),
            "versions": [_version(each) for each in current.versions],
            "days": [_day(each) for each in current.days if each.succeeded or each.failed],
        }
        return etag.document_response(request, document)


def _version(each: VersionStatistics) -> dict[str, Any]:
    return {
        "version": each.version,
        "runs": each.runs,
        "succeeded": each.succeeded,
        "p50_ms": each.p50_ms,
        "p95_ms": each.p95_ms,
        "failure_codes": dict(each.codes),
    }


def _day(each: RunDay) -> dict[str, Any]:
    return {"day": each.day.isoformat(), "succeeded": each.succeeded, "failed": each.failed}
