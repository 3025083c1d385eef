"""Presents a comparison of two runs."""

from __future__ import annotations

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from portal.pages.runs.presenters.timeline import PLATFORM
from portal.presenters.skill.comparison import line_groups
from portal.presenters.status import TONES
from portal.templatetags.skillquay import short_digest
from registry.identity.actors import Actor
from worker.models import Run
from worker.run_views.compare import RunComparison, RunFact, StepPair

_FACTS: dict[str, Promise] = {
    "skill": _("Skill"),
    "version": _("Version"),
    "digest": _("Digest"),
    "script": _("Script"),
    "action": _("Action"),
    "tool": _("Tool"),
    "stdin": _("Standard input"),
    "debug": _("Debug"),
    "protocol": _("Protocol"),
    "entry": _("Entry"),
    "status": _("Status"),
    "failure_code": _("Failure code"),
    "message": _("Message"),
    "exit_code": _("Exit status"),
    "duration_ms": _("Duration (ms)"),
    "team": _("For team"),
    "caller": _("Started by"),
    "sandbox": _("Sandbox"),
}


def comparison_targets(run: Run, actor: Actor) -> list[dict[str, str]]:
    """The run that this one repeats and the skill's previous run, each only if the actor may read it."""
    readable = Run.objects.readable_by(actor).order_by("-pk").only("uid")
    repeated = readable.filter(pk=run.rerun_of_id).first() if run.rerun_of_id else None
    earlier = readable.filter(skill_id=run.skill_id, pk__lt=run.pk).first() if run.skill_id else None
    found = [{"label": gettext("original run"), "uid": repeated.uid}] if repeated else []
    if earlier and earlier != repeated:
        found.append({"label": gettext("previous run"), "uid": earlier.uid})
    return found


def comparison_context(before: Run, after: Run, found: RunComparison) -> dict[str, Any]:
    return {
        "found": found,
        "facts": [_fact(fact) for fact in found.facts],
        "steps": [_step(pair) for pair in found.steps],
        "log": line_groups(found.log, "log"),
        "log_same": not found.log.too_large and found.log.removed == found.log.added == 0,
        "same_skill": before.skill_id is not None and before.skill_id == after.skill_id,
    }


def _fact(fact: RunFact) -> dict[str, Any]:
    before, after = (_label(fact.name, value) for value in (fact.before, fact.after))
    return {"label": _FACTS.get(fact.name, fact.name), "same": fact.same, "before": before, "after": after}


def _label(name: str, value: str) -> str:
    if name == "status":
        return str(TONES[value][2]) if value in TONES else value
    return short_digest(value) if name == "digest" else value


def _step(pair: StepPair) -> dict[str, Any]:
    """``difference_ms`` is the later run's extra time; None if a run lacks the step or its time."""
    name = PLATFORM.get(pair.name, pair.name) if pair.kind == "platform" else pair.name
    old, new = (side.duration_ms if side else None for side in (pair.before, pair.after))
    # rounded as displayed, so that equal values have no sign
    difference_ms = None if old is None or new is None else round(new - old, 1)
    return {
        "name": name,
        "pair": pair,
        "difference_ms": difference_ms,
        "absolute_ms": abs(difference_ms or 0.0),
    }
