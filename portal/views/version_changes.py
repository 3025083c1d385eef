"""What maintainers do to a version: yank, deprecate, channel, changes, purge; and the way back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from portal.forms.refusals import add_refusal, say
from portal.forms.versions import FORMS, PurgeForm
from portal.views.skill import layout
from registry import publishing
from registry.actors import Actor
from registry.catalog import find_skill, find_version
from registry.middleware import ActorRequest
from registry.models import Version
from registry.packages.problems import Refused
from registry.permissions import Action, require


@dataclass(frozen=True)
class Verb:
    """What is done, what is said of it, and which verb takes it back."""

    act: Callable[[Version, Actor, Mapping[str, Any]], object]
    says: Promise | str
    back: str = ""


def _yank(version: Version, actor: Actor, given: Mapping[str, Any]) -> None:
    publishing.yank(version, actor, reason=given["reason"])


def _deprecate(version: Version, actor: Actor, given: Mapping[str, Any]) -> None:
    publishing.deprecate_version(version, actor, reason=given["reason"], successor=given["successor"])


VERBS = {
    "yank": Verb(_yank, _("Version %(number)s is yanked."), "unyank"),
    "unyank": Verb(
        lambda version, actor, given: publishing.unyank(version, actor),
        _("Version %(number)s is offered again."),
    ),
    "deprecate": Verb(_deprecate, _("Version %(number)s is deprecated."), "undeprecate"),
    "undeprecate": Verb(
        lambda version, actor, given: publishing.undeprecate_version(version, actor),
        _("Version %(number)s is not deprecated any more."),
    ),
    "channel": Verb(
        lambda version, actor, given: publishing.set_channel(given["channel"], version, actor),
        _("The channel means version %(number)s now."),
    ),
    "changelog": Verb(
        lambda version, actor, given: publishing.set_changelog(version, given["changelog"], actor),
        _("What changed in version %(number)s is saved."),
    ),
}


@require_POST
@login_required
def change(request: ActorRequest, team: str, slug: str, number: str, verb: str) -> HttpResponse:
    version = find_version(find_skill(f"{team}/{slug}", request.actor), number, request.actor, even_held=True)
    place, chosen = (version.skill.team.slug, version.skill.slug, version.number), VERBS[verb]
    form = FORMS.get(verb, forms.Form)(request.POST)
    try:
        if not form.is_valid():
            messages.error(request, str(next(iter(form.errors.values()))[0]))
            return redirect("version", *place)
        chosen.act(version, request.actor, form.cleaned_data)
    except Refused as refused:
        say(request, refused)
        return redirect("version", *place)
    undo = reverse(f"version-{chosen.back}", args=place) if chosen.back else ""
    messages.success(request, str(chosen.says) % {"number": version.number}, extra_tags=undo)
    return redirect("version", *place)


@login_required
def purge(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    """Asks for the version's name and a reason before its content goes for good."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    version = find_version(skill, number, request.actor, even_held=True)
    require(request.actor, Action.DELETE, skill=version.skill)
    form = PurgeForm(request.POST or None, expected=str(version))
    if request.method == "POST" and form.is_valid():
        try:
            publishing.purge_version(version, request.actor, reason=form.cleaned_data["reason"])
            messages.success(request, gettext("Version %(number)s is purged.") % {"number": version.number})
            return redirect("versions", team, slug)
        except Refused as refused:
            add_refusal(form, refused)
    context = layout(request, version.skill, "versions", version=version) | {"form": form}
    return render(request, "skills/purge.html", context)
