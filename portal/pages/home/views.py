"""The home page: search, most used and newest skills, the user's runs."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from registry.identity.middleware import ActorRequest
from registry.models import Skill
from registry.usage.scores import most_used
from worker.models import Run

SHOWN = 8


@require_safe
def page(request: ActorRequest) -> HttpResponse:
    skills = Skill.objects.discoverable_by(request.actor).filter(latest__isnull=False, for_people=True)
    rows = skills.select_related("team", "latest").defer("latest__manifest", "latest__body")
    context = {
        "used": most_used(rows, SHOWN),
        "newest": rows.order_by("-latest__created_at", "-pk")[:SHOWN],
        "total": skills.count(),
        "runs": _my_runs(request),
        "may_publish": bool(request.actor.team_ids) or request.actor.is_administrator,
    }
    return render(request, "home/home.html", context)


def _my_runs(request: ActorRequest) -> list[Run]:
    if request.actor.user is None:
        return []
    return list(
        Run.objects.visible_to(request.actor)
        .filter(caller=request.actor.user)
        .defer("request", "result", "files")
        .order_by("-pk")[:SHOWN]
    )
