"""The pages of retention policies. Administrators see all policies, members those of their teams."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.decorators import require_administrator, signed_in_form
from portal.forms.errors import add_refusals
from portal.pages.retention.forms import LABELS, RetentionForm
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, may
from registry.lookup.skills import find_team
from registry.models import Team
from worker.retention import policies, remove
from worker.retention.preview import preview


@signed_in_form
def site_page(request: ActorRequest) -> HttpResponse:
    """Shows the policy of the site. Raises Http404 unless the user is an administrator."""
    require_administrator(request.actor)
    return _page(request, None)


@signed_in_form
def team_page(request: ActorRequest, slug: str) -> HttpResponse:
    team = find_team(slug, request.actor)
    policies.require_reader(team, request.actor)
    return _page(request, team)


def _page(request: ActorRequest, team: Team | None) -> HttpResponse:
    """Shows the form of a policy. A POST saves the policy only after a preview of the same values."""
    own, shown = policies.policy_of(team), None
    inherited = policies.policy_of(None) if team else policies.Policy()
    form = RetentionForm(request.POST or None, policy=own, inherited=inherited)
    if form.is_valid():
        with add_refusals(form):
            if form.is_previewed and request.POST.get("step") == "save":
                policies.set_policy(team, form.values, request.actor)
                messages.success(request, _("Saved."))
                return redirect("team-retention", team.slug) if team else redirect("retention")
            shown = preview(team, form.values, request.actor)
            form.mark_previewed()
    is_editor = team is None or may(request.actor, Action.SETTINGS, team=team)
    context = {
        "team": team,
        "form": form if is_editor else None,
        "rows": _rows(team, own),
        "preview": shown,
        "last": remove.last_pass() if team is None else None,
    }
    template = "retention/team.html" if team else "retention/site.html"
    return render(request, template, context, status=422 if form.errors else 200)


def _rows(team: Team | None, own: policies.Policy) -> list[dict[str, object]]:
    site = policies.policy_of(None)
    holds = policies.effective_policy(site, own) if team else own
    return [
        {
            "name": name,
            "label": label,
            "value": getattr(holds, name),
            "is_own": getattr(own, name) is not None and getattr(own, name) == getattr(holds, name),
        }
        for name, label in LABELS.items()
    ]
