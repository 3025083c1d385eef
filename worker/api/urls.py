"""Routes of the worker's API, collected from its feature packages."""

from django.urls import URLPattern, URLResolver, include, path

from worker.annotations import urls as annotations
from worker.approvals import urls as approvals
from worker.cases import urls as cases
from worker.delivery import urls as delivery
from worker.dependencies import urls as dependencies
from worker.failures import urls as failures
from worker.files import urls as files
from worker.memory import urls as memory
from worker.quotas import urls as quotas
from worker.retention import urls as retention
from worker.run_batches import urls as run_batches
from worker.run_views import urls as run_views
from worker.runs import urls as runs
from worker.saved_views import urls as saved_views
from worker.schedules import urls as schedules
from worker.sharing import urls as sharing

urlpatterns: list[URLPattern | URLResolver] = [
    *annotations.urlpatterns,
    *approvals.urlpatterns,
    *delivery.urlpatterns,
    *failures.urlpatterns,
    *files.urlpatterns,
    *memory.urlpatterns,
    *retention.urlpatterns,
    *run_views.urlpatterns,
    *runs.urlpatterns,
    *run_batches.urlpatterns,
    *saved_views.urlpatterns,
    *schedules.urlpatterns,
    *sharing.urlpatterns,
    path("teams/<str:team>/", include(quotas.team_urlpatterns)),
    path("teams/<str:team>/", include(retention.team_urlpatterns)),
    path("skills/<str:team>/<str:slug>/", include(run_views.skill_urlpatterns)),
    path("skills/<str:team>/<str:slug>/versions/<str:number>/", include(dependencies.version_urlpatterns)),
    path("skills/<str:team>/<str:slug>/versions/<str:number>/", include(cases.version_urlpatterns)),
    path("skills/<str:team>/<str:slug>/versions/<str:number>/", include(run_views.version_urlpatterns)),
]
