"""Routes of the worker's API, collected from its feature packages."""

from django.urls import URLPattern, URLResolver, include, path

from worker.approvals import urls as approvals
from worker.dependencies import urls as dependencies
from worker.files import urls as files
from worker.memory import urls as memory
from worker.quotas import urls as quotas
from worker.run_views import urls as run_views
from worker.runs import urls as runs

urlpatterns: list[URLPattern | URLResolver] = [
    *approvals.urlpatterns,
    *files.urlpatterns,
    *memory.urlpatterns,
    *run_views.urlpatterns,
    *runs.urlpatterns,
    path("teams/<str:team>/", include(quotas.team_urlpatterns)),
    path("skills/<str:team>/<str:slug>/", include(run_views.skill_urlpatterns)),
    path("skills/<str:team>/<str:slug>/versions/<str:number>/", include(dependencies.version_urlpatterns)),
]
