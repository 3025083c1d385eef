from django.urls import path

from worker.api.approvals import Approvals, Decide
from worker.api.comparing import CompareRuns
from worker.api.figures import RunFigures
from worker.api.inputs import InputDetail, Inputs
from worker.api.memories import Memories, MemoryDetail, MemoryExport, MemoryRestoration
from worker.api.memory_writes import MemoryWriteDecision, MemoryWriteDecisions, MemoryWrites
from worker.api.preparations import VersionPreparation
from worker.api.runs import ArtifactContent, Artifacts, Cancel, Erase, Events, Log, RunDetail, Runs
from worker.api.team_limits import TeamUses

_RUN = "runs/<str:uid>"

urlpatterns = [
    path("runs", Runs.as_view(), name="api-runs"),
    path(_RUN, RunDetail.as_view(), name="api-run"),
    path("approvals", Approvals.as_view(), name="api-approvals"),
    path(f"{_RUN}/approval", Decide.as_view(), name="api-approval"),
    path(f"{_RUN}/cancel", Cancel.as_view(), name="api-run-cancel"),
    path(f"{_RUN}/erase", Erase.as_view(), name="api-run-erase"),
    path(f"{_RUN}/compare/<str:other>", CompareRuns.as_view(), name="api-compare-runs"),
    path(f"{_RUN}/log", Log.as_view(), name="api-run-log"),
    path(f"{_RUN}/events", Events.as_view(), name="api-run-events"),
    path(f"{_RUN}/artifacts", Artifacts.as_view(), name="api-artifacts"),
    path(f"{_RUN}/artifacts/<path:path>", ArtifactContent.as_view(), name="api-artifact"),
    path("skills/<str:team>/<str:slug>/figures", RunFigures.as_view(), name="api-run-figures"),
    path("teams/<str:team>/limits", TeamUses.as_view(), name="api-team-limits"),
    path(
        "skills/<str:team>/<str:slug>/versions/<str:number>/preparation",
        VersionPreparation.as_view(),
        name="api-preparation",
    ),
    path("inputs", Inputs.as_view(), name="api-inputs"),
    path("memories", Memories.as_view(), name="api-memories"),
    path("memories/export", MemoryExport.as_view(), name="api-memory-export"),
    path("memories/<str:uid>", MemoryDetail.as_view(), name="api-memory"),
    path("memories/<str:uid>/restore", MemoryRestoration.as_view(), name="api-memory-restore"),
    path("memory-writes", MemoryWrites.as_view(), name="api-memory-writes"),
    path("memory-writes/decisions", MemoryWriteDecisions.as_view(), name="api-memory-decisions"),
    path("memory-writes/<str:uid>/decision", MemoryWriteDecision.as_view(), name="api-memory-decision"),
    path("inputs/<str:uid>", InputDetail.as_view(), name="api-input"),
]
