from django.urls import path

from worker.runs.api import ArtifactContent, Artifacts, Cancel, Erase, Events, Log, Rerun, RunDetail, Runs

urlpatterns = [
    path("runs", Runs.as_view(), name="api-runs"),
    path("runs/<str:uid>", RunDetail.as_view(), name="api-run"),
    path("runs/<str:uid>/rerun", Rerun.as_view(), name="api-run-rerun"),
    path("runs/<str:uid>/cancel", Cancel.as_view(), name="api-run-cancel"),
    path("runs/<str:uid>/erase", Erase.as_view(), name="api-run-erase"),
    path("runs/<str:uid>/log", Log.as_view(), name="api-run-log"),
    path("runs/<str:uid>/events", Events.as_view(), name="api-run-events"),
    path("runs/<str:uid>/artifacts", Artifacts.as_view(), name="api-artifacts"),
    path("runs/<str:uid>/artifacts/<path:path>", ArtifactContent.as_view(), name="api-artifact"),
]
