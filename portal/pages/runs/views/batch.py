"""Run batches: the confirmation, the list, one batch with its progress, and cancelling."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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
from portal.pages.runs.forms.repeat import RepeatForm, newest_numbers, parsed_inputs
from portal.pages.runs.forms.run_filter import RunFilter, filter_rows
from portal.pages.runs.presenters.batches import input_rows, runs_by_skill, sample_rows
from registry.api.schema import read_body
from registry.core.sql import read_together
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
SHORT = 10  # runs that a batch's page shows at first
_HEAVY = tuple(f"{run}__{field}" for run in ("run", "new_run") for field in ("request", "result", "files"))
_ACTIONS = ("action", "to_version")
EDIT = "edit"  # repeats the runs, and opens the form that changes their inputs


@signed_in_form
def new(request: ActorRequest) -> HttpResponse:
    """Shows how many runs match, and a sample. A POST with ``preview`` shows them with other inputs or
    another version; a POST without it starts the batch with exactly what was shown.
    """
    if request.method == "POST" and "preview" not in request.POST:
        return _start(request)
    try:
        wanted = checked(_posted(request) if request.method == "POST" else _wanted(request))
        selected = select_runs(wanted, request.actor)
    except Refusal as refused:
        show_refusal(request, refused)
        return redirect("runs")
    preview, numbers = read_together(
        preview_document.reads(wanted, selected, request.actor),
        newest_numbers.reads(str(wanted.filter.get("skill", "")), request.actor),
    )
    return _show(request, preview, numbers, runs_by_skill(selected))


def _show(
    request: ActorRequest,
    preview: Mapping[str, Any],
    numbers: Sequence[str],
    skills: Sequence[tuple[str, int]],
) -> HttpResponse:
    form = RepeatForm(request.POST or None, batch=preview, numbers=numbers)
    context = {
        "preview": preview,
        "filter": json.dumps(preview["filter"]),
        "inputs": json.dumps(preview["inputs"]),
        "filters": filter_rows(preview["filter"]),
        "changes": input_rows(preview["inputs"]),
        "skills": skills,
        "sample": sample_rows(preview["sample"]),
        "form": form,
        "editing": bool(preview["inputs"] or form.errors or request.GET.get("action") == EDIT),
    }
    return render(request, "runs/batch_new.html", context, status=422 if form.errors else 200)


def _wanted(request: ActorRequest) -> BatchRequest:
    """The batch that the URL describes, without runs that are created later. Raises Refusal for an unknown
    action or filter.
    """
    filters = RunFilter(request.GET)
    if unknown := filters.unknown({*request.GET} - {*_ACTIONS}):
        read_body(RunBatchSelection, dict.fromkeys(unknown, ""))
    criteria = filters.criteria()
    if criteria:
        now = str(rfc3339(timezone.now()))
        criteria["until"] = min(criteria.get("until", now), now)
    action = request.GET.get("action", "")
    action = RunBatchAction.REPEAT.value if action == EDIT else action
    return _read(action, criteria, request.GET.get("to_version", ""))


def _posted(request: ActorRequest) -> BatchRequest:
    """The batch that the form describes. Raises Refusal; inputs that are not an object count as none."""
    inputs = parsed_inputs(request.POST.get("inputs", ""))
    criteria, action = _parsed(request.POST.get("filter", "")), request.POST.get("action", "")
    return _read(action, criteria, request.POST.get("to_version", ""), inputs or {})


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _read(action: str, criteria: Any, version: str, inputs: Any = None) -> BatchRequest:
    body = {"action": action, "filter": criteria}
    if action == RunBatchAction.REPEAT:
        body |= {"inputs": inputs or {}, **({"version": version} if version else {})}
    read = read_body(RunBatchRequest, body)
    chosen = RunBatchAction(read["action"])
    return BatchRequest(
        chosen, stored_filter(read["filter"]), read.get("version", ""), read.get("inputs", {})
    )


def _start(request: ActorRequest) -> HttpResponse:
    count_request(request, request.actor, RateLimit.RUN)
    with show_refusals(request):
        return redirect("run-batch", change.create(_posted(request), request.actor).uid)
    return redirect("runs")


@signed_in_page
def listing(request: ActorRequest) -> HttpResponse:
    """Lists the actor's batches, newest first; all for administrators."""
    rows = RunBatch.objects.visible_to(request.actor).with_counts().select_related("user").order_by("-pk")
    page = Paginator(rows, PAGE).get_page(request.GET.get("page"))
    context = {
        "rows": [batch_summary(batch) for batch in page],
        "page": page,
        "is_active": any(batch.state in ACTIVE_BATCHES for batch in page),
    }
    return render(request, "runs/batches.html", context)


@signed_in_page
def page(request: ActorRequest, uid: str) -> HttpResponse:
    """Shows one batch, with its first runs or a page of all; it refreshes itself until the batch ends."""
    batch = change.find(uid, request.actor)
    state = request.GET.get("state", "")
    rows = batch.items.select_related("run", "new_run").defer(*_HEAVY).order_by("pk")
    if state in BatchItemState.values:
        rows = rows.filter(state=state)
    pages = Paginator(rows, PAGE)
    is_short = not request.GET.keys() & {"state", "page", "show"} and pages.count > SHORT
    shown = pages.get_page(request.GET.get("page"))
    is_active = batch.state in ACTIVE_BATCHES
    document = batch_document(batch)
    context = {
        "batch": document,
        "created_at": batch.created_at,
        "filters": filter_rows(batch.filter),
        "changes": input_rows(batch.inputs),
        "states": [(value, document[value]) for value in BatchItemState.values if document[value]],
        "chosen": state,
        "rows": [
            item_document(item) | {"number": item.run.number if item.run else None}
            for item in (rows[:SHORT] if is_short else shown)
        ],
        "page": shown,
        "is_short": is_short,
        "is_active": is_active,
        "may_undo": change.may_undo(batch),
        "worked": document["total"] - document["pending"],
    }
    return render(request, "runs/batch.html", context)


@signed_in_action
def cancel(request: ActorRequest, uid: str) -> HttpResponse:
    """Cancels the batch; with ``undo``, also cancels the new runs that have not started."""
    batch = change.find(uid, request.actor)
    undo = request.POST.get("undo") == "1"
    with show_refusals(request):
        n = change.cancel(batch, request.actor, undo=undo)
        text = ngettext(
            "The batch was undone: %(n)s run was cancelled.",
            "The batch was undone: %(n)s runs were cancelled.",
            n,
        )
        messages.success(request, text % {"n": n} if undo else _("The batch was cancelled."))
    return redirect("run-batch", uid)
