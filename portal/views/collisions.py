"""Which skills are asked for in the same words, so that their authors can tell them apart."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from registry.collisions import collisions
from registry.middleware import ActorRequest
from registry.models import Team


@require_safe
def page(request: ActorRequest) -> HttpResponse:
    team, skill = request.GET.get("team", "")[:64], request.GET.get("skill", "")[:130]
    found = collisions(request.actor, team=team, skill=skill)
    teams = Team.objects.visible_to(request.actor).order_by("slug").values_list("slug", flat=True)
    context = {"found": found, "team": team, "skill": skill, "teams": teams}
    return render(request, "skills/collisions.html", context)
