"""The usage page of a skill: score, uses over time, and outcomes of its runs."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from portal.pages.skill.views.skill import layout
from portal.pages.usage.presenters import Series, day_chart, rate_lines
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.lookup.skills import find_skill
from registry.models import ActivationTrigger, Skill, UseKind
from registry.usage import scores
from registry.usage.activations import activations_by_trigger
from worker.failures.groups import top_groups
from worker.run_views.regression import MIN_SAMPLE
from worker.run_views.statistics import skill_statistics

_KINDS = (UseKind.RUN, UseKind.LOAD, UseKind.INSTALL, UseKind.ACTIVATION)
_NAMES = {
    UseKind.RUN: _("Runs"),
    UseKind.LOAD: _("Loads"),
    UseKind.INSTALL: _("Installs"),
    UseKind.ACTIVATION: _("Activations"),
}
_TONES = ("info", "ok", "warn", "bad")
_USES = tuple(Series(_NAMES[kind], tone) for kind, tone in zip(_KINDS, _TONES, strict=True))
_OUTCOMES = (Series(_("Succeeded"), "ok"), Series(_("Other outcomes"), "bad"))


@require_safe
def page(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    skill = find_skill(f"{team}/{slug}", request.actor)
    days = scores.uses_by_day(skill)
    runs = skill_statistics(skill, request.actor)
    context = layout(request, skill, "usage") | {
        "score": scores.explain_score(skill),
        "kinds": _kinds(skill, days),
        "triggers": _triggers(skill),
        "versions": _versions(skill, request.actor),
        "days": [day for day in reversed(days) if day.total],
        "uses_chart": day_chart(
            [(day.day, [day.counts.get(kind, 0) for kind in _KINDS]) for day in days], _USES
        ),
        "shown_days": scores.HISTORY_DAYS,
        "runs": runs,
        "rates": rate_lines(runs.versions, runs.days),
        "groups": top_groups(skill, request.actor),
        "has_worse": any(each.worse_than for each in runs.versions),
        "sample": MIN_SAMPLE,
        "run_days": [day for day in reversed(runs.days) if day.succeeded or day.failed],
        "runs_chart": day_chart([(day.day, [day.succeeded, day.failed]) for day in runs.days], _OUTCOMES),
    }
    return render(request, "usage/usage.html", context)


def _kinds(skill: Skill, days: Sequence[scores.DailyUses]) -> list[dict[str, Any]]:
    """Rows with the number of uses per kind, in total and in ``days``. If there are uses without a kind, a
    last row counts them.
    """
    counts = scores.uses_by_kind(skill)
    kinds: list[dict[str, Any]] = []
    for kind in _KINDS:
        recent = sum(day.counts.get(kind, 0) for day in days)
        kinds.append({"name": _NAMES[kind], "count": counts.get(kind, 0), "recent": recent})
    earlier = skill.usage_count - sum(counts.values())
    if earlier > 0:
        kinds.append({"name": _("Earlier uses, kind not recorded"), "count": earlier, "recent": 0})
    return kinds


def _triggers(skill: Skill) -> list[tuple[str, int]]:
    """The label and the number of reported activations of each trigger; [] without activations."""
    counts = activations_by_trigger(skill)
    rows = [(str(trigger.label), counts[trigger.value]) for trigger in ActivationTrigger]
    return rows if any(counts.values()) else []


def _versions(skill: Skill, actor: Actor) -> list[tuple[str, list[int]]]:
    """The number of each visible, used version with its use counts in the order of ``_KINDS``; highest
    version first.
    """
    counts = scores.uses_by_version(skill)
    numbers = skill.versions.visible_to(actor).order_by("-precedence").values_list("number", flat=True)
    return [(number, [counts[number][kind] for kind in _KINDS]) for number in numbers if number in counts]
