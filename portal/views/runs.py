"""Lists of runs: all that the actor may know of, or one skill's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import Count, TextField
from django.db.models.functions import Cast, Length
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from portal.forms.run_filter import RunFilter
from portal.showing.charts import Dot, Timed, dots
from portal.showing.results import inputs_line, one_line
from portal.showing.timeline import ran_ms, waited_ms
from portal.views.skill import layout
from registry.catalog import find_skill
from registry.middleware import ActorRequest
from registry.models import Skill
from worker.dependencies.waiting import waits_of
from worker.models import Run, RunQuerySet, Status
from worker.states import WAITING

PAGE = 40
CHART_HEIGHT = 120.0
_HEAVY = ("request", "result")  # columns of megabytes
_SHORT = 20_000  # characters


@dataclass(frozen=True)
class Row:
    """A run as a list shows it; ``asked`` and ``outcome`` are None where the actor may not read it."""

    run: Run
    asked: str | None
    outcome: str | None
    waited_ms: float
    ran_ms: float | None
    preparing: bool  # it waits for what it depends on


@require_GET
@never_cache
@login_required
def everyone(request: ActorRequest) -> HttpResponse:
    """The runs that the actor may know of, newest first."""
    return _list(request, Run.objects.visible_to(request.actor), None)


@require_GET
@never_cache
@login_required
def of_skill(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """One skill's runs, with how often each failure code came."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    return _list(request, Run.objects.visible_to(request.actor).filter(skill=skill), skill)


def _list(request: ActorRequest, runs: RunQuerySet, skill: Skill | None) -> HttpResponse:
    filters = RunFilter(request.GET)
    if skill:
        filters.without_skill()
    assert request.actor.user is not None
    narrowed = filters.narrow(runs, user_id=request.actor.user.pk)
    after = narrowed.filter(uid__lt=before) if (before := request.GET.get("before", "")[:26]) else narrowed
    after = after.select_related("caller", "team", "skill").defer(*_HEAVY, "files")
    found = list(after.order_by("-id")[: PAGE + 1])
    rows = _rows(found[:PAGE], request)
    context = {
        "skill": skill,
        "filters": filters,
        "rows": rows,
        "under_way": _under_way(runs),
        "codes": _codes(runs) if skill else (),
        "dots": _dots(rows),
        "chart_height": CHART_HEIGHT,
        "older": _address(request, before=rows[-1].run.uid) if len(found) > PAGE else None,
        "newest": _address(request, before="") if before else None,
    }
    if skill:
        return render(request, "runs/skill.html", layout(request, skill, "runs") | context)
    return render(request, "runs/list.html", context)


def _rows(runs: Sequence[Run], request: ActorRequest) -> list[Row]:
    keys = [run.pk for run in runs]
    readable = Run.objects.readable_by(request.actor).filter(pk__in=keys)
    requests, results = (_short(readable, field) for field in _HEAVY)
    may_read = set(readable.values_list("pk", flat=True))
    now, waits = timezone.now(), waits_of(runs)
    return [
        Row(
            run,
            inputs_line(requests.get(run.pk, {})) if run.pk in may_read else None,
            _outcome(run, results.get(run.pk) or {}) if run.pk in may_read else None,
            waited_ms(run, now),
            ran_ms(run, now),
            bool(waits.get(run.pk)),
        )
        for run in runs
    ]


def _short(runs: RunQuerySet, field: str) -> dict[int, Any]:
    """The field of those runs that keep little in it; forty answers of ten megabytes are not read."""
    sized = runs.annotate(size=Length(Cast(field, TextField())))
    return dict(sized.filter(size__lt=_SHORT).values_list("pk", field))


def _outcome(run: Run, result: Mapping[str, Any]) -> str:
    """The message, else the answer, in a few words."""
    if run.message:
        return one_line(run.message)
    answer = result.get("output")
    answer = answer if answer not in (None, {}, "") else result.get("outputs")
    return "" if answer in (None, {}, "") else one_line(answer)


def _under_way(runs: RunQuerySet) -> dict[str, int]:
    counted = runs.filter(status__in=[*WAITING, Status.RUNNING]).values_list("status").annotate(n=Count("pk"))
    number = Counter(dict(counted.order_by()))
    return {"waiting": sum(number[status] for status in WAITING), "running": number[Status.RUNNING]}


def _codes(runs: RunQuerySet) -> list[tuple[str, int]]:
    counted = runs.exclude(failure_code="").values_list("failure_code").annotate(n=Count("pk")).order_by("-n")
    return [(code, number) for code, number in counted[:12]]


def _dots(rows: Sequence[Row]) -> list[Dot]:
    timed = [
        Timed(row.run.uid, row.run.status, row.run.created_at, row.ran_ms)
        for row in rows
        if row.ran_ms is not None and row.run.finished_at
    ]
    return dots(timed, height=CHART_HEIGHT)


def _address(request: ActorRequest, **changed: Any) -> str:
    query = request.GET.copy()
    for name, value in changed.items():
        query[name] = value
        if not value:
            del query[name]
    return f"?{query.urlencode()}"
