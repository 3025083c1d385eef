"""A skill's usage: score, uses over time, and outcomes of its runs."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from portal.pages.skill.views.skill import layout
from portal.presenters.charts import columns
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.lookup.skills import find_skill
from registry.models import Skill, UseKind
from registry.usage import scores
from worker.run_views.statistics import skill_statistics

CHART_HEIGHT = 90.0
_KINDS = (UseKind.RUN, UseKind.LOAD, UseKind.INSTALL)
_NAMES = {UseKind.RUN: _("Runs"), UseKind.LOAD: _("Loads"), UseKind.INSTALL: _("Installs")}


@require_safe
def page(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    skill = find_skill(f"{team}/{slug}", request.actor)
    days = scores.uses_by_day(skill)
    runs = skill_statistics(skill, request.actor)
    context = layout(request, skill, "usage") | {
        "score": scores.explain_score(skill),
        "kinds": _kinds(skill, days),
        "versions": _versions(skill, request.actor),
        "days": [day for day in reversed(days) if day.total],
        "drawn": columns([[day.counts.get(kind, 0) for kind in _KINDS] for day in days], height=CHART_HEIGHT),
        "shown_days": scores.HISTORY_DAYS,
        "chart_height": CHART_HEIGHT,
        "runs": runs,
        "run_days": [day for day in reversed(runs.days) if day.succeeded or day.failed],
        "drawn_runs": columns([[day.succeeded, day.failed] for day in runs.days], height=CHART_HEIGHT),
    }
    return render(request, "usage/usage.html", context)


def _kinds(skill: Skill, days: Sequence[scores.DailyUses]) -> list[dict[str, Any]]:
    """Uses per kind, in total and in the charted days; then earlier uses whose kind was not recorded."""
    counts = scores.uses_by_kind(skill)
    kinds: list[dict[str, Any]] = []
    for kind in _KINDS:
        recent = sum(day.counts.get(kind, 0) for day in days)
        kinds.append({"name": _NAMES[kind], "count": counts.get(kind, 0), "recent": recent})
    earlier = skill.usage_count - sum(counts.values())
    if earlier > 0:
        kinds.append({"name": _("Earlier uses, kind not recorded"), "count": earlier, "recent": 0})
    return kinds


def _versions(skill: Skill, actor: Actor) -> list[tuple[str, list[int]]]:
    """Uses by kind for each used version, the highest version first."""
    counts = scores.uses_by_version(skill)
    numbers = skill.versions.visible_to(actor).order_by("-precedence").values_list("number", flat=True)
    return [(number, [counts[number][kind] for kind in _KINDS]) for number in numbers if number in counts]
