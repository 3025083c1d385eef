"""Endpoints that report versions, and list and decide these reports."""

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import AddressField, Doc
from registry.api.endpoint import Endpoint, SkillEndpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, Shape, StrictBoolean, StrictText, read_body
from registry.identity.permissions import Action
from registry.models import ReportReason, ReportState
from registry.review import reports

operation = Operations("findings")
_MAX_REPORTS = 200


class ReportDoc(Doc):
    id = serializers.CharField(source="uid")
    skill = serializers.CharField(source="version.skill")
    version = serializers.CharField(source="version.number")
    reason = serializers.ChoiceField(choices=ReportReason.values)
    text = serializers.CharField()
    created_by = serializers.CharField(source="by.username", allow_null=True)
    created_at = serializers.DateTimeField(source="at")
    state = serializers.ChoiceField(choices=ReportState.values)
    decided_by = serializers.CharField(source="decided_by.username", allow_null=True)
    decided_at = serializers.DateTimeField(allow_null=True)
    decision = serializers.CharField()
    excluded = serializers.BooleanField(
        source="version.is_excluded",
        help_text="Whether search, match and listings hide the version from other teams.",
    )
    url = AddressField(
        "/api/v1/skills/{0.skill}/versions/{0.number}/reports",
        source="version",
        help_text="The URL of all reports on the version.",
    )


class ReportsDoc(Doc):
    items = ReportDoc(many=True)


class ReportRequest(Shape):
    reason = serializers.ChoiceField(choices=ReportReason.values)
    text = StrictText(
        required=False,
        allow_blank=True,
        default="",
        max_length=reports.MAX_TEXT_CHARS,
        help_text="A description of the problem; required if the reason is `other`.",
    )


class ReportDecisionRequest(Shape):
    uphold = StrictBoolean(
        help_text="True upholds the report and holds the version; false dismisses the report."
    )
    reason = StrictText(max_length=500)


class VersionReports(SkillEndpoint):
    required_actions = {"GET": (Action.REVIEW,), "POST": (Action.REPORT,)}

    @operation("list_version_reports", "List a version's reports", answer=ReportsDoc)
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Lists up to 200 reports on the version, open ones first. Requires the maintainer role or
        administrator rights, and a session.
        """
        rows = reports.list_reports(self.version(team, slug, number), self.actor)[:_MAX_REPORTS]
        return etag.document_response(request, {"items": [ReportDoc.document(row) for row in rows]})

    @operation("report_version", "Report a version", body=ReportRequest, answer=ReportDoc)
    @idempotent()
    def post(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Reports a version. You can have one open report per version. A version reported as malicious is
        hidden from other teams until a reviewer decides: at once if a reviewer reports it, otherwise after
        the number of reports that the site requires. Requires a session, or a token with the scope
        `publish`.
        """
        version = self.version(team, slug, number)
        body = read_body(ReportRequest, request.data)
        return etag.document_response(
            request, ReportDoc.document(reports.report_version(version, self.actor, **body))
        )


class ReportDecision(SkillEndpoint):
    required_actions = {"POST": (Action.REVIEW,)}

    @operation("decide_report", "Dismiss or uphold a report", body=ReportDecisionRequest, answer=ReportDoc)
    @idempotent()
    def post(self, request: Request, team: str, slug: str, number: str, uid: str) -> HttpResponse:
        """Upholds or dismisses the report. Upholding holds the version. Only administrators can decide on a
        version that they published. Requires the maintainer role or administrator rights, and a session.
        """
        row = reports.find_report(self.version(team, slug, number), uid, self.actor)
        body = read_body(ReportDecisionRequest, request.data)
        verb = reports.uphold_report if body["uphold"] else reports.dismiss_report
        decided = verb(row, self.actor, reason=body["reason"])
        return etag.document_response(request, ReportDoc.document(decided))


class OpenReports(Endpoint):
    required_actions = {"GET": (Action.SEE,)}
    requires_sign_in = True

    @operation("list_open_reports", "List reports awaiting your decision", answer=ReportsDoc)
    def get(self, request: Request) -> HttpResponse:
        """Lists up to 200 open reports of the teams that you review for, oldest first. A token gets an
        empty list.
        """
        rows = reports.list_open_reports(self.actor)[:_MAX_REPORTS]
        return etag.document_response(request, {"items": [ReportDoc.document(row) for row in rows]})
