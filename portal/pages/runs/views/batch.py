"""Run batches: the confirmation, the list, one batch with its progress, and cancelling."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.decorators import signed_in_action, signed_in_form, signed_in_page
from portal.forms.errors import show_refusal, show_refusals
from portal.pages.runs.forms.repeat import RepeatForm, newest_numbers, parsed_inputs
from portal.pages.runs.forms.run_filter import RunFilter, filter_rows
from portal.pages.runs.presenters.batches import input_rows, runs_by_skill, sample_rows
from portal.pages.runs.presenters.run_rows import run_rows
from registry.api.schema import read_body
from registry.core.sql import read_together
from registry.core.time import rfc3339
from registry.identity.middleware import ActorRequest
from registry.packages.problems import Refusal
from registry.rates.limits import RateLimit, count_request
from worker.api.documents.run_batches import RunBatchRequest, RunBatchSelection
from worker.models import ACTIVE_BATCHES, BatchItemState, RunBatch, RunBatchAction, RunBatchItem, RunStatus
from worker.queue.states import ENDED
from worker.run_batches import change
from worker.run_batches.documents import (
    batch_document,
    batch_summary,
    item_document,
    preview_document,
    stored_filter,
)
from worker.run_batches.samples import COUNT
from worker.run_batches.selection import BatchRequest, checked, select_runs

PAGE = 50
SHORT = 10  # runs that a batch's page shows at first
_HEAVY = tuple(f"{run}__{field}" for run in ("run", "new_run") for field in ("request", "result", "files"))
_ACTIONS = ("action", "to_version", "next")
EDIT = "edit"  # repeats the runs, and opens the form that changes their inputs


@signed_in_form
def new(request: ActorRequest) -> HttpResponse:
    """Shows how many runs match, and a sample. A POST starts the batch only if it has the version and the
    inputs of the preview; otherwise, and with ``preview``, it shows the preview of what was posted.
    """
    is_post = request.method == "POST"
    try:
        wanted = checked(_posted(request) if is_post else _wanted(request))
        if is_post and "preview" not in request.POST and _is_confirmed(request, wanted):
            return _start(request, wanted)
        selected = select_runs(wanted, request.actor)
    except Refusal as refused:
        show_refusal(request, refused)
        return redirect("runs")
    shown = [each.run for each in selected if each.problem is None][:COUNT]
    preview, numbers, rows = read_together(
        preview_document.reads(wanted, selected, request.actor),
        newest_numbers.reads(str(wanted.filter.get("skill", "")), request.actor),
        run_rows.reads(shown, request.actor),
    )
    context = {"skills": runs_by_skill(selected), "sample": sample_rows(preview["sample"], rows)}
    return _show(request, preview, numbers, context)


def _show(
    request: ActorRequest, preview: Mapping[str, Any], numbers: Sequence[str], context: Mapping[str, Any]
) -> HttpResponse:
    data = request.POST if request.method == "POST" and preview["action"] == RunBatchAction.REPEAT else None
    form = RepeatForm(data, batch=preview, numbers=numbers)
    context = {
        **context,
        "preview": preview,
        "filter": json.dumps(preview["filter"]),
        "shown": _shown_text(preview["version"], preview["inputs"]),
        "filters": filter_rows(preview["filter"]),
        "changes": input_rows(preview["inputs"]),
        "form": form,
        "editing": bool(preview["inputs"] or form.errors or request.GET.get("action") == EDIT),
        "not_started": request.method == "POST" and "preview" not in request.POST,
        "back": _list_url(request),
    }
    return render(request, "runs/batch_new.html", context, status=422 if form.errors else 200)


def _shown_text(version: str | None, inputs: Mapping[str, Any]) -> str:
    return json.dumps([version or "", inputs])


def _is_confirmed(request: ActorRequest, wanted: BatchRequest) -> bool:
    """Whether the preview, from which the form was posted, showed the posted version and inputs."""
    is_valid = parsed_inputs(request.POST.get("inputs", "")) is not None
    return is_valid and request.POST.get("shown") == _shown_text(wanted.version, wanted.inputs)


def _list_url(request: ActorRequest) -> str:
    """The URL of the list that led here, with its filters."""
    url = request.POST.get("next") or request.GET.get("next", "")
    if url_has_allowed_host_and_scheme(url, None):
        return url
    query = request.GET.copy()
    for name in _ACTIONS:
        query.pop(name, None)
    return f"{reverse('runs')}?{query.urlencode()}"


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


def _start(request: ActorRequest, wanted: BatchRequest) -> HttpResponse:
    count_request(request, request.actor, RateLimit.RUN)
    with show_refusals(request):
        return redirect("run-batch", change.create(wanted, request.actor).uid)
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
    state, outcome = request.GET.get("state", ""), request.GET.get("outcome", "")
    rows = batch.items.select_related("run", "new_run").defer(*_HEAVY).order_by("pk")
    if state in BatchItemState.values:
        rows = rows.filter(state=state)
    if outcome in RunStatus.values:
        rows = rows.filter(new_run__status=outcome)
    pages = Paginator(rows, PAGE)
    is_short = not request.GET.keys() & {"state", "outcome", "page", "show"} and pages.count > SHORT
    shown = pages.get_page(request.GET.get("page"))
    is_active = batch.state in ACTIVE_BATCHES
    document, outcomes = batch_document(batch), _outcomes(batch)
    context = {
        "batch": document,
        "created_at": batch.created_at,
        "filters": filter_rows(batch.filter),
        "changes": input_rows(batch.inputs),
        "states": [(value, document[value]) for value in BatchItemState.values if document[value]],
        "outcomes": outcomes,
        "chosen": state or outcome,
        "rows": [_item_row(item) for item in (rows[:SHORT] if is_short else shown)],
        "page": shown,
        "is_short": is_short,
        "is_active": is_active,
        "is_followed": is_active or any(status not in ENDED for status, _n in outcomes),
        "may_undo": change.may_undo(batch),
        "worked": document["total"] - document["pending"],
    }
    return render(request, "runs/batch.html", context)


def _outcomes(batch: RunBatch) -> list[tuple[str, int]]:
    """The statuses of the batch's new runs with their numbers."""
    counts = dict(
        batch.items.filter(new_run__isnull=False)
        .order_by()
        .values_list("new_run__status")
        .annotate(n=Count("pk"))
    )
    return [(value, counts[value]) for value in RunStatus.values if value in counts]


def _item_row(item: RunBatchItem) -> dict[str, Any]:
    return item_document(item) | {
        "number": item.run.number if item.run else None,
        "new_number": item.new_run.number if item.new_run else None,
    }


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
