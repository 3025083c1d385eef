"""A skill's overview and its version pages. Other tabs have their own modules."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from portal.forms.version_changes import forms_for
from portal.pages.errors.views import SkillMoved
from portal.pages.skill.presenters import dependencies
from portal.pages.skill.presenters.schema_rows import input_rows, tool_rows
from portal.presenters.cache import BoundedCache
from portal.presenters.content import markdown
from portal.presenters.skill.allowances import allowances
from portal.presenters.skill.install_lines import install_lines
from portal.presenters.skill.runnable_version import RunnableVersion, runnable_version, stored_profile_reports
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, may
from registry.lookup import canonical as canonical_lookup
from registry.lookup import skills
from registry.lookup.errors import PURGED
from registry.lookup.skills import find_skill, find_version
from registry.models import Membership, Role, Skill, User, Version
from registry.packages.problems import Refusal
from registry.packages.version_numbers import normalise
from registry.trigger_tests import evaluate
from registry.usage import scores
from registry.versions.publishing import version_rows
from worker.core.display_budget import CpuTime

_SEVERITIES = ("error", "warning", "notice")
_READMES: BoundedCache[str] = BoundedCache(64)


def layout(
    request: ActorRequest, skill: Skill, tab: str, *, version: Version | None = None
) -> dict[str, Any]:
    """The context of ``skill/layout.html``; ``tab`` names the current tab, such as ``overview`` or ``files``.

    Raises ``SkillMoved`` if the request used an old address of the skill, or a canonical name.
    """
    _redirect_moved(request, skill)
    shown = version or skill.latest
    runnable = runnable_version(shown) if shown else None
    return {
        "skill": skill,
        "tab": tab,
        "version": shown,
        "is_latest": shown is not None and shown.pk == skill.latest_id,
        "version_count": skill.versions.count(),
        "runnable_version": runnable,
        "runnable": runnable is not None and runnable.runnable and _may_run(request, skill),
        "may_change": may(request.actor, Action.SETTINGS, skill=skill),
        "successor": skills.visible_successor(skill, request.actor),
        "canonical": canonical_lookup.canonical_for_skill(skill),
        "may_edit": may(request.actor, Action.PUBLISH, skill=skill),
    }


def version_at(request: ActorRequest, team: str, slug: str, number: str) -> Version:
    """The version at an address, even if it is held."""
    return find_version(find_skill(f"{team}/{slug}", request.actor), number, request.actor, include_held=True)


def _redirect_moved(request: ActorRequest, skill: Skill) -> None:
    """Raises ``SkillMoved`` from an old address to the current one, from a canonical name to the version."""
    match = request.resolver_match
    named = {"team": skill.team.slug, "slug": skill.slug}
    if skill.resolved_canonical:
        raise SkillMoved(reverse("version", kwargs={**named, "number": skill.resolved_canonical.number}))
    if request.method not in ("GET", "HEAD") or match is None or named.items() <= match.kwargs.items():
        return
    query = request.META.get("QUERY_STRING", "")
    address = reverse(match.view_name, kwargs={**match.kwargs, **named})
    raise SkillMoved(f"{address}?{query}" if query else address)


def _may_run(request: ActorRequest, skill: Skill) -> bool:
    """Whether to show the Run button. Anonymous users see it, too, and sign in when they press it."""
    return not request.actor.is_signed_in or may(request.actor, Action.RUN, skill=skill)


@require_safe
def overview(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """The latest version; redirects to the version list if no version is usable."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    if skill.latest_id is None and skill.versions.visible_to(request.actor).exists():
        return redirect("versions", skill.team.slug, skill.slug)
    return _render_version(request, find_version(skill, None, request.actor), "overview")


@require_safe
def version(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    """One version; for a purged one its tombstone, with status 410."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    try:
        found = find_version(skill, number, request.actor, include_held=True)
    except Refusal as refused:
        tombstone = (skill.merged_from or skill).tombstones.filter(number=normalise(number)).first()
        if refused.code != PURGED.name or tombstone is None:
            raise
        return render(
            request,
            "versions/purged.html",
            layout(request, skill, "versions") | {"tombstone": tombstone},
            status=410,
        )
    return _render_version(request, found, "versions")


def _render_version(request: ActorRequest, version: Version, tab: str) -> HttpResponse:
    skill, cpu = version.skill, CpuTime()
    context = layout(request, skill, tab, version=version)
    profile_reports = stored_profile_reports(version, version_rows.load_problems(version))
    runnable: RunnableVersion = context["runnable_version"]
    manifest = runnable.manifest
    files = version.files.order_by("path")
    context |= {
        "manifest": manifest,
        "readme": _readme(version, cpu),
        "inputs": input_rows(manifest.input_schema),
        "outputs": input_rows(manifest.output_schema),
        "tools": tool_rows(runnable.entry_points.tools),
        "allowances": allowances(manifest),
        "dependencies": dependencies.dependency_status(version, request.actor),
        "lines": install_lines(runnable),
        "problems": _problems(version),
        "profile_reports": profile_reports,
        "trials": evaluate.stored_results(version, request.actor),
        "score": scores.explain_score(skill),
        "owners": _owners(request, skill),
        "file_count": files.count(),
        "earlier": _earlier(request, version),
    }
    if tab == "versions" and context["may_change"]:
        may_purge = may(request.actor, Action.DELETE, skill=skill)
        context |= {"changes": forms_for(version), "may_purge": may_purge}
    return render(request, "skill/overview.html", context)


def _earlier(request: ActorRequest, version: Version) -> str | None:
    """The number of the preceding visible version; None if there is none."""
    rows = version.skill.versions.visible_to(request.actor).filter(precedence__lt=version.precedence)
    return rows.order_by("-precedence").values_list("number", flat=True).first()


def _readme(version: Version, cpu: CpuTime) -> str:
    """SKILL.md as HTML, cached by digest and by the URL of its links."""
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
            cpu=cpu,
        ),
    )


def _problems(version: Version) -> list[dict[str, object]]:
    """The problems in the reader's language, the worst first."""
    found = [problem.document(_) for problem in version_rows.load_problems(version)]
    return sorted(found, key=lambda problem: _SEVERITIES.index(str(problem["severity"])))


def _owners(request: ActorRequest, skill: Skill) -> list[User]:
    """The team's owners; empty for anonymous users."""
    if not request.actor.is_signed_in:
        return []
    rows = Membership.objects.filter(team=skill.team, role=Role.OWNER).select_related("user")
    return [row.user for row in rows.order_by("user__username")]
