"""The settings page of a skill: visibility, channels, deprecation, rename, merge, purge, audit log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action
from portal.forms.errors import add_refusals
from portal.forms.team_choice import publishing_teams
from portal.forms.version_changes import DeprecateSkillForm, MergeForm, PurgeForm, RenameForm, VisibilityForm
from portal.pages.skill.views.phrases import phrase_context
from portal.pages.skill.views.skill import layout
from portal.presenters.audit import audit_rows
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, may, require
from registry.lookup.skills import find_skill
from registry.models import AuditEntry, Skill, Team
from registry.versions.lifecycle import channels, merge, purge, settings, yank
from registry.versions.lifecycle import rename as publishing_rename

_AUDIT_SHOWN = 20
Act = Callable[[ActorRequest, Skill, dict[str, Any]], Skill | None]


def _visibility(request: ActorRequest, skill: Skill, given: dict[str, Any]) -> Skill:
    settings.set_visibility(skill, given["visibility"], request.actor)
    messages.success(request, _("Saved."))
    return skill


def _deprecate(request: ActorRequest, skill: Skill, given: dict[str, Any]) -> Skill:
    successor = find_skill(given["successor"], request.actor) if given["successor"] else None
    yank.deprecate_skill(skill, request.actor, reason=given["reason"], successor=successor)
    undo = reverse("skill-undeprecate", args=[skill.team.slug, skill.slug])
    messages.success(
        request, _("Skill deprecated. People and agents that use it see a notice."), extra_tags=undo
    )
    return skill


def _rename(request: ActorRequest, skill: Skill, given: dict[str, Any]) -> Skill:
    moved = publishing_rename.rename(skill, request.actor, slug=given["slug"], team=given["team"])
    messages.success(
        request, _("The skill is now %(name)s. Its old address redirects here.") % {"name": moved}
    )
    return moved


def _merge(request: ActorRequest, skill: Skill, given: dict[str, Any]) -> Skill:
    into = merge.merge(skill, find_skill(given["into"], request.actor), request.actor)
    messages.success(request, _("%(name)s was merged into this skill.") % {"name": skill})
    return into


def _purge(request: ActorRequest, skill: Skill, given: dict[str, Any]) -> None:
    purge.purge_skill(skill, request.actor, reason=given["reason"])
    messages.success(request, _("%(name)s was purged.") % {"name": skill})


_ACTS: dict[str, Act] = {
    "visibility": _visibility,
    "deprecate": _deprecate,
    "rename": _rename,
    "merge": _merge,
    "purge": _purge,
}


@login_required
def page(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """Shows the settings page; a POST applies the form that ``action`` names."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    require(request.actor, Action.SETTINGS, skill=skill)
    verb = request.POST.get("action", "visibility")
    found = _forms(request, skill, verb if request.method == "POST" else "")
    form = found.get(verb)
    if request.method == "POST" and form and form.is_valid():
        with add_refusals(form):
            target = _ACTS[verb](request, skill, form.cleaned_data)
            return redirect("skill", target.team.slug, target.slug) if target else redirect("team", team)
    context: dict[str, Any] = {
        "forms": found,
        "form": form,
        "verb": verb,
        "audit": _audit(skill, request.actor),
    }
    context |= phrase_context(skill, request.actor) | {"channels": skill.channels.select_related("version")}
    also = (context["phrases"], context["channels"])
    return render(request, "skill/settings.html", layout(request, skill, "settings", also=also) | context)


def _forms(request: ActorRequest, skill: Skill, submitted: str) -> dict[str, forms.Form]:
    """The forms that the actor may use, by name. Only the form named ``submitted`` is bound."""

    def data_for(verb: str) -> Any:
        return request.POST if verb == submitted else None

    found: dict[str, forms.Form] = {
        "visibility": VisibilityForm(data_for("visibility"), initial={"visibility": skill.visibility}),
        "deprecate": DeprecateSkillForm(data_for("deprecate"), auto_id="deprecate-%s"),
    }
    if may(request.actor, Action.TRANSFER, skill=skill):
        initial = {"slug": skill.slug, "team": skill.team.slug}
        teams = _teams(request, skill)
        rename = RenameForm(data_for("rename"), teams=teams, initial=initial, auto_id="rename-%s")
        found |= {"rename": rename, "merge": MergeForm(data_for("merge"), auto_id="merge-%s")}
    if may(request.actor, Action.DELETE, skill=skill):
        found["purge"] = PurgeForm(data_for("purge"), expected=str(skill), auto_id="purge-%s")
    return found


def _teams(request: ActorRequest, skill: Skill) -> QuerySet[Team]:
    """The visible teams for which the actor may publish, and the skill's own team."""
    chosen = publishing_teams(request.actor).values("pk")
    visible = Team.objects.visible_to(request.actor).order_by("slug").only("slug")
    return visible.filter(Q(pk__in=chosen) | Q(pk=skill.team_id))


def _audit(skill: Skill, actor: Actor) -> list[dict[str, Any]]:
    rows = AuditEntry.objects.filter(team=skill.team).select_related("user", "as_user")
    rows = rows.filter(Q(target=str(skill)) | Q(target__startswith=f"{skill}@"))
    return audit_rows(rows.order_by("-pk")[:_AUDIT_SHOWN], actor)


@signed_in_action
def undeprecate(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    skill = find_skill(f"{team}/{slug}", request.actor)
    yank.undeprecate_skill(skill, request.actor)
    messages.success(request, _("The skill is no longer deprecated."))
    return redirect("skill", skill.team.slug, skill.slug)


@signed_in_action
def remove_channel(request: ActorRequest, team: str, slug: str, name: str) -> HttpResponse:
    skill = find_skill(f"{team}/{slug}", request.actor)
    channels.remove_channel(skill, name, request.actor)
    messages.success(request, _("The channel %(name)s was removed.") % {"name": name})
    return redirect("skill-settings", skill.team.slug, skill.slug)
