"""The workers' sandbox, for administrators: available tiers and the results of attack tests."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render

from portal.decorators import require_administrator, signed_in_form
from portal.pages.admin.presenters import attack_results
from registry.identity.middleware import ActorRequest
from worker.service import examinations


@signed_in_form
def page(request: ActorRequest) -> HttpResponse:
    """Shows the results of the last attack tests; a POST requests new tests.

    Raises Http404 unless the user is an administrator.
    """
    require_administrator(request.actor)
    if request.method == "POST":
        examinations.request_examination(request.actor)
        return redirect("sandbox")
    last = examinations.latest()
    is_running = last is not None and examinations.is_under_way(last)
    results = attack_results(last.document) if last else None
    context = {"last": last, "is_running": is_running, "attacks": results}
    return render(request, "admin/sandbox.html", context)
