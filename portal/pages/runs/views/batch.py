"""Run batches: the confirmation, the list, one batch with its progress, and cancelling."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.decorators import signed_in_action, signed_in_form, signed_in_page
from portal.forms.errors import show_refusal, show_refusals
from portal.pages.runs.forms.run_filter import RunFilter, filter_rows
from registry.api.schema import read_body
from registry.core.time import rfc3339
from registry.identity.middleware import ActorRequest
from registry.packages.problems import Refusal
from registry.rates.limits import RateLimit, count_request
from worker.api.documents.run_batches import RunBatchRequest, RunBatchSelection
from worker.models import ACTIVE_BATCHES, BatchItemState, RunBatch, RunBatchAction
from worker.run_batches import change
from worker.run_batches.documents import (
    batch_document,
    batch_summary,
    item_document,
    preview_document,
    stored_filter,
)
from worker.run_batches.selection import BatchRequest, checked, select_runs

PAGE = 50
_HEAVY = tuple(f"{run}__{field}" for run in ("run", "new_run") for field in ("request", "result", "files"))
_ACTIONS = ("action", "to_version")


@signed_in_form
def new(request: ActorRequest) -> HttpResponse:
    """Shows how many runs match, and a sample; a POST starts the batch with exactly this filter."""
    if request.method == "POST":
        return _start(request)
    try:
        wanted = checked(_wanted(request))
        preview = preview_document(wanted, select_runs(wanted, request.actor))
    except Refusal as refused:
        show_refusal(request, refused)
        return redirect("runs")
    context = {
        "preview": preview,
        "filter": json.dumps(preview["filter"]),
        "filters": filter_rows(preview["filter"]),
    }
    return render(request, "runs/batch_new.html", context)


def _wanted(request: ActorRequest) -> BatchRequest:
    """The batch that the URL describes, without runs that are created later. Raises Refusal for an unknown
    action or filter.
    """
    filters = RunFilter(request.GET)
    if unknown := filters.unknown({*request.GET} - {*_ACTIONS}):
        read_body(RunBatchSelection, dict.fromkeys(unknown, ""))
    criteria = filters.criteria()
    if criteria:
        criteria["until"] = rfc3339(timezone.now())
    return _read(request.GET.get("action", ""), criteria, request.GET.get("to_version", ""))


def _read(action: str, criteria: Any, version: str) -> BatchRequest:
    is_repeat = action == RunBatchAction.REPEAT
    body = read_body(
        RunBatchRequest,
        {"action": action, "filter": criteria, **({"version": version} if is_repeat and version else {})},
    )
    chosen = RunBatchAction(body["action"])
    return BatchRequest(chosen, stored_filter(body["filter"]), body.get("version", ""))


def _start(request: ActorRequest) -> HttpResponse:
    count_request(request, request.actor, RateLimit.RUN)
    with show_refusals(request):
        try:
            criteria = json.loads(request.POST.get("filter", ""))
        except ValueError:
            criteria = None
        wanted = _read(request.POST.get("action", ""), criteria, request.POST.get("to_version", ""))
        return redirect("run-batch", change.create(wanted, request.actor).uid)
    return redirect("runs")


@signed_in_page
def listing(request: ActorRequest) -> HttpResponse:
    """Lists the actor's batches, newest first; all for administrators."""
    rows = RunBatch.objects.visible_to(request.actor).with_counts().select_related("user").order_by("-pk")
    page = Paginator(rows, PAGE).get_page(request.GET.get("page"))
    context = {"rows": [batch_summary(batch) for batch in page], "page": page}
    return render(request, "runs/batches.html", context)


@signed_in_page
def page(request: ActorRequest, uid: str) -> HttpResponse:
    """Shows one batch; the page refreshes itself until the batch ends."""
    batch = change.find(uid, request.actor)
    state = request.GET.get("state", "")
    rows = batch.items.select_related("run", "new_run").defer(*_HEAVY).order_by("pk")
    if state in BatchItemState.values:
        rows = rows.filter(state=state)
    shown = Paginator(rows, PAGE).get_page(request.GET.get("page"))
    is_active = batch.state in ACTIVE_BATCHES
    document = batch_document(batch)
    context = {
        "batch": document,
        "created_at": batch.created_at,
        "filters": filter_rows(batch.filter),
        "states": [(value, document[value]) for value in BatchItemState.values if document[value]],
        "chosen": state,
        "rows": [item_document(item) | {"number": item.run.number if item.run else None} for item in shown],
        "page": shown,
        "is_active": is_active,
        "may_undo": change.may_undo(batch),
        "worked": document["total"] - document["pending"],
    }
    return render(request, "runs/batch.html", context)


@signed_in_action
def cancel(request: ActorRequest, uid: str) -> HttpResponse:
    """Stops the batch; with ``undo``, also cancels the new runs that have not started."""
    batch = change.find(uid, request.actor)
    undo = request.POST.get("undo") == "1"
    with show_refusals(request):
        n = change.cancel(batch, request.actor, undo=undo)
        text = ngettext("Undone: %(n)s run was cancelled.", "Undone: %(n)s runs were cancelled.", n)
        messages.success(request, text % {"n": n} if undo else _("The batch was cancelled."))
    return redirect("run-batch", uid)
