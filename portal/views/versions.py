"""The versions of a skill: their list, and two of them side by side."""

from __future__ import annotations

from django.db.models import Count, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from portal.showing import comparison
from portal.views.skill import layout
from registry import catalog, comparing
from registry.middleware import ActorRequest
from registry.models import Skill, Version
from registry.packages.comparison import FileChange
from registry.packages.problems import refuse


@require_safe
def listing(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """The highest first; ``?before=&after=`` leads on to the two that were chosen."""
    skill = catalog.find_skill(f"{team}/{slug}", request.actor)
    before, after = request.GET.get("before"), request.GET.get("after")
    if before and after:
        return redirect("version-diff", skill.team.slug, skill.slug, before, after)
    rows = list(_rows(skill, request))
    context = {"versions": rows, "chosen": rows[:2], "stones": skill.tombstones.order_by("-pk")}
    return render(request, "skills/versions.html", layout(request, skill, "versions") | context)


def _rows(skill: Skill, request: ActorRequest) -> QuerySet[Version]:
    rows = skill.versions.visible_to(request.actor).select_related("published_by")
    rows = rows.prefetch_related("channels").annotate(finding_count=Count("findings"))
    return rows.defer("manifest", "body", "problems").order_by("-precedence", "-pk")


@require_safe
def diff(request: ActorRequest, team: str, slug: str, before: str, after: str) -> HttpResponse:
    """Two versions, or one file of them with ``?file=``."""
    skill = catalog.find_skill(f"{team}/{slug}", request.actor)
    old, new = (
        catalog.find_version(skill, number, request.actor, even_held=True) for number in (before, after)
    )
    found = comparing.compare_versions(old, new)
    alone = request.GET.get("file")
    context = {
        "before": old,
        "after": new,
        "found": found,
        "alone": alone,
        "abilities": comparison.abilities(found),
        "schemas": comparison.schemas(found),
        "files": comparison.files(comparing.texts(old, new, _chosen(found.files, alone))),
    }
    return render(request, "skills/diff.html", layout(request, skill, "versions", version=new) | context)


def _chosen(changes: tuple[FileChange, ...], path: str | None) -> tuple[FileChange, ...]:
    if not path:
        return changes
    chosen = tuple(change for change in changes if change.path == path)
    if not chosen:
        raise refuse("NOT_FOUND", what="file", name=path[:200])
    return chosen
