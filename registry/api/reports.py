"""What people say is wrong with versions, for those who decide; to report and to decide needs a session."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog, reporting
from registry.api import etags, examples
from registry.api.documents import Doc, api_address
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.shapes import Shape, StrictBoolean, StrictText, read_body
from registry.models import Report, ReportReason, ReportState, Version
from registry.moments import moment
from registry.permissions import Action

_MOST = 200
_REPORT = {
    "id": "01kajq3s5d8m6v9x2c4b7n1p7r",
    "skill": "docs/summarise",
    "version": "1.2.0",
    "reason": "malicious",
    "text": "It sends the document to a host that it does not name.",
    "by": "bob",
    "at": "2026-11-20T09:30:00.000000Z",
    "state": "open",
    "decided_by": None,
    "decided_at": None,
    "decision": "",
    "kept_out": False,
    "url": "https://skills.example/api/v1/skills/docs/summarise/versions/1.2.0/reports",
}


class ReportDoc(Doc):
    id = serializers.CharField()
    skill = serializers.CharField()
    version = serializers.CharField()
    reason = serializers.ChoiceField(choices=ReportReason.values)
    text = serializers.CharField()
    by = serializers.CharField(allow_null=True)
    at = serializers.DateTimeField()
    state = serializers.ChoiceField(choices=ReportState.values)
    decided_by = serializers.CharField(allow_null=True)
    decided_at = serializers.DateTimeField(allow_null=True)
    decision = serializers.CharField()
    kept_out = serializers.BooleanField(help_text="Whether others than its team are not offered the version.")
    url = serializers.URLField(help_text="All that was reported of the version.")


class ReportListDoc(Doc):
    items = ReportDoc(many=True)


class ReportRequest(Shape):
    reason = serializers.ChoiceField(choices=ReportReason.values)
    text = StrictText(
        required=False,
        allow_blank=True,
        default="",
        max_length=reporting.LONGEST,
        help_text="What is wrong; needed where the reason is `other`.",
    )


class ReportDecided(Shape):
    uphold = StrictBoolean(help_text="True holds the version; false says that nothing is wrong.")
    reason = StrictText(max_length=500)


class _OfVersion(Endpoint):
    def version(self, team: str, slug: str, number: str) -> Version:
        skill = catalog.find_skill(f"{team}/{slug}", self.actor)
        return catalog.find_version(skill, number, self.actor, even_held=True)


class VersionReports(_OfVersion):
    needs = {"GET": (Action.REVIEW,), "POST": (Action.REPORT,)}

    @extend_schema(
        operation_id="list_version_reports",
        summary="What was reported of a version",
        tags=["findings"],
        responses=ReportListDoc,
        examples=[examples.answers({"items": [_REPORT]})],
    )
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """For its reviewers, in a session; the open ones first."""
        rows = reporting.of_version(self.version(team, slug, number), self.actor)[:_MOST]
        return etags.document_response(request, {"items": [report_document(row) for row in rows]})

    @extend_schema(
        operation_id="report_version",
        summary="Report a version",
        tags=["findings"],
        request=ReportRequest,
        responses=ReportDoc,
        examples=[
            examples.asks({"reason": "malicious", "text": _REPORT["text"]}),
            examples.answers(_REPORT),
        ],
    )
    def post(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Once a person until it is decided. What does harm is kept from others than its team meanwhile: at
        once where a reviewer says so, else where as many people do as the site has set."""
        version = self.version(team, slug, number)
        asked = read_body(ReportRequest, request.data)

        def act() -> HttpResponse:
            return etags.document_response(
                request, report_document(reporting.report(version, self.actor, **asked))
            )

        return once(request, asked, act)


class ReportDecision(_OfVersion):
    needs = {"POST": (Action.REVIEW,)}

    @extend_schema(
        operation_id="decide_report",
        summary="Dismiss or uphold a report",
        tags=["findings"],
        request=ReportDecided,
        responses=ReportDoc,
        examples=[
            examples.asks({"uphold": False, "reason": "The host is its own, and named."}),
            examples.answers(
                {**_REPORT, "state": "dismissed", "decision": "The host is its own, and named."}
            ),
        ],
    )
    def post(self, request: Request, team: str, slug: str, number: str, uid: str) -> HttpResponse:
        """For a maintainer other than its publisher or an administrator, in a session. What is upheld is held
        as a scan would hold it."""
        row = reporting.find_report(self.version(team, slug, number), uid, self.actor)
        asked = read_body(ReportDecided, request.data)

        def act() -> HttpResponse:
            verb = reporting.uphold if asked["uphold"] else reporting.dismiss
            decided = verb(row, self.actor, reason=asked["reason"])
            return etags.document_response(request, report_document(decided))

        return once(request, asked, act)


class OpenReports(Endpoint):
    needs = {"GET": (Action.SEE,)}
    signed_in = True

    @extend_schema(
        operation_id="list_open_reports",
        summary="List the reports that wait for your decision",
        tags=["findings"],
        responses=ReportListDoc,
        examples=[examples.answers({"items": [_REPORT]})],
    )
    def get(self, request: Request) -> HttpResponse:
        """Of the teams that you review for, the longest waiting first; at most 200."""
        rows = reporting.open_reports(self.actor)[:_MOST]
        return etags.document_response(request, {"items": [report_document(row) for row in rows]})


def report_document(row: Report) -> dict[str, Any]:
    version = row.version
    return {
        "id": row.uid,
        "skill": str(version.skill),
        "version": version.number,
        "reason": row.reason,
        "text": row.text,
        "by": row.by.username if row.by else None,
        "at": moment(row.at),
        "state": row.state,
        "decided_by": row.decided_by.username if row.decided_by else None,
        "decided_at": moment(row.decided_at),
        "decision": row.decision,
        "kept_out": version.reported_at is not None,
        "url": api_address("skills", *str(version.skill).split("/"), "versions", version.number, "reports"),
    }
