from django.urls import path

from portal.pages.review import finding_views, report_views

urlpatterns = [
    path("held/", finding_views.held_versions, name="held"),
]

version_urlpatterns = [
    path("findings/", finding_views.page, name="findings"),
    path("findings/<slug:uid>/suppress/", finding_views.suppress, name="finding-suppress"),
    path("findings/<slug:uid>/unsuppress/", finding_views.unsuppress, name="finding-unsuppress"),
    path("report/", report_views.page, name="version-report"),
    path("reports/<str:uid>/", report_views.decide, name="report-decide"),
    path("release/", finding_views.release, name="version-release"),
]
