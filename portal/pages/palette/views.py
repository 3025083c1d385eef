"""The command palette: finds pages, actions, skills and runs. Without JavaScript, it is a separate page."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal.pages.palette.presenters import MAX_TEXT, sections
from registry.identity.middleware import ActorRequest
from registry.rates.limits import RateLimit, count_request


@require_safe
def page(request: ActorRequest) -> HttpResponse:
    text = request.GET.get("q", "").strip()[:MAX_TEXT]
    if text:
        count_request(request, request.actor, RateLimit.SEARCH)
    is_part = request.GET.get("part") == "results"
    context = {"q": text, "sections": sections(text, request.actor)}
    return render(request, "palette/results.html" if is_part else "palette/page.html", context)
