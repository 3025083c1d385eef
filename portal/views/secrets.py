"""A team's secrets: set, granted to what was read, revoked; no value is ever shown."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from portal.forms.refusals import add_refusal, say
from portal.forms.secrets import OfVersionForm, SecretForm
from portal.showing.secrets import asked_of, secret_rows
from registry import secrets
from registry.catalog import find_skill, find_team, find_version
from registry.middleware import ActorRequest
from registry.models import Team, Version
from registry.packages.problems import Refused
from registry.permissions import Action, may


@sensitive_post_parameters("value")
@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def page(request: ActorRequest, slug: str) -> HttpResponse:
    team = find_team(slug, request.actor)
    rows = secret_rows(team, request.actor)
    form = SecretForm(request.POST or None, initial={"name": request.GET.get("name", "")[:64]})
    if request.method == "POST" and form.is_valid():
        try:
            row = secrets.put_secret(
                team, form.cleaned_data["name"], form.cleaned_data["value"], request.actor
            )
            messages.success(request, _("The secret %(name)s is set.") % {"name": row.name})
            return redirect(_address(team, request.GET))
        except Refused as refused:
            add_refusal(form, refused)
    context = _context(request, team) | {"rows": rows, "form": form}
    return render(request, "teams/secrets.html", context, status=422 if form.is_bound else 200)


@login_required
@require_POST
def remove(request: ActorRequest, slug: str) -> HttpResponse:
    team = find_team(slug, request.actor)
    try:
        row = secrets.find_secret(team, request.POST.get("name", ""), request.actor)
        secrets.remove_secret(row, request.actor)
        messages.success(request, _("The secret %(name)s is gone.") % {"name": row.name})
    except Refused as refused:
        say(request, refused)
    return redirect("team-secrets", team.slug)


@login_required
@require_POST
def grant(request: ActorRequest, slug: str) -> HttpResponse:
    team, version = find_team(slug, request.actor), _version(request)
    to = "reviewed" if request.POST.get("to") == "reviewed" else "version"
    try:
        row = secrets.find_secret(team, request.POST.get("name", ""), request.actor)
        secrets.grant(row, version, request.actor, to=to)
        said = _("Runs of %(skill)s get %(name)s.")
        if to == "reviewed":
            said = _("Runs of %(skill)s get %(name)s once the team has reviewed it, as each later version.")
        messages.success(request, said % {"skill": version, "name": row.name})
    except Refused as refused:
        say(request, refused)
    return redirect(_address(team, request.POST))


@login_required
@require_POST
def revoke(request: ActorRequest, slug: str, uid: str) -> HttpResponse:
    team = find_team(slug, request.actor)
    try:
        row = secrets.revoke(uid, team, request.actor)
        messages.success(request, _("No run of %(skill)s gets it any more.") % {"skill": row.skill})
    except Refused as refused:
        say(request, refused)
    return redirect("team-secrets", team.slug)


@login_required
@require_POST
def review(request: ActorRequest, slug: str) -> HttpResponse:
    """Vouches for a version, or takes that back."""
    team, version = find_team(slug, request.actor), _version(request)
    verb = secrets.withdraw_review if request.POST.get("withdraw") else secrets.review
    try:
        verb(version, team, request.actor)
        messages.success(request, _("That is noted of %(skill)s.") % {"skill": version})
    except Refused as refused:
        say(request, refused)
    return redirect(_address(team, request.POST))


def _version(request: ActorRequest) -> Version:
    skill = find_skill(request.POST.get("skill", "")[:130], request.actor)
    return find_version(skill, request.POST.get("version", "")[:64] or None, request.actor)


def _context(request: ActorRequest, team: Team) -> dict[str, Any]:
    """What is asked about one version, where the address names one."""
    context: dict[str, Any] = {
        "team": team,
        "section": "teams",
        "may_set": may(request.actor, Action.SETTINGS, team=team),
        "may_grant": may(request.actor, Action.GRANT, team=team),
        "asked": None,
        "chooser": OfVersionForm(request.GET if "skill" in request.GET else None, auto_id="of-%s"),
    }
    if context["chooser"].is_valid():
        chosen = context["chooser"].cleaned_data
        try:
            skill = find_skill(chosen["skill"], request.actor)
            version = find_version(skill, chosen["version"] or None, request.actor)
            context["asked"] = asked_of(version, team, request.actor)
        except Refused as refused:
            add_refusal(context["chooser"], refused)
    return context


def _address(team: Team, asked: Any) -> str:
    about = {key: asked[key] for key in ("skill", "version") if asked.get(key)}
    return reverse("team-secrets", args=[team.slug]) + (f"?{urlencode(about)}" if about else "")
