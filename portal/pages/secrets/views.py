"""Views that set and remove a team's secrets, grant them to versions and review versions.

No view shows the value of a secret.
"""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from portal.decorators import signed_in_action, signed_in_form
from portal.forms.errors import add_refusals, show_refusals
from portal.forms.suggestions import suggest, visible_skills
from portal.pages.secrets.forms import SecretForm, VersionForm
from portal.presenters.secrets import secret_rows, version_secrets
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, may
from registry.lookup.skills import find_skill, find_team, find_version
from registry.models import Team, Version
from registry.secrets import grants, reviews, values


@sensitive_post_parameters("value")
@signed_in_form
def page(request: ActorRequest, slug: str) -> HttpResponse:
    team = find_team(slug, request.actor)
    rows = secret_rows(team, request.actor)
    form = SecretForm(request.POST or None, initial={"name": request.GET.get("name", "")[:64]})
    if form.is_valid():
        with add_refusals(form):
            row = values.put_secret(
                team, form.cleaned_data["name"], form.cleaned_data["value"], request.actor
            )
            messages.success(request, _("The secret %(name)s was saved.") % {"name": row.name})
            return redirect(_address(team, request.GET))
    context = _context(request, team) | {"rows": rows, "form": form}
    return render(request, "secrets/secrets.html", context, status=422 if form.is_bound else 200)


@signed_in_action
def remove(request: ActorRequest, slug: str) -> HttpResponse:
    team = find_team(slug, request.actor)
    with show_refusals(request):
        row = values.find_secret(team, request.POST.get("name", ""), request.actor)
        values.remove_secret(row, request.actor)
        messages.success(request, _("The secret %(name)s was removed.") % {"name": row.name})
    return redirect("team-secrets", team.slug)


@signed_in_action
def grant(request: ActorRequest, slug: str) -> HttpResponse:
    team, version = find_team(slug, request.actor), _version(request)
    to = "reviewed" if request.POST.get("scope") == "reviewed" else "version"
    with show_refusals(request):
        row = values.find_secret(team, request.POST.get("name", ""), request.actor)
        grants.grant(row, version, request.actor, to=to)
        text = _("Runs of %(skill)s can now read %(name)s.")
        if to == "reviewed":
            text = _(
                "Runs of %(skill)s can read %(name)s after the team reviews this version. The "
                "same applies to later versions."
            )
        messages.success(request, text % {"skill": version, "name": row.name})
    return redirect(_address(team, request.POST))


@signed_in_action
def revoke(request: ActorRequest, slug: str, uid: str) -> HttpResponse:
    team = find_team(slug, request.actor)
    with show_refusals(request):
        row = grants.revoke(uid, team, request.actor)
        messages.success(
            request,
            _("The grant was revoked. It no longer gives the secret to new runs of %(skill)s.")
            % {"skill": row.skill},
        )
    return redirect("team-secrets", team.slug)


@signed_in_action
def review(request: ActorRequest, slug: str) -> HttpResponse:
    """Marks a version as reviewed by the team, or withdraws the review if ``withdraw`` is set."""
    team, version = find_team(slug, request.actor), _version(request)
    verb = reviews.withdraw_review if request.POST.get("withdraw") else reviews.review
    with show_refusals(request):
        verb(version, team, request.actor)
        messages.success(request, _("The review status of %(skill)s was updated.") % {"skill": version})
    return redirect(_address(team, request.POST))


def _version(request: ActorRequest) -> Version:
    skill = find_skill(request.POST.get("skill", "")[:130], request.actor)
    return find_version(skill, request.POST.get("version", "")[:64] or None, request.actor)


def _context(request: ActorRequest, team: Team) -> dict[str, Any]:
    """The template context, except secrets and form. ``selected`` describes the version in the URL; None if
    the URL names none or one that the actor can't see.
    """
    context: dict[str, Any] = {
        "team": team,
        "may_set": may(request.actor, Action.SETTINGS, team=team),
        "may_grant": may(request.actor, Action.GRANT, team=team),
        "selected": None,
        "chooser": VersionForm(request.GET if "skill" in request.GET else None, auto_id="of-%s"),
    }
    suggest(context["chooser"], "skill", visible_skills(request.actor))
    if context["chooser"].is_valid():
        chosen = context["chooser"].cleaned_data
        with add_refusals(context["chooser"]):
            skill = find_skill(chosen["skill"], request.actor)
            version = find_version(skill, chosen["version"] or None, request.actor)
            context["selected"] = version_secrets(version, team, request.actor)
    return context


def _address(team: Team, query: Any) -> str:
    about = {key: query[key] for key in ("skill", "version") if query.get(key)}
    return reverse("team-secrets", args=[team.slug]) + (f"?{urlencode(about)}" if about else "")
