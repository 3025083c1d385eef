"""Trigger conflicts: skills that match the same words."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from registry.identity.middleware import ActorRequest
from registry.models import Team
from registry.trigger_tests.collisions import find_collisions


@require_safe
def page(request: ActorRequest) -> HttpResponse:
    team, skill = request.GET.get("team", "")[:64], request.GET.get("skill", "")[:130]
    found = find_collisions(request.actor, team=team, skill=skill)
    teams = Team.objects.visible_to(request.actor).order_by("slug").values_list("slug", flat=True)
    context = {"found": found, "team": team, "skill": skill, "teams": teams}
    return render(request, "skill/collisions.html", context)
