"""The page that compares two runs, and the redirect to it from a list of runs."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from portal.pages.runs.presenters.comparison import comparison_context
from registry.identity.middleware import ActorRequest
from worker.run_views.compare import compare_runs, find_readable_pair


@require_GET
@never_cache
def page(request: ActorRequest, uid: str, other: str) -> HttpResponse:
    """Compares two runs; a run that the actor may not read counts as missing."""
    before, after = find_readable_pair(uid, other, request.actor)
    context = {"before": before, "after": after}
    context |= comparison_context(before, after, compare_runs(before, after), request.actor)
    return render(request, "runs/compare.html", context)


@require_GET
@login_required
def choose(request: ActorRequest) -> HttpResponse:
    """Redirects to the comparison of the two selected runs, the earlier one first.

    Unless exactly two are selected, redirects to the list with an error message.
    """
    selected = list(set(request.GET.getlist("run")))
    if len(selected) != 2:
        messages.error(request, _("Select exactly two runs to compare."))
        return redirect("runs")
    pair = find_readable_pair(selected[0], selected[1], request.actor)
    earlier, later = sorted(pair, key=lambda run: run.pk)
    return redirect("run-compare", earlier.uid, later.uid)
