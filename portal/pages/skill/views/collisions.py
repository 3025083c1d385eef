"""The page of trigger conflicts: skills that match the same words."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from portal.context import navigation_counts
from registry.core.sql import read_together, reads_of
from registry.identity.middleware import ActorRequest
from registry.models import Team, TriggerKind
from registry.trigger_tests.collisions import find_collisions

_MAX_ROWS = 50  # conflicts on the page; a team narrows them
_MAX_TEAMS = 200  # choices of the filter
KINDS = {
    TriggerKind.EVENT: _("Event"),
    TriggerKind.INTENT: _("Intent"),
    TriggerKind.PHRASE: _("Phrase"),
    TriggerKind.NAME: _("Name"),
}


@require_safe
def page(request: ActorRequest) -> HttpResponse:
    team, skill = request.GET.get("team", "")[:64], request.GET.get("skill", "")[:130]
    found = find_collisions(request.actor, team=team, skill=skill)
    teams = (
        Team.objects.visible_to(request.actor).order_by("slug").values_list("slug", flat=True)[:_MAX_TEAMS]
    )
    rows = found.rows[:_MAX_ROWS]
    shown = {
        "words": [row for row in rows if row.kind != "event"],
        "events": [row for row in rows if row.kind == "event"],  # which match all of their skills
        "hidden": max(0, len(found.rows) - _MAX_ROWS),
    }
    context = shown | {"found": found, "team": team, "skill": skill, "teams": teams, "kinds": KINDS}
    _teams, counts = read_together(reads_of(teams), navigation_counts.reads(request.actor))
    return render(request, "skill/collisions.html", context | counts)
