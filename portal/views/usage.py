"""A skill's usage: how its score came about, its uses over time, and how its runs went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from portal.showing.charts import Block, columns
from portal.views.skill import layout
from registry import usage
from registry.actors import Actor
from registry.catalog import find_skill
from registry.middleware import ActorRequest
from registry.models import Skill, UseKind
from worker.figures import SkillFigures, figures

CHART_HEIGHT = 90.0
_KINDS = (UseKind.RUN, UseKind.LOAD, UseKind.INSTALL)
_NAMES = {UseKind.RUN: _("Runs"), UseKind.LOAD: _("Loads"), UseKind.INSTALL: _("Installs")}


@dataclass(frozen=True)
class Kind:
    name: str | Promise
    count: int
    recent: int  # in the days that are drawn


@require_safe
def page(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    skill = find_skill(f"{team}/{slug}", request.actor)
    days = usage.by_day(skill)
    runs = figures(skill, request.actor)
    context = layout(request, skill, "usage") | {
        "score": usage.explained(skill),
        "kinds": _kinds(skill, days),
        "versions": _versions(skill, request.actor),
        "days": [day for day in reversed(days) if day.total],
        "drawn": columns([[day.counts.get(kind, 0) for kind in _KINDS] for day in days], height=CHART_HEIGHT),
        "shown_days": usage.SHOWN_DAYS,
        "chart_height": CHART_HEIGHT,
        "runs": runs,
        "run_days": [day for day in reversed(runs.days) if day.succeeded or day.failed],
        "drawn_runs": _drawn(runs),
    }
    return render(request, "skills/usage.html", context)


def _kinds(skill: Skill, days: Sequence[usage.Day]) -> list[Kind]:
    """Each kind, and what was counted before kinds were."""
    counts = usage.by_kind(skill)
    kinds = [
        Kind(_NAMES[kind], counts.get(kind, 0), sum(day.counts.get(kind, 0) for day in days))
        for kind in _KINDS
    ]
    earlier = skill.usage_count - sum(counts.values())
    return [*kinds, Kind(_("Before kinds were counted apart"), earlier, 0)] if earlier > 0 else kinds


def _versions(skill: Skill, actor: Actor) -> list[tuple[str, list[int]]]:
    """Of each version that was used, the highest first, its uses by kind."""
    counts = usage.by_version(skill)
    numbers = skill.versions.visible_to(actor).order_by("-precedence").values_list("number", flat=True)
    return [(number, [counts[number][kind] for kind in _KINDS]) for number in numbers if number in counts]


def _drawn(runs: SkillFigures) -> list[Block]:
    return columns([[day.succeeded, day.failed] for day in runs.days], height=CHART_HEIGHT)
