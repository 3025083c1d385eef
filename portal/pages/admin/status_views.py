"""The state of the site, for administrators: services, queue, workers, enforcement of limits."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render

from portal.decorators import signed_in_page
from portal.pages.admin.presenters import status_context
from registry.identity.middleware import ActorRequest
from worker.health.checks import read_state


@signed_in_page
def page(request: ActorRequest) -> HttpResponse:
    """Checks all services now, in at most a few seconds."""
    if not request.actor.is_administrator:
        raise Http404
    return render(request, "admin/status.html", status_context(read_state()))
