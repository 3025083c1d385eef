"""Views of teams: the list, a new team, and the tabs with skills and settings."""

from __future__ import annotations

from itertools import groupby
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from portal.decorators import signed_in_form
from portal.forms.errors import add_refusals
from portal.forms.suggestions import suggest, teams_of, visible_skills
from portal.pages.catalog.presenters import facts_of
from portal.pages.listing.forms import TeamSubscriptionForm
from portal.pages.teams.forms import TeamForm, TeamSettingsForm
from registry.identity import teams
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, may, require
from registry.lookup.skills import find_team
from registry.models import Membership, Skill, Team, Version
from registry.subscriptions.trusted_teams import list_subscriptions

_MAX_SKILLS = 25  # number of skills on a team's page; the catalog lists all
_MAX_UNLISTED = 200  # number of versions that no list shows
_MAX_TEAMS = 200  # number of other teams in the list


@login_required
def listing(request: ActorRequest) -> HttpResponse:
    own = Membership.objects.filter(user=request.actor.user).select_related("team").order_by("team__slug")
    skills = Skill.objects.filter(team=OuterRef("team"))
    own = own.annotate(skills=_number(skills.searchable()) + _number(skills.unlisted()))
    others = Team.objects.visible_to(request.actor).exclude(pk__in=request.actor.team_ids).order_by("slug")
    return render(request, "teams/list.html", {"own": own, "others": others[:_MAX_TEAMS]})


@login_required
def new(request: ActorRequest) -> HttpResponse:
    """Creates a team. With ``?then=publish``, continues with publishing a skill for it."""
    form = TeamForm(request.POST or None)
    if form.is_valid():
        with add_refusals(form):
            team = teams.create_team(form.cleaned_data["slug"], form.cleaned_data["name"], request.actor)
            if request.GET.get("then") == "publish":
                return redirect(f"{reverse('publish')}?{urlencode({'team': team.slug})}")
            return redirect("team", team.slug)
    return render(request, "teams/new.html", {"form": form})


@require_safe
def page(request: ActorRequest, slug: str) -> HttpResponse:
    team, actor = find_team(slug, request.actor), request.actor
    skills = Skill.objects.searchable_by(actor).filter(team=team)
    found = list(skills.select_related("team", "latest").order_by("slug")[: _MAX_SKILLS + 1])
    shown = found[:_MAX_SKILLS]
    is_member = team.pk in actor.team_ids or actor.is_administrator
    context = {
        "team": team,
        "skills": shown,
        "has_more": len(found) > len(shown),
        "facts": facts_of(shown, (), actor),
        "skill_count": skills.count() + (team.skills.unlisted().count() if is_member else 0),
        "unlisted": _unlisted(team) if is_member else (),
        "is_member": is_member,
    }
    return render(request, "teams/skills.html", context)


def _number(skills: QuerySet[Skill]) -> Coalesce:
    """The number of skills of a team as a subquery, which reads an index only."""
    return Coalesce(Subquery(skills.order_by().values("team").annotate(n=Count("pk")).values("n")), 0)


def _unlisted(team: Team) -> list[Version]:
    """The newest version of each skill that no list shows: all its versions are held or yanked."""
    hidden = Version.objects.filter(skill__in=team.skills.unlisted())
    rows = (
        hidden.select_related("skill")
        .defer("manifest", "body")
        .order_by("skill__slug", "-pk")[:_MAX_UNLISTED]
    )
    return [next(versions) for _skill, versions in groupby(rows, key=lambda row: row.skill_id)]


@signed_in_form
def settings(request: ActorRequest, slug: str) -> HttpResponse:
    """Shows the team's settings and subscriptions; members who can't change them see only the
    subscriptions.
    """
    team, actor = find_team(slug, request.actor), request.actor
    may_change = may(actor, Action.SETTINGS, team=team)
    form = TeamSettingsForm(request.POST) if request.method == "POST" else TeamSettingsForm.of(team)
    if request.method == "POST":
        require(actor, Action.SETTINGS, team=team)
        if form.is_valid():
            teams.change_settings(team, actor, **form.cleaned_data)
            messages.success(request, _("Saved."))
            return redirect("team-settings", slug)
    teams.require_member(team, actor)
    subscription_form = TeamSubscriptionForm()
    if may_change:
        others = (each for each in teams_of(visible_skills(actor)) if each != team.slug)
        suggest(subscription_form, "team", others)
    context = {
        "team": team,
        "form": form if may_change else None,
        "subscriptions": list_subscriptions(team, actor),
        "subscription_form": subscription_form if may_change else None,
        "may_archive": may(actor, Action.MEMBERS, team=team, even_archived=True),
    }
    return render(request, "teams/settings.html", context, status=422 if form.is_bound else 200)
