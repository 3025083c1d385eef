"""Views that change a version: yank, deprecate, channel, changelog, purge; and undo yank and deprecate."""

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

from portal.decorators import signed_in_action
from portal.forms.errors import add_refusals, show_refusals
from portal.forms.version_changes import FORMS, PurgeForm
from portal.pages.skill.views.skill import layout, version_at
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, require
from registry.models import Version
from registry.versions.lifecycle import channels, settings
from registry.versions.lifecycle import purge as publishing_purge
from registry.versions.lifecycle import yank as publishing_yank
from worker.models import Schedule
from worker.run_views.statistics import runs_by_version


@dataclass(frozen=True)
class Verb:
    """One kind of change: its function, the success message, and the verb that undoes it ("" if none)."""

    act: Callable[[Version, Actor, Mapping[str, Any]], object]
    message: Promise | str
    undo: str = ""


def _yank(version: Version, actor: Actor, given: Mapping[str, Any]) -> None:
    publishing_yank.yank(version, actor, reason=given["reason"])


def _deprecate(version: Version, actor: Actor, given: Mapping[str, Any]) -> None:
    publishing_yank.deprecate_version(version, actor, reason=given["reason"], successor=given["successor"])


VERBS = {
    "yank": Verb(_yank, _("Version %(number)s was yanked."), "unyank"),
    "unyank": Verb(
        lambda version, actor, given: publishing_yank.unyank(version, actor),
        _("Version %(number)s is no longer yanked."),
    ),
    "deprecate": Verb(_deprecate, _("Version %(number)s was deprecated."), "undeprecate"),
    "undeprecate": Verb(
        lambda version, actor, given: publishing_yank.undeprecate_version(version, actor),
        _("Version %(number)s is no longer deprecated."),
    ),
    "channel": Verb(
        lambda version, actor, given: channels.set_channel(given["channel"], version, actor),
        _("The channel now points to version %(number)s."),
    ),
    "changelog": Verb(
        lambda version, actor, given: settings.set_changelog(version, given["changelog"], actor),
        _("The changelog of version %(number)s was saved."),
    ),
}


@signed_in_action
def change(request: ActorRequest, team: str, slug: str, number: str, verb: str) -> HttpResponse:
    version = version_at(request, team, slug, number)
    place, chosen = (version.skill.team.slug, version.skill.slug, version.number), VERBS[verb]
    form = FORMS.get(verb, forms.Form)(request.POST)
    if not form.is_valid():
        messages.error(request, str(next(iter(form.errors.values()))[0]))
        return redirect("version", *place)
    with show_refusals(request):
        chosen.act(version, request.actor, form.cleaned_data)
        undo = reverse(f"version-{chosen.undo}", args=place) if chosen.undo else ""
        messages.success(request, str(chosen.message) % {"number": version.number}, extra_tags=undo)
    return redirect("version", *place)


@login_required
def purge(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    """Shows the purge form; a POST with the version's name and a reason purges the version."""
    version = version_at(request, team, slug, number)
    require(request.actor, Action.DELETE, skill=version.skill)
    form = PurgeForm(request.POST or None, expected=str(version))
    if form.is_valid():
        with add_refusals(form):
            publishing_purge.purge_version(version, request.actor, reason=form.cleaned_data["reason"])
            messages.success(request, gettext("Version %(number)s was purged.") % {"number": version.number})
            return redirect("versions", team, slug)
    context = layout(request, version.skill, "versions", version=version) | {"form": form}
    return render(request, "versions/purge.html", context | _affected(version, request.actor))


def _affected(version: Version, actor: Actor) -> dict[str, int]:
    """The numbers of the version's files, and of its ended runs and its schedules that the actor can see."""
    schedules = Schedule.objects.visible_to(actor).filter(skill=version.skill, deleted_at=None)
    return {
        "file_count": version.files.count(),
        "run_count": runs_by_version(version.skill, actor)[version.number],
        "schedule_count": schedules.filter(version_number=version.number).count(),
    }
