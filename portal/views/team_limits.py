"""What a team may use and has used."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from portal.forms.refusals import add_refusal
from portal.forms.team_limits import TeamLimitsForm
from portal.showing.team_limits import LABELS
from registry.catalog import find_team
from registry.middleware import ActorRequest
from registry.packages.problems import Refused
from registry.permissions import Action, may
from worker import team_limits


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def page(request: ActorRequest, slug: str) -> HttpResponse:
    team = find_team(slug, request.actor)
    team_limits.require_reader(team, request.actor)
    uses = team_limits.uses_of(team)
    form = TeamLimitsForm(request.POST or None, uses=uses)
    if request.method == "POST" and form.is_valid():
        try:
            team_limits.set_limits(team, form.cleaned_data, request.actor)
            messages.success(request, _("Saved."))
            return redirect("team-limits", slug)
        except Refused as refused:
            add_refusal(form, refused)
    context = {
        "team": team,
        "section": "teams",
        "rows": [(LABELS[use.name], use) for use in uses],
        "form": form if may(request.actor, Action.LIMITS, team=team) else None,
    }
    return render(request, "teams/limits.html", context, status=422 if form.is_bound else 200)
