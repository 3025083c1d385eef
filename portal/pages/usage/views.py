"""The usage page of a skill: outcomes of its runs, their callers, score, and uses over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from portal.pages.skill.views.skill import layout
from portal.pages.usage.presenters import version_lines
from portal.pages.usage.presenters.columns import Series, column_chart
from portal.presenters.status import TONES
from registry.core.sql import Reads, gather, read_together, reads_of
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.lookup.skills import find_skill
from registry.models import ActivationTrigger, Skill, UseKind
from registry.usage import scores
from registry.usage.activations import activations_by_trigger
from worker.failures.groups import frequent_groups
from worker.models import FAILED_STATUSES, RunStatus
from worker.run_views.callers import callers_of
from worker.run_views.regression import MIN_SAMPLE
from worker.run_views.statistics import SkillStatistics, skill_statistics

_KINDS = (UseKind.RUN, UseKind.LOAD, UseKind.INSTALL, UseKind.ACTIVATION)
_NAMES = {
    UseKind.RUN: _("Runs"),
    UseKind.LOAD: _("Loads"),
    UseKind.INSTALL: _("Installs"),
    UseKind.ACTIVATION: _("Activations"),
}
_TONES = ("info", "ok", "warn", "bad")
_USES = tuple(Series(kind, _NAMES[kind], tone) for kind, tone in zip(_KINDS, _TONES, strict=True))
_WEEK = 7
_MAX_CALLERS = 8
_MAX_VERSIONS = 3  # in the tables next to the charts, which show as many
_VERSIONS_PER_PAGE = 20
_OUTCOMES = (RunStatus.SUCCEEDED, *FAILED_STATUSES, RunStatus.CANCELLED, RunStatus.REFUSED)
_OUTCOME_TONES = {RunStatus.TIMED_OUT: "kind-prompt", RunStatus.REFUSED: "wait"}
_RUNS = tuple(
    Series(
        status,
        TONES[status][2],
        _OUTCOME_TONES.get(status, TONES[status][0]),
        TONES[status][1],
    )
    for status in _OUTCOMES
)


@require_safe
def page(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    skill = find_skill(f"{team}/{slug}", request.actor)
    visible = skill.versions.visible_to(request.actor).order_by("-precedence")
    versions = visible.values_list("number", "created_at")
    context, days, kinds, triggers, used, runs, _versions = read_together(
        layout.reads(request, skill, "usage"),
        scores.uses_by_day.reads(skill),
        scores.uses_by_kind.reads(skill),
        activations_by_trigger.reads(skill),
        scores.uses_by_version.reads(skill),
        _runs(skill, request.actor),
        reads_of(versions),
    )
    uses = _by_week([(day.day, [day.counts.get(kind, 0) for kind in _KINDS]) for day in days])
    context |= {
        "score": scores.explain_score(skill),
        "kinds": _kinds(skill, days, kinds),
        "triggers": _triggers(triggers),
        "versions": _shown(_version_rows(used, [number for number, _at in versions]), request, "uses"),
        "weeks": [row for row in reversed(uses) if any(row[1])],
        "uses_chart": column_chart(uses, _USES, days=_WEEK),
        "shown_days": scores.HISTORY_DAYS,
        "view": request.GET.get("values", ""),  # "weeks" or "versions": tables instead of charts of runs
    }
    if request.actor.is_signed_in:
        releases = version_lines.releases(versions, runs["runs"].days)
        rows = runs["runs"].versions
        context |= {"run_versions": _shown(rows, request, "versions"), "releases": releases}
        context |= runs | {"has_more_versions": len(rows) > _MAX_VERSIONS} | _callers(skill, request.actor)
    return render(request, "usage/usage.html", context)


def _runs(skill: Skill, actor: Actor) -> Reads[dict[str, Any]]:
    """The context of ``usage/runs.html``. All its figures include only runs that the actor can see."""
    if not actor.is_signed_in:
        return {}
    now = timezone.now()
    first = now.astimezone(UTC).date() - timedelta(days=scores.HISTORY_DAYS - 1)
    runs, causes = yield from gather(
        skill_statistics.reads(skill, actor, now=now),
        frequent_groups.reads(skill, actor, since=datetime.combine(first, time(), UTC)),
    )
    lines = version_lines.version_weeks(runs.versions, runs.days)
    return {
        "runs": runs,
        "runs_chart": column_chart(_outcome_rows(runs), _RUNS),
        "rate_chart": version_lines.rate_chart(lines, runs.days),
        "duration_chart": version_lines.duration_chart(lines, runs.days),
        "line_weeks": version_lines.table_rows(lines, runs.days),
        "causes": causes if runs.counts.failed else [],
        "has_worse": any(each.worse_than for each in runs.versions),
        "sample": MIN_SAMPLE,
    }


def _shown(rows: Sequence[Any], request: ActorRequest, parameter: str) -> Page[Any]:
    """The rows of a table of versions: the highest ones, or a page of all in the view of versions."""
    if request.GET.get("values") != "versions":
        return Paginator(rows, _MAX_VERSIONS).get_page(1)
    return Paginator(rows, _VERSIONS_PER_PAGE).get_page(request.GET.get(parameter))


def _callers(skill: Skill, actor: Actor) -> dict[str, Any]:
    callers = callers_of(skill, actor)
    return {"callers": callers, "shown_callers": callers.rows[:_MAX_CALLERS]}


def _outcome_rows(runs: SkillStatistics) -> list[tuple[date, list[int]]]:
    return [(day.day, [day.counts.of(status) for status in _OUTCOMES]) for day in runs.days]


def _by_week(days: Sequence[tuple[date, Sequence[int]]]) -> list[tuple[date, list[int]]]:
    """The sums of each seven days, with their first day; the last week can be shorter."""
    weeks = [days[first : first + _WEEK] for first in range(0, len(days), _WEEK)]
    return [
        (week[0][0], [sum(counts) for counts in zip(*(row[1] for row in week), strict=True)])
        for week in weeks
    ]


def _kinds(skill: Skill, days: Sequence[scores.DailyUses], counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """Rows with the number of uses per kind, in total and in ``days``. If there are uses without a kind, a
    last row counts them.
    """
    recent = sum((Counter(day.counts) for day in days), Counter[str]())
    kinds: list[dict[str, Any]] = [
        {"name": _NAMES[kind], "count": counts.get(kind, 0), "recent": recent[kind]} for kind in _KINDS
    ]
    earlier = skill.usage_count - sum(counts.values())
    if earlier > 0:
        kinds.append({"name": _("Earlier uses, kind not recorded"), "count": earlier, "recent": 0})
    return kinds


def _triggers(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The label and the number of reported activations of each trigger; [] without activations."""
    rows = [(str(trigger.label), counts[trigger.value]) for trigger in ActivationTrigger]
    return rows if any(counts.values()) else []


def _version_rows(counts: Mapping[str, Counter[str]], numbers: Sequence[str]) -> list[tuple[str, list[int]]]:
    """A row per used version of ``numbers``: its number, and its use counts in the order of ``_KINDS``."""
    return [(number, [counts[number][kind] for kind in _KINDS]) for number in numbers if number in counts]
