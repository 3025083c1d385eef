from django.urls import path

from registry.review.api.findings import Findings, Held, Release, Suppressions
from registry.review.api.reports import OpenReports, ReportDecision, VersionReports

urlpatterns = [
    path("held", Held.as_view(), name="api-held"),
    path("reports", OpenReports.as_view(), name="api-reports"),
]

version_urlpatterns = [
    path("findings", Findings.as_view(), name="api-findings"),
    path("findings/<str:uid>/suppression", Suppressions.as_view(), name="api-suppression"),
    path("release", Release.as_view(), name="api-release"),
    path("reports", VersionReports.as_view(), name="api-version-reports"),
    path("reports/<str:uid>", ReportDecision.as_view(), name="api-report"),
]
