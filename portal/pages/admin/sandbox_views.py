"""The workers' sandbox, for administrators: available tiers and the results of attack tests."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render

from portal.decorators import signed_in_form
from registry.identity.middleware import ActorRequest
from worker.service import examinations


@signed_in_form
def page(request: ActorRequest) -> HttpResponse:
    """The last examination; a POST requests another one."""
    if not request.actor.is_administrator:
        raise Http404
    if request.method == "POST":
        examinations.request_examination(request.actor)
        return redirect("sandbox")
    last = examinations.latest()
    is_running = last is not None and examinations.is_under_way(last)
    return render(request, "admin/sandbox.html", {"last": last, "is_running": is_running})
