from django.urls import path

from portal.pages.runs.views import annotations, batch, bulk, compare, form, run, run_list, saved_views, share

urlpatterns = [
    path("runs/", run_list.all_runs, name="runs"),
    path("runs/actions/", bulk.act, name="runs-act"),
    path("runs/views/", saved_views.save, name="run-views"),
    path("runs/views/<str:uid>/remove/", saved_views.remove, name="run-view-remove"),
    path("runs/compare/", compare.choose, name="runs-compare"),
    path("runs/batches/", batch.listing, name="run-batches"),
    path("runs/batches/new/", batch.new, name="run-batch-new"),
    path("runs/batches/<str:uid>/", batch.page, name="run-batch"),
    path("runs/batches/<str:uid>/cancel/", batch.cancel, name="run-batch-cancel"),
    path("runs/<str:uid>/", run.page, name="run"),
    path("runs/<str:uid>/compare/<str:other>/", compare.page, name="run-compare"),
    path("runs/<str:uid>/live/", run.live, name="run-live"),
    path("runs/<str:uid>/log/", run.log, name="run-log"),
    path("runs/<str:uid>/cancel/", run.stop, name="run-cancel"),
    path("runs/<str:uid>/erase/", run.erase, name="run-erase"),
    path("runs/<str:uid>/pin/", annotations.pin, name="run-pin"),
    path("runs/<str:uid>/labels/", annotations.labels, name="run-labels"),
    path("runs/<str:uid>/notes/", annotations.add, name="run-notes"),
    path("runs/<str:uid>/notes/<str:note>/", annotations.edit, name="run-note"),
    path("runs/<str:uid>/share/", share.page, name="run-share"),
    path("runs/<str:uid>/share/<str:other>/revoke/", share.revoke, name="run-share-revoke"),
    path("runs/<str:uid>/rerun/", run.again, name="run-rerun"),
    path("runs/<str:uid>/artifacts/<path:path>", run.artifact, name="artifact"),
    path("runs/<str:uid>/images/<path:path>", run.artifact_image, name="artifact-image"),
]

skill_urlpatterns = [
    path("run/", form.page, name="run-form"),
    path("runs/", run_list.skill_runs, name="skill-runs"),
]
