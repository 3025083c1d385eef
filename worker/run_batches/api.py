from django.http import HttpResponse
from rest_framework.request import Request

from registry.api import etag, pagination
from registry.api.documents.skills import api_url, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, read_body, read_query
from registry.identity.permissions import Action
from registry.rates.limits import RateLimit
from worker.api.documents.run_batches import (
    RunBatchCancelRequest,
    RunBatchDoc,
    RunBatchesQuery,
    RunBatchItemDoc,
    RunBatchItemsQuery,
    RunBatchPreviewDoc,
    RunBatchRequest,
    RunBatchSummaryDoc,
)
from worker.models import RunBatch, RunBatchAction
from worker.run_batches import change
from worker.run_batches.documents import (
    batch_document,
    batch_summary,
    item_document,
    preview_document,
    stored_filter,
)
from worker.run_batches.selection import BatchRequest, checked, select_runs

operation = Operations("runs")
_READS = (Action.READ_RUNS, Action.RUN)


class RunBatches(Endpoint):
    required_actions = {"GET": _READS, "POST": (Action.RUN,)}
    rate_limits = {"POST": RateLimit.RUN}
    requires_sign_in = True

    @operation(
        "list_run_batches", "List run batches", query=RunBatchesQuery, answer=page_schema(RunBatchSummaryDoc)
    )
    def get(self, request: Request) -> HttpResponse:
        """Lists your batches, newest first; administrators get all. A token for one team gets only the
        batches that it started.
        """
        query = read_query(RunBatchesQuery, request)
        rows = RunBatch.objects.visible_to(self.actor).with_counts().select_related("user")
        if "state" in query:
            rows = rows.filter(state=query["state"])
        found, cursor = pagination.newest_first(
            rows, pagination.read_page("run-batches", query, kinds=(str,))
        )
        return etag.document_response(request, page_document([*map(batch_summary, found)], cursor))

    @operation(
        "start_run_batch",
        "Cancel or repeat all runs that match a filter",
        body=RunBatchRequest,
        answer={200: RunBatchPreviewDoc, 201: RunBatchDoc},
    )
    @idempotent(RunBatchRequest)
    def post(self, request: Request) -> HttpResponse:
        """Starts a batch that cancels all active runs, or repeats all ended runs, that match the filter now.
        Skips runs that you may not cancel or read. With `preview`, starts nothing and returns 200 with the
        counts and a sample, which shows the replaced inputs and why a new run would be refused.
        """
        body = read_body(RunBatchRequest, request.data)
        action = RunBatchAction(body["action"])
        wanted = BatchRequest(
            action, stored_filter(body["filter"]), body.get("version", ""), body.get("inputs", {})
        )
        if body["preview"]:
            wanted = checked(wanted)
            document = preview_document(wanted, select_runs(wanted, self.actor), self.actor)
            return etag.document_response(request, document)
        uid = change.create(wanted, self.actor).uid
        document = batch_document(change.find(uid, self.actor))
        response = etag.document_response(request, document, status=201)
        response["Location"] = api_url("run-batches", uid)
        return response


class RunBatchDetail(Endpoint):
    required_actions = {"GET": _READS}
    requires_sign_in = True

    @operation("get_run_batch", "Get a run batch", answer=RunBatchDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns the batch with its progress and the reasons for skipped and failed runs."""
        return etag.document_response(request, batch_document(change.find(uid, self.actor)))


class RunBatchItems(Endpoint):
    required_actions = {"GET": _READS}
    requires_sign_in = True

    @operation(
        "list_run_batch_items",
        "List the runs of a run batch",
        query=RunBatchItemsQuery,
        answer=page_schema(RunBatchItemDoc),
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Lists the runs of the batch with their outcomes, newest first."""
        query = read_query(RunBatchItemsQuery, request)
        rows = change.find(uid, self.actor).items.select_related("new_run")
        if "state" in query:
            rows = rows.filter(state=query["state"])
        found, cursor = pagination.last_first(rows, pagination.read_page("items", query, kinds=(int,)))
        return etag.document_response(request, page_document([*map(item_document, found)], cursor))


class RunBatchCancel(Endpoint):
    required_actions = {"POST": (Action.RUN,)}
    requires_sign_in = True

    @operation(
        "cancel_run_batch", "Cancel or undo a run batch", body=RunBatchCancelRequest, answer=RunBatchDoc
    )
    @idempotent(RunBatchCancelRequest)
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Cancels the batch; runs that the batch has already changed keep their state. With `undo`, also
        cancels the new runs of a repeating batch that have not started, even after the batch has ended.
        """
        body = read_body(RunBatchCancelRequest, request.data)
        change.cancel(change.find(uid, self.actor), self.actor, undo=body["undo"])
        return etag.document_response(request, batch_document(change.find(uid, self.actor)))
