"""The page with a team's limits and current usage, and the form that changes the limits."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.decorators import signed_in_form
from portal.forms.errors import add_refusals
from portal.pages.teams.limit_forms import LABELS, TeamLimitsForm
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, may
from registry.lookup.skills import find_team
from worker.quotas import team_limits


@signed_in_form
def page(request: ActorRequest, slug: str) -> HttpResponse:
    team = find_team(slug, request.actor)
    team_limits.require_reader(team, request.actor)
    uses = team_limits.usage_of(team)
    form = TeamLimitsForm(request.POST or None, uses=uses)
    if form.is_valid():
        with add_refusals(form):
            team_limits.set_limits(team, form.cleaned_data, request.actor)
            messages.success(request, _("Saved."))
            return redirect("team-limits", slug)
    context = {
        "team": team,
        "rows": [(LABELS[use.name], use) for use in uses],
        "form": form if may(request.actor, Action.LIMITS, team=team) else None,
    }
    return render(request, "teams/limits.html", context, status=422 if form.is_bound else 200)
