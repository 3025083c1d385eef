"""Views of a skill's versions: the list, and the comparison of two versions."""

from django.db.models import Count, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from portal.pages.skill.views.skill import layout
from portal.presenters.skill import comparison
from portal.presenters.skill.strip import version_strip
from registry.changes import drafts
from registry.core.errors import NOT_FOUND
from registry.core.sql import read_together, reads_of
from registry.identity.middleware import ActorRequest
from registry.lookup import skills
from registry.models import Skill, Version
from registry.packages.compare.versions import FileChange
from registry.usage.scores import HISTORY_DAYS
from registry.versions.content import compare
from worker.run_views.statistics import runs_by_version, skill_statistics


@require_safe
def listing(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """Lists the versions, highest first; with ``?before=`` and ``?after=`` redirects to their comparison."""
    skill = skills.find_skill(f"{team}/{slug}", request.actor)
    before, after = request.GET.get("before"), request.GET.get("after")
    if before and after:
        return redirect("version-diff", skill.team.slug, skill.slug, before, after)
    rows, removed = _rows(skill, request), skill.tombstones.order_by("-pk")
    context, statistics, run_counts, _versions = read_together(
        layout.reads(request, skill, "versions"),
        skill_statistics.reads(skill, request.actor),
        runs_by_version.reads(skill, request.actor),
        reads_of(rows, removed),
    )
    context |= {
        "versions": rows,
        "chosen": rows[:2],
        "strip": version_strip(rows),
        "tombstones": removed,
        "run_counts": run_counts,
        "run_statistics": {each.version: each for each in statistics.versions},
        "shown_days": HISTORY_DAYS,
    }
    return render(request, "versions/versions.html", context)


def _rows(skill: Skill, request: ActorRequest) -> QuerySet[Version]:
    rows = skill.versions.visible_to(request.actor).select_related("published_by")
    rows = rows.prefetch_related("channels").annotate(finding_count=Count("findings"))
    return rows.defer("manifest", "body", "problems").order_by("-precedence", "-pk")


@require_safe
def diff(request: ActorRequest, team: str, slug: str, before: str, after: str) -> HttpResponse:
    """Compares two versions, which may be held. With ``?file=``, shows the lines of only that file."""
    drafts.keep_page()
    skill = skills.find_skill(f"{team}/{slug}", request.actor)
    old, new = (
        skills.find_version(skill, number, request.actor, include_held=True) for number in (before, after)
    )
    found = compare.compare_versions(old, new)
    only_file = request.GET.get("file")
    context = {
        "before": old,
        "after": new,
        "found": found,
        "only_file": only_file,
        "abilities": comparison.abilities(found),
        "schemas": comparison.schemas(found),
        "files": comparison.files(compare.file_diffs(old, new, _chosen(found.files, only_file))),
    }
    return render(request, "versions/diff.html", layout(request, skill, "versions", version=new) | context)


def _chosen(changes: tuple[FileChange, ...], path: str | None) -> tuple[FileChange, ...]:
    if not path:
        return changes
    chosen = tuple(change for change in changes if change.path == path)
    if not chosen:
        raise NOT_FOUND.refusal(what="file", name=path[:200])
    return chosen
