"""A skill's pages: overview and one version. Its other tabs have modules of their own."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from portal.forms.versions import forms_for
from portal.showing import markdown, preparations
from portal.showing.allowances import allowances
from portal.showing.installing import lines_for
from portal.showing.remembering import Remembered
from portal.showing.schema_rows import input_rows, tool_rows
from portal.showing.skill_use import Offer, fares_of_version, offer_of
from portal.views.errors import Moved
from registry import canonical, catalog, publishing, trials, usage
from registry.catalog import find_skill, find_version
from registry.middleware import ActorRequest
from registry.models import Membership, Role, Skill, User, Version
from registry.packages.problems import Refused
from registry.packages.versions import normalise
from registry.permissions import Action, may

_SEVERITIES = ("error", "warning", "notice")
_READMES: Remembered[str] = Remembered(64)


def layout(
    request: ActorRequest, skill: Skill, tab: str, *, version: Version | None = None
) -> dict[str, Any]:
    """What ``skills/layout.html`` needs; ``tab`` is overview, versions, files, runs or settings."""
    _lead_on(request, skill)
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
        "successor": catalog.successor_of(skill, request.actor),
        "canonical": canonical.of_skill(skill),
        "may_edit": may(request.actor, Action.PUBLISH, skill=skill),
    }


def _lead_on(request: ActorRequest, skill: Skill) -> None:
    """From an address that the skill had before to the same page at its present one."""
    match = request.resolver_match
    named = {"team": skill.team.slug, "slug": skill.slug}
    if skill.found_as:
        raise Moved(reverse("version", kwargs={**named, "number": skill.found_as.number}))
    if request.method not in ("GET", "HEAD") or match is None or named.items() <= match.kwargs.items():
        return
    query = request.META.get("QUERY_STRING", "")
    address = reverse(match.view_name, kwargs={**match.kwargs, **named})
    raise Moved(f"{address}?{query}" if query else address)


def _may_press(request: ActorRequest, skill: Skill) -> bool:
    """Run is shown to whom it will not refuse; who is not signed in is led there by signing in."""
    return not request.actor.is_signed_in or may(request.actor, Action.RUN, skill=skill)


@require_safe
def overview(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """The latest version; where there is none to use, the list of those that there are."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    if skill.latest_id is None and skill.versions.visible_to(request.actor).exists():
        return redirect("versions", skill.team.slug, skill.slug)
    return _shown(request, find_version(skill, None, request.actor), "overview")


@require_safe
def version(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    """One version, latest or not, as it was published; of a purged one what stays of it."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    try:
        found = find_version(skill, number, request.actor, even_held=True)
    except Refused as refused:
        stone = (skill.merged_from or skill).tombstones.filter(number=normalise(number)).first()
        if refused.code != "PURGED" or stone is None:
            raise
        return render(
            request, "skills/purged.html", layout(request, skill, "versions") | {"stone": stone}, status=410
        )
    return _shown(request, found, "versions")


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
        "tools": tool_rows(offer.menu.tools),
        "allowances": allowances(manifest),
        "preparation": preparations.shown_of(version, request.actor),
        "lines": lines_for(offer),
        "problems": _problems(version),
        "fares": fares_of_version(version, publishing.problems_of(version)),
        "trials": trials.results(version, request.actor),
        "score": usage.explained(skill),
        "owners": _owners(request, skill),
        "file_count": files.count(),
        "earlier": _earlier(request, version),
    }
    if tab == "versions" and context["may_change"]:
        may_purge = may(request.actor, Action.DELETE, skill=skill)
        context |= {"changes": forms_for(version), "may_purge": may_purge}
    return render(request, "skills/overview.html", context)


def _earlier(request: ActorRequest, version: Version) -> str | None:
    """The number before this one."""
    rows = version.skill.versions.visible_to(request.actor).filter(precedence__lt=version.precedence)
    return rows.order_by("-precedence").values_list("number", flat=True).first()


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


def _owners(request: ActorRequest, skill: Skill) -> list[User]:
    """Names of people are for people who are signed in."""
    if not request.actor.is_signed_in:
        return []
    rows = Membership.objects.filter(team=skill.team, role=Role.OWNER).select_related("user")
    return [row.user for row in rows.order_by("user__username")]
