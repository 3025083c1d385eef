"""A version's dependencies: live while they are made, and the button that makes them again."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from portal.forms.refusals import say
from portal.showing.preparations import shown_of
from registry.catalog import find_skill, find_version
from registry.middleware import ActorRequest
from registry.models import Version
from registry.packages.problems import Refused
from worker.dependencies.preparing import prepare_again


@require_safe
def live(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    """The part of the page that changes while a worker is at it."""
    version = _version(request, team, slug, number)
    context = {"skill": version.skill, "version": version, "preparation": shown_of(version, request.actor)}
    return render(request, "skills/preparation.html", context)


@login_required
@require_POST
def again(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    version = _version(request, team, slug, number)
    try:
        prepare_again(version, request.actor)
        messages.success(request, _("The dependencies are being prepared."))
    except Refused as refused:
        say(request, refused)
    return redirect("version", version.skill.team.slug, version.skill.slug, version.number)


def _version(request: ActorRequest, team: str, slug: str, number: str) -> Version:
    skill = find_skill(f"{team}/{slug}", request.actor)
    return find_version(skill, number, request.actor, even_held=True)
