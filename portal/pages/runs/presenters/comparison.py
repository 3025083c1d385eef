"""Presents a comparison of two runs."""

from __future__ import annotations

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from portal.pages.runs.presenters.artifacts import is_image
from portal.pages.runs.presenters.timeline import PLATFORM
from portal.presenters.skill.comparison import line_groups
from portal.presenters.skill.names import skill_names
from portal.presenters.status import TONES
from portal.templatetags.skillquay import milliseconds, short_digest
from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from worker.models import Run
from worker.run_views.compare import ArtifactPair, RunComparison, RunFact, StepPair

_FACTS: dict[str, Promise] = {
    "skill": _("Skill"),
    "version": _("Version"),
    "digest": _("Digest"),
    "script": _("Script"),
    "action": _("Action"),
    "tool": _("Tool"),
    "arguments": _("Arguments"),
    "stdin": _("Standard input"),
    "debug": _("Debug"),
    "protocol": _("Script protocol"),
    "entry": _("Entry point"),
    "status": _("Status"),
    "failure_code": _("Failure code"),
    "message": _("Message"),
    "exit_code": _("Exit status"),
    "duration_ms": _("Duration"),
    "team": _("For team"),
    "caller": _("Started by"),
    "sandbox": _("Sandbox"),
    "interpreter": _("Interpreter"),
    "programs": _("Operating system"),
}


@reader
def comparison_targets(run: Run, actor: Actor) -> Reads[list[dict[str, str]]]:
    """The run that ``run`` repeats, and the skill's newest earlier run: dicts with label and uid.

    Includes only runs that the actor may read. Lists a run once if it is both.
    """
    readable = Run.objects.readable_by(actor).order_by("-pk").only("uid")
    originals = readable.filter(pk=run.rerun_of_id or 0)
    before = readable.filter(skill_id=run.skill_id or 0, pk__lt=run.pk)[:1]
    yield originals, before
    repeated, earlier = next(iter(originals), None), next(iter(before), None)
    found = [{"label": gettext("original run"), "uid": repeated.uid}] if repeated else []
    if earlier and earlier != repeated:
        found.append({"label": gettext("previous run"), "uid": earlier.uid})
    return found


def comparison_context(before: Run, after: Run, found: RunComparison, actor: Actor) -> dict[str, Any]:
    facts, names = [_fact(fact) for fact in found.facts], skill_names([before, after], actor)
    return {
        "before_name": names[before.pk],
        "after_name": names[after.pk],
        "before_label": _run_label(before),
        "after_label": _run_label(after),
        "found": found,
        "different": [fact for fact in facts if not fact["same"]],
        "equal": [fact for fact in facts if fact["same"]],
        "different_files": [_file(pair) for pair in found.files if pair.kind != "same"],
        "equal_files": [_file(pair) for pair in found.files if pair.kind == "same"],
        "steps": [_step(pair) for pair in found.steps],
        "log": line_groups(found.log, "log"),
        "log_same": not found.log.too_large and found.log.removed == found.log.added == 0,
        "same_skill": before.skill_id is not None and before.skill_id == after.skill_id,
    }


def _run_label(run: Run) -> str:
    return gettext("Run #%(number)s") % {"number": run.number} if run.number else run.uid


def _fact(fact: RunFact) -> dict[str, Any]:
    before, after = (_label(fact.name, value) for value in (fact.before, fact.after))
    return {"label": _FACTS.get(fact.name, fact.name), "same": fact.same, "before": before, "after": after}


def _label(name: str, value: str) -> str:
    if name == "status":
        return str(TONES[value][2]) if value in TONES else value
    if name == "duration_ms":
        return milliseconds(float(value)) if value else ""
    return short_digest(value) if name == "digest" else value


def _file(pair: ArtifactPair) -> dict[str, Any]:
    """A pair of files for templates; ``image_sides`` names the sides to show as images."""
    sides = [side for side in ("before", "after") if getattr(pair, side)]
    images = [side for side in sides if is_image(pair.path, getattr(pair, side).size)]
    return {"path": pair.path, "before": pair.before, "after": pair.after, "image_sides": images}


def _step(pair: StepPair) -> dict[str, Any]:
    """A pair of steps for templates. ``difference_ms`` is the time of the later run minus the time of the
    earlier one; None if a run lacks the step or its time.
    """
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
