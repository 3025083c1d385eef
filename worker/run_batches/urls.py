from django.urls import path

from worker.run_batches.api import RunBatchCancel, RunBatchDetail, RunBatches, RunBatchItems

urlpatterns = [
    path("run-batches", RunBatches.as_view(), name="api-run-batches"),
    path("run-batches/<str:uid>", RunBatchDetail.as_view(), name="api-run-batch"),
    path("run-batches/<str:uid>/items", RunBatchItems.as_view(), name="api-run-batch-items"),
    path("run-batches/<str:uid>/cancel", RunBatchCancel.as_view(), name="api-run-batch-cancel"),
]
