"""A skill's settings: who sees it, its channels, its end or its move; and what was done to it so far."""

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
from django.views.decorators.http import require_POST

from portal.forms.refusals import add_refusal
from portal.forms.skill import VisibilityForm
from portal.forms.versions import DeprecateSkillForm, MergeForm, PurgeForm, RenameForm
from portal.views.phrases import shown_phrases
from portal.views.skill import layout
from registry import publishing
from registry.catalog import find_skill
from registry.middleware import ActorRequest
from registry.models import AuditEntry, Skill, Team
from registry.packages.problems import Refused
from registry.permissions import Action, may, require

_AUDIT_SHOWN = 20
Act = Callable[[ActorRequest, Skill, dict[str, Any]], Skill | None]


def _visibility(request: ActorRequest, skill: Skill, given: dict[str, Any]) -> Skill:
    publishing.set_visibility(skill, given["visibility"], request.actor)
    messages.success(request, _("Saved."))
    return skill


def _deprecate(request: ActorRequest, skill: Skill, given: dict[str, Any]) -> Skill:
    successor = find_skill(given["successor"], request.actor) if given["successor"] else None
    publishing.deprecate_skill(skill, request.actor, reason=given["reason"], successor=successor)
    undo = reverse("skill-undeprecate", args=[skill.team.slug, skill.slug])
    messages.success(request, _("The skill is deprecated: whoever uses it is told."), extra_tags=undo)
    return skill


def _rename(request: ActorRequest, skill: Skill, given: dict[str, Any]) -> Skill:
    moved = publishing.rename(skill, request.actor, slug=given["slug"], team=given["team"])
    messages.success(request, _("The skill is %(name)s now; its old address leads here.") % {"name": moved})
    return moved


def _merge(request: ActorRequest, skill: Skill, given: dict[str, Any]) -> Skill:
    into = publishing.merge(skill, find_skill(given["into"], request.actor), request.actor)
    messages.success(request, _("%(name)s leads here now.") % {"name": skill})
    return into


def _purge(request: ActorRequest, skill: Skill, given: dict[str, Any]) -> None:
    publishing.purge_skill(skill, request.actor, reason=given["reason"])
    messages.success(request, _("%(name)s is purged.") % {"name": skill})


_ACTS: dict[str, Act] = {
    "visibility": _visibility,
    "deprecate": _deprecate,
    "rename": _rename,
    "merge": _merge,
    "purge": _purge,
}


@login_required
def page(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """Several forms, each of which sends its own name as ``verb``."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    require(request.actor, Action.SETTINGS, skill=skill)
    verb = request.POST.get("verb", "visibility")
    found = _forms(request, skill, verb if request.method == "POST" else "")
    form = found.get(verb)
    if request.method == "POST" and form and form.is_valid():
        try:
            shown = _ACTS[verb](request, skill, form.cleaned_data)
            return redirect("skill", shown.team.slug, shown.slug) if shown else redirect("team", team)
        except Refused as refused:
            add_refusal(form, refused)
    context = {"forms": found, "form": form, "verb": verb, "audit": _audit(skill)}
    context |= shown_phrases(skill, request.actor)
    return render(request, "skills/settings.html", layout(request, skill, "settings") | context)


def _forms(request: ActorRequest, skill: Skill, sent: str) -> dict[str, forms.Form]:
    """Those that the actor may use; the one that was sent holds what was sent."""

    def filled(verb: str) -> Any:
        return request.POST if verb == sent else None

    found: dict[str, forms.Form] = {
        "visibility": VisibilityForm(filled("visibility"), initial={"visibility": skill.visibility}),
        "deprecate": DeprecateSkillForm(filled("deprecate"), auto_id="deprecate-%s"),
    }
    if may(request.actor, Action.TRANSFER, skill=skill):
        initial = {"slug": skill.slug, "team": skill.team.slug}
        rename = RenameForm(filled("rename"), initial=initial, auto_id="rename-%s")
        rename.fields["team"].queryset = _teams(request, skill)  # type: ignore[attr-defined]
        found |= {"rename": rename, "merge": MergeForm(filled("merge"), auto_id="merge-%s")}
    if may(request.actor, Action.DELETE, skill=skill):
        found["purge"] = PurgeForm(filled("purge"), expected=str(skill), auto_id="purge-%s")
    return found


def _teams(request: ActorRequest, skill: Skill) -> QuerySet[Team]:
    """Those to which the actor may publish, and the skill's own."""
    visible = Team.objects.visible_to(request.actor).order_by("slug")
    chosen = [team.pk for team in visible if may(request.actor, Action.PUBLISH, team=team)]
    return visible.filter(pk__in=[*chosen, skill.team_id])


def _audit(skill: Skill) -> list[AuditEntry]:
    """What was done to the skill and its versions, the latest first."""
    rows = AuditEntry.objects.filter(team=skill.team).select_related("user")
    rows = rows.filter(Q(target=str(skill)) | Q(target__startswith=f"{skill}@"))
    return list(rows.order_by("-pk")[:_AUDIT_SHOWN])


@require_POST
@login_required
def undeprecate(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    skill = find_skill(f"{team}/{slug}", request.actor)
    publishing.undeprecate_skill(skill, request.actor)
    messages.success(request, _("The skill is not deprecated any more."))
    return redirect("skill", skill.team.slug, skill.slug)


@require_POST
@login_required
def remove_channel(request: ActorRequest, team: str, slug: str, name: str) -> HttpResponse:
    skill = find_skill(f"{team}/{slug}", request.actor)
    publishing.remove_channel(skill, name, request.actor)
    messages.success(request, _("The channel %(name)s is gone.") % {"name": name})
    return redirect("skill-settings", skill.team.slug, skill.slug)
