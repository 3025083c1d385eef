"""Two runs side by side, and the way there from a list in which they were ticked."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from portal.showing.run_comparison import shown
from registry.middleware import ActorRequest
from worker.comparing import compare_runs, readable_pair


@require_GET
@never_cache
def page(request: ActorRequest, uid: str, other: str) -> HttpResponse:
    """What differs between two runs that the reader may read."""
    before, after = readable_pair(uid, other, request.actor)
    context = {"before": before, "after": after, "found": shown(before, after, compare_runs(before, after))}
    return render(request, "run/compare.html", context)


@require_GET
@login_required
def choose(request: ActorRequest) -> HttpResponse:
    """Leads from two ticked runs to their comparison, the earlier one first."""
    ticked = sorted(set(request.GET.getlist("run")))
    if len(ticked) != 2:
        messages.error(request, _("Tick two runs, and only two, to compare them."))
        return redirect("runs")
    earlier, later = ticked
    readable_pair(earlier, later, request.actor)
    return redirect("run-compare", earlier, later)
