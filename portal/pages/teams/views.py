"""Teams: list, detail, settings and members."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from portal.decorators import signed_in_action
from portal.forms.errors import add_refusals, show_refusals
from portal.pages.listing.forms import TeamSubscriptionForm
from portal.pages.teams.forms import MemberForm, RoleForm, TeamForm, TeamSettingsForm
from registry.core.errors import NOT_FOUND
from registry.identity import teams
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, may, require
from registry.lookup.skills import find_team
from registry.models import AuditEntry, Membership, Role, Skill, Team, User
from registry.subscriptions.trusted_teams import list_subscriptions

AUDIT_SHOWN = 50
_MAX_SKILLS = 100  # on a team's page; the catalog lists all


@login_required
def listing(request: ActorRequest) -> HttpResponse:
    own = Membership.objects.filter(user=request.actor.user).select_related("team").order_by("team__slug")
    own = own.annotate(skills=Count("team__skills", distinct=True))
    others = Team.objects.visible_to(request.actor).exclude(pk__in=request.actor.team_ids).order_by("slug")
    return render(request, "teams/list.html", {"own": own, "others": others})


@login_required
def new(request: ActorRequest) -> HttpResponse:
    form = TeamForm(request.POST or None)
    if form.is_valid():
        with add_refusals(form):
            team = teams.create_team(form.cleaned_data["slug"], form.cleaned_data["name"], request.actor)
            return redirect("team", team.slug)
    return render(request, "teams/new.html", {"form": form})


@require_safe
def page(request: ActorRequest, slug: str) -> HttpResponse:
    team = find_team(slug, request.actor)
    return _page(request, team, MemberForm())


@signed_in_action
def add(request: ActorRequest, slug: str) -> HttpResponse:
    team = find_team(slug, request.actor)
    require(request.actor, Action.MEMBERS, team=team)  # before the lookup, which would reveal user names
    form = MemberForm(request.POST)
    if form.is_valid():
        with add_refusals(form):
            member = teams.add_member(
                team, form.cleaned_data["user"], form.cleaned_data["role"], request.actor
            )
            messages.success(request, _("%(name)s was added to the team.") % {"name": member.user.username})
            return redirect("team", slug)
    return _page(request, team, form)


@signed_in_action
def settings(request: ActorRequest, slug: str) -> HttpResponse:
    team = find_team(slug, request.actor)
    require(request.actor, Action.SETTINGS, team=team)
    form = TeamSettingsForm(request.POST)
    if form.is_valid():
        teams.change_settings(team, request.actor, **form.cleaned_data)
        messages.success(request, _("Saved."))
    return redirect("team", slug)


@signed_in_action
def role(request: ActorRequest, slug: str, uid: str) -> HttpResponse:
    team = find_team(slug, request.actor)
    user = _member(team, uid, request.actor)
    with show_refusals(request):
        teams.change_role(team, user, request.POST.get("role", ""), request.actor)
        messages.success(request, _("The role of %(name)s was changed.") % {"name": user.username})
    return redirect("team", slug)


@signed_in_action
def remove(request: ActorRequest, slug: str, uid: str) -> HttpResponse:
    team = find_team(slug, request.actor)
    user = _member(team, uid, request.actor)
    with show_refusals(request):
        teams.remove_member(team, user, request.actor)
        messages.success(request, _("%(name)s is no longer on the team.") % {"name": user.username})
    return redirect(
        "teams" if user == request.actor.user else "team", *([] if user == request.actor.user else [slug])
    )


def _page(request: ActorRequest, team: Team, form: MemberForm) -> HttpResponse:
    actor = request.actor
    is_member = team.pk in actor.team_ids or actor.is_administrator
    skills = Skill.objects.discoverable_by(actor).filter(team=team, latest__isnull=False)
    context: dict[str, Any] = {
        "team": team,
        "skills": skills.select_related("team", "latest").order_by("slug")[:_MAX_SKILLS],
        "skill_count": skills.count(),
        "members": _members(team) if is_member else None,
        "may_manage": may(actor, Action.MEMBERS, team=team),
        "subscriptions": list_subscriptions(team, actor) if is_member else None,
        "subscription_form": TeamSubscriptionForm() if may(actor, Action.SETTINGS, team=team) else None,
        "form": form,
        "settings": _settings(team) if may(actor, Action.SETTINGS, team=team) else None,
        "audit": _audit(team) if may(actor, Action.SETTINGS, team=team) else None,
    }
    return render(request, "teams/team.html", context, status=400 if form.is_bound else 200)


def _settings(team: Team) -> TeamSettingsForm:
    names = ("languages", "failing_triggers_block", "memory_review")
    known = {name: getattr(team, name) for name in names}
    return TeamSettingsForm(initial=known, auto_id="settings-%s")


def _members(team: Team) -> list[tuple[Membership, RoleForm]]:
    order = list(Role.values)[::-1]
    rows = sorted(
        team.memberships.select_related("user"), key=lambda row: (order.index(row.role), row.user.username)
    )
    return [(row, RoleForm(initial={"role": row.role}, auto_id=f"role-{row.user.uid}-%s")) for row in rows]


def _audit(team: Team) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(team=team).select_related("user").order_by("-pk")[:AUDIT_SHOWN])


def _member(team: Team, uid: str, actor: Actor) -> User:
    if team.pk not in actor.team_ids and not actor.is_administrator:
        raise NOT_FOUND.refusal(what="member", name=uid[:30])
    membership = team.memberships.select_related("user").filter(user__uid=uid).first()
    if membership is None:
        raise NOT_FOUND.refusal(what="member", name=uid[:30])
    return membership.user
