"""A skill's pages: overview, versions, one version, settings. Its files and runs have their own modules."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from portal.forms.skill import VisibilityForm
from portal.showing import markdown
from portal.showing.allowances import allowances
from portal.showing.installing import lines_for
from portal.showing.remembering import Remembered
from portal.showing.schema_rows import input_rows
from portal.showing.skill_use import Offer, fares_of_version, offer_of
from registry import publishing, usage
from registry.catalog import find_skill, find_version
from registry.middleware import ActorRequest
from registry.models import Membership, Role, Skill, User, Version
from registry.permissions import Action, may, require

_SEVERITIES = ("error", "warning", "notice")
_READMES: Remembered[str] = Remembered(64)


def layout(
    request: ActorRequest, skill: Skill, tab: str, *, version: Version | None = None
) -> dict[str, Any]:
    """What ``skills/layout.html`` needs; ``tab`` is overview, versions, files, runs or settings."""
    shown = version or skill.latest
    offer = offer_of(shown) if shown else None
    return {
        "skill": skill,
        "tab": tab,
        "version": shown,
        "is_latest": shown is not None and shown.pk == skill.latest_id,
        "version_count": skill.versions.count(),
        "offer": offer,
        "runnable": offer is not None and offer.runnable and _may_press(request, skill),
        "may_change": may(request.actor, Action.SETTINGS, skill=skill),
        "may_edit": may(request.actor, Action.PUBLISH, skill=skill),
    }


def _may_press(request: ActorRequest, skill: Skill) -> bool:
    """Run is shown to whom it will not refuse; who is not signed in is led there by signing in."""
    return not request.actor.is_signed_in or may(request.actor, Action.RUN, skill=skill)


@require_safe
def overview(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    skill = find_skill(f"{team}/{slug}", request.actor)
    version = find_version(skill, None, request.actor)
    return _shown(request, version, "overview")


@require_safe
def version(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    """One version, latest or not, as it was published."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    return _shown(request, find_version(skill, number, request.actor), "versions")


@require_safe
def versions(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    skill = find_skill(f"{team}/{slug}", request.actor)
    rows = skill.versions.visible_to(request.actor).select_related("published_by")
    rows = rows.defer("manifest", "body").order_by("-precedence", "-pk")
    return render(request, "skills/versions.html", layout(request, skill, "versions") | {"versions": rows})


@login_required
def settings(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """Who may see the skill."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    require(request.actor, Action.SETTINGS, skill=skill)
    form = VisibilityForm(request.POST or None, initial={"visibility": skill.visibility})
    if request.method == "POST" and form.is_valid():
        publishing.set_visibility(skill, form.cleaned_data["visibility"], request.actor)
        messages.success(request, _("Saved."))
        return redirect("skill-settings", team, slug)
    return render(request, "skills/settings.html", layout(request, skill, "settings") | {"form": form})


def _shown(request: ActorRequest, version: Version, tab: str) -> HttpResponse:
    skill = version.skill
    context = layout(request, skill, tab, version=version)
    offer: Offer = context["offer"]
    manifest = offer.manifest
    files = version.files.order_by("path")
    context |= {
        "manifest": manifest,
        "readme": _readme(version),
        "inputs": input_rows(manifest.input_schema),
        "outputs": input_rows(manifest.output_schema),
        "allowances": allowances(manifest),
        "lines": lines_for(offer),
        "problems": _problems(version),
        "fares": fares_of_version(version, publishing.problems_of(version)),
        "score": _score(skill),
        "owners": _owners(request, skill),
        "file_count": files.count(),
    }
    return render(request, "skills/overview.html", context)


def _readme(version: Version) -> str:
    """SKILL.md as HTML, which the digest and the place of its links decide."""
    skill = version.skill
    root = reverse("files", args=[skill.team.slug, skill.slug, version.number])
    raw = root.removesuffix("files/") + "raw/"
    return _READMES.get(
        (version.digest, root),
        lambda: markdown.render(
            version.body,
            paths=version.files.values_list("path", flat=True),
            page=lambda path: root + path,
            raw=lambda path: raw + path,
        ),
    )


def _problems(version: Version) -> list[dict[str, object]]:
    """The worst first; each in the reader's language."""
    found = [problem.document(_) for problem in publishing.problems_of(version)]
    return sorted(found, key=lambda problem: _SEVERITIES.index(str(problem["severity"])))


def _score(skill: Skill) -> dict[str, Any]:
    """The numbers of the score's formula, so that the page can show how it came about."""
    now = timezone.now()
    days = (now - skill.last_used_at).total_seconds() / 86_400 if skill.last_used_at else 0.0
    factor = max(0.5 ** (max(days, 0) / 7), usage.FLOOR)
    return {
        "count": skill.usage_count,
        "days": f"{max(days, 0):.1f}",
        "factor": f"{factor:.2f}",
        "floor": factor == usage.FLOOR,
        "score": f"{usage.score(skill.usage_count, skill.last_used_at, now):.1f}",
    }


def _owners(request: ActorRequest, skill: Skill) -> list[User]:
    """Names of people are for people who are signed in."""
    if not request.actor.is_signed_in:
        return []
    rows = Membership.objects.filter(team=skill.team, role=Role.OWNER).select_related("user")
    return [row.user for row in rows.order_by("user__username")]
