"""Lists of all visible runs, or of the runs of one skill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, TextField
from django.db.models.functions import Cast, Length
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from portal.decorators import signed_in_page
from portal.pages.runs.forms.run_filter import RunFilter
from portal.pages.runs.presenters.timeline import ran_ms, waited_ms
from portal.pages.skill.views.skill import layout
from portal.presenters.charts import dots
from portal.presenters.results import inputs_line, one_line
from registry.identity.middleware import ActorRequest
from registry.lookup.skills import find_skill
from registry.models import Skill
from worker.dependencies.waits import waits_of
from worker.models import Run, RunQuerySet, RunStatus
from worker.queue.states import WAITING

PAGE = 40
CHART_HEIGHT = 120.0
_HEAVY = ("request", "result")  # columns that may hold megabytes
_MAX_CHARACTERS = 20_000  # longer values are not read for a list


@signed_in_page
def all_runs(request: ActorRequest) -> HttpResponse:
    """The visible runs, newest first."""
    return _list(request, Run.objects.visible_to(request.actor), None)


@signed_in_page
def skill_runs(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """One skill's runs, with the number of each failure code."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    return _list(request, Run.objects.visible_to(request.actor).filter(skill=skill), skill)


def _list(request: ActorRequest, runs: RunQuerySet, skill: Skill | None) -> HttpResponse:
    filters = RunFilter(request.GET)
    if skill:
        filters.without_skill()
    assert request.actor.user is not None
    filtered = filters.narrow(runs, user_id=request.actor.user.pk)
    after = filtered.filter(uid__lt=before) if (before := request.GET.get("before", "")[:26]) else filtered
    after = after.select_related("caller", "team", "skill").defer(*_HEAVY, "files")
    found = list(after.order_by("-id")[: PAGE + 1])
    rows = _rows(found[:PAGE], request)
    context = {
        "skill": skill,
        "filters": filters,
        "rows": rows,
        "active": _active_counts(runs),
        "codes": _codes(runs) if skill else (),
        "dots": dots(
            [(row["run"], row["ran_ms"]) for row in rows if row["run"].finished_at], height=CHART_HEIGHT
        ),
        "chart_height": CHART_HEIGHT,
        "older": _address(request, before=rows[-1]["run"].uid) if len(found) > PAGE else None,
        "newest": _address(request, before="") if before else None,
    }
    if skill:
        return render(request, "runs/skill_runs.html", layout(request, skill, "runs") | context)
    return render(request, "runs/list.html", context)


def _rows(runs: Sequence[Run], request: ActorRequest) -> list[dict[str, Any]]:
    """Rows of a list; ``inputs`` and ``outcome`` are None if the actor may not read the run."""
    keys = [run.pk for run in runs]
    readable = Run.objects.readable_by(request.actor).filter(pk__in=keys)
    requests, results = (_small_values(readable, field) for field in _HEAVY)
    may_read = set(readable.values_list("pk", flat=True))
    now, waits = timezone.now(), waits_of(runs)
    return [
        {
            "run": run,
            "inputs": inputs_line(requests.get(run.pk, {})) if run.pk in may_read else None,
            "outcome": _outcome(run, results.get(run.pk) or {}) if run.pk in may_read else None,
            "waited_ms": waited_ms(run, now),
            "ran_ms": ran_ms(run, now),
            "preparing": bool(waits.get(run.pk)),  # waits for its dependencies
        }
        for run in runs
    ]


def _small_values(runs: RunQuerySet, field: str) -> dict[int, Any]:
    """The field's values by run, without large ones: reading forty results of ten megabytes would be slow."""
    sized = runs.annotate(size=Length(Cast(field, TextField())))
    return dict(sized.filter(size__lt=_MAX_CHARACTERS).values_list("pk", field))


def _outcome(run: Run, result: Mapping[str, Any]) -> str:
    """The message, otherwise the output, in one line."""
    if run.message:
        return one_line(run.message)
    output = result.get("output")
    output = output if output not in (None, {}, "") else result.get("outputs")
    return "" if output in (None, {}, "") else one_line(output)


def _active_counts(runs: RunQuerySet) -> dict[str, int]:
    counted = (
        runs.filter(status__in=[*WAITING, RunStatus.RUNNING]).values_list("status").annotate(n=Count("pk"))
    )
    number = Counter(dict(counted.order_by()))
    return {"waiting": sum(number[status] for status in WAITING), "running": number[RunStatus.RUNNING]}


def _codes(runs: RunQuerySet) -> list[tuple[str, int]]:
    counted = runs.exclude(failure_code="").values_list("failure_code").annotate(n=Count("pk")).order_by("-n")
    return [(code, number) for code, number in counted[:12]]


def _address(request: ActorRequest, **changes: Any) -> str:
    query = request.GET.copy()
    for name, value in changes.items():
        query[name] = value
        if not value:
            del query[name]
    return f"?{query.urlencode()}"
