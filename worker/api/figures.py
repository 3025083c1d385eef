"""How a skill's runs went."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog
from registry.api import etags, examples
from registry.api.documents import Doc
from registry.api.endpoint import Endpoint
from registry.permissions import Action
from worker.figures import Figures, RunDay, figures

_EXAMPLE = {
    "skill": "docs/summarise",
    "versions": [
        {
            "version": "1.2.0",
            "runs": 40,
            "succeeded": 38,
            "p50_ms": 61.2,
            "p95_ms": 240.7,
            "failure_codes": {"SCRIPT_FAILED": 2},
        }
    ],
    "days": [{"day": "2026-11-20", "succeeded": 3, "failed": 1}],
}


class VersionFiguresDoc(Doc):
    version = serializers.CharField()
    runs = serializers.IntegerField(help_text="Those that have ended.")
    succeeded = serializers.IntegerField()
    p50_ms = serializers.FloatField(allow_null=True, help_text="Without those answered from the cache.")
    p95_ms = serializers.FloatField(allow_null=True)
    failure_codes = serializers.DictField(child=serializers.IntegerField())


class RunDayDoc(Doc):
    day = serializers.DateField(help_text="In UTC.")
    succeeded = serializers.IntegerField()
    failed = serializers.IntegerField(help_text="Ended in any other way.")


class RunFiguresDoc(Doc):
    skill = serializers.CharField()
    versions = VersionFiguresDoc(many=True, help_text="The highest first.")
    days = RunDayDoc(many=True, help_text="Those with a run, the oldest first.")


class RunFigures(Endpoint):
    needs = {"GET": (Action.READ_RUNS, Action.RUN)}
    signed_in = True

    @extend_schema(
        operation_id="get_run_figures",
        summary="How a skill's runs went, by version and day",
        tags=["runs"],
        responses=RunFiguresDoc,
        examples=[examples.answers(_EXAMPLE)],
    )
    def get(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Of the runs of the last 90 days that you may know of, at most the newest 5,000."""
        skill = catalog.find_skill(f"{team}/{slug}", self.actor)
        found = figures(skill, self.actor)
        document = {
            "skill": str(skill),
            "versions": [_version(each) for each in found.versions],
            "days": [_day(each) for each in found.days if each.succeeded or each.failed],
        }
        return etags.document_response(request, document)


def _version(each: Figures) -> dict[str, Any]:
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
