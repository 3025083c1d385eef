"""What an open page requests to stay current: the counts in the navigation."""

from __future__ import annotations

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render

from portal.decorators import signed_in_page
from registry.identity.middleware import ActorRequest


@signed_in_page
def counts(request: ActorRequest) -> HttpResponse:
    """Renders only the counts of the navigation."""
    return render(request, "live/counts.html")


@signed_in_page
def viewer(request: ActorRequest) -> JsonResponse:
    """The reader's own user id and team ids. ``ChangesMiddleware`` reads them and streams events instead."""
    actor = request.actor
    teams = sorted(actor.team_ids)
    user = actor.user.pk if actor.user else 0
    return JsonResponse({"user": user, "teams": teams, "is_administrator": actor.is_administrator})
