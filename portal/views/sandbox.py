"""The sandbox of the workers, for administrators: which tiers there are, and what attacking them showed."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from registry.middleware import ActorRequest
from worker import examining


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def page(request: ActorRequest) -> HttpResponse:
    """The last examination; POST asks for another."""
    if not request.actor.is_administrator:
        raise Http404
    if request.method == "POST":
        examining.ask(request.actor)
        return redirect("sandbox")
    last = examining.last()
    under_way = last is not None and examining.is_under_way(last)
    return render(request, "sandbox/page.html", {"last": last, "under_way": under_way})
