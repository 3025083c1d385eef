"""The list of all visible runs, and the list of one skill's runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext

from portal.decorators import signed_in_page
from portal.delivery.downloads import as_file, download
from portal.pages.runs.forms.run_filter import RunFilter
from portal.pages.runs.presenters.run_rows import HEAVY, chart_context, csv_chunks, run_rows
from portal.pages.skill.views.skill import layout
from registry.api.errors import QUERY_UNKNOWN
from registry.core.sql import Reads, read_together
from registry.identity.middleware import ActorRequest
from registry.lookup.skills import find_skill
from registry.models import Skill
from worker.models import Run, RunQuerySet, SavedRunView
from worker.queue.states import ENDED
from worker.saved_views.saved_views import views_of

PAGE = 25
_OTHER_PARAMETERS = {"before", "format"}


@signed_in_page
def all_runs(request: ActorRequest) -> HttpResponseBase:
    """Lists the visible runs that match the filters, newest first; with ``?format=csv``, downloads them as
    CSV.

    Unknown filters get an error page with status 400.
    """
    return _list(request, Run.objects.visible_to(request.actor), None)


@signed_in_page
def skill_runs(request: ActorRequest, team: str, slug: str) -> HttpResponseBase:
    """Lists the visible runs of one skill like ``all_runs``."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    return _list(request, Run.objects.visible_to(request.actor).filter(skill=skill), skill)


def _list(request: ActorRequest, runs: RunQuerySet, skill: Skill | None) -> HttpResponseBase:
    filters = RunFilter(request.GET)
    if skill:
        filters.without_skill()
    if unknown := filters.unknown({*request.GET} - _OTHER_PARAMETERS):
        return _refuse_unknown(request, unknown, filters)
    filtered = filters.narrow(runs, actor=request.actor)
    if request.GET.get("format") == "csv":
        return download(as_file(csv_chunks(filtered, request.actor)), "runs.csv", "text/csv; charset=utf-8")
    filters.offer_values(runs, filtered, request.actor)
    invalid = filters.take_invalid()
    frame = layout.reads(request, skill, "runs") if skill else views_of.reads(request.actor)
    page, framed = read_together(_page(request, filtered), frame)
    context = page | {
        "skill": skill,
        "filters": filters,
        "invalid": invalid,
        "without_invalid": _address(request, before="", **{name: "" for name, *_ in invalid}),
        "active": filters.active,
        **({} if skill else _saved_views(filters, framed)),
        "batch": _batch(filters, skill) if (skill or filters.is_set) and not invalid else None,
    }
    if skill:
        return render(request, "runs/skill_runs.html", framed | context)
    return render(request, "runs/list.html", context)


def _saved_views(filters: RunFilter, views: Sequence[SavedRunView]) -> dict[str, Any]:
    return {"views": views, "is_saved": any(view.query == filters.query for view in views)}


def _refuse_unknown(request: ActorRequest, unknown: list[str], filters: RunFilter) -> HttpResponseBase:
    problem = QUERY_UNKNOWN.problem(field=unknown[0][:80], known=tuple(filters.fields))
    context = {
        "problem": problem.document(gettext),
        "without_unknown": _address(request, **dict.fromkeys(unknown)),
    }
    return render(request, "runs/unknown_filter.html", context, status=400)


def _page(request: ActorRequest, runs: RunQuerySet) -> Reads[dict[str, Any]]:
    before = request.GET.get("before", "")[:26]
    after = runs.filter(uid__lt=before) if before else runs
    related = after.select_related("caller", "team", "skill").defer(*HEAVY, "files")
    yield (found := related.order_by("-id")[: PAGE + 1])
    rows = yield from run_rows.reads(list(found)[:PAGE], request.actor)
    return chart_context(rows) | {
        "rows": rows,
        "csv": _address(request, before="", format="csv"),
        "older": _address(request, before=rows[-1]["run"].uid) if len(found) > PAGE else None,
        "newest": _address(request, before="") if before else None,
    }


def _batch(filters: RunFilter, skill: Skill | None) -> dict[str, Any]:
    """The fields of the form that cancels or repeats all listed runs, and the numbers of active and ended
    ones.

    Counts at most as many runs as one batch can have, and not more than ``filters`` counted.
    """
    limit = settings.SKILLQUAY_MAX_BATCH_RUNS
    statuses, is_cut = filters.listed_statuses[:limit], len(filters.listed_statuses) > limit
    ended = sum(status in ENDED for status in statuses)
    more = "+" if is_cut or len(statuses) == filters.counted else ""
    fields = [*filters.given(), *([("skill", str(skill))] if skill else [])]
    counts = {"active": len(statuses) - ended, "ended": ended}
    return {"fields": fields} | {name: f"{n}{more}" if n else "" for name, n in counts.items()}


def _address(request: ActorRequest, /, **changes: Any) -> str:
    query = request.GET.copy()
    for name, value in changes.items():
        query[name] = value
        if not value:
            del query[name]
    return f"?{query.urlencode()}"
