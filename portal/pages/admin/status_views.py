"""The status page for administrators: services, queue, workers and enforcement of limits."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render

from portal.decorators import require_administrator, signed_in_page
from portal.pages.admin.presenters import status_context
from registry.identity.middleware import ActorRequest
from worker.health.checks import read_state


@signed_in_page
def page(request: ActorRequest) -> HttpResponse:
    """Checks all services now, within a few seconds. Raises Http404 unless the user is an administrator."""
    require_administrator(request.actor)
    return render(request, "admin/status.html", status_context(read_state()))
