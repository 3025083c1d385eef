from django.urls import path

from worker.run_views.api.compare import CompareRuns
from worker.run_views.api.observed import VersionObservedPermissions
from worker.run_views.api.statistics import RunStatistics

urlpatterns = [
    path("runs/<str:uid>/compare/<str:other>", CompareRuns.as_view(), name="api-compare-runs"),
]

skill_urlpatterns = [
    path("statistics", RunStatistics.as_view(), name="api-run-statistics"),
]

version_urlpatterns = [
    path("observed-permissions", VersionObservedPermissions.as_view(), name="api-observed-permissions"),
]
