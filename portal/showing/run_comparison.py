"""A comparison of two runs as a page shows it."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from portal.showing.comparison import Part, parts_of
from portal.showing.status import TONES
from portal.showing.timeline import PLATFORM
from portal.templatetags.skillquay import short_digest
from registry.actors import Actor
from worker.comparing import Fact, FilePair, RunComparison, StepPair
from worker.models import Run
from worker.value_changes import ValueChanges

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
    "duration_ms": _("Duration in ms"),
    "team": _("For team"),
    "caller": _("Started by"),
    "sandbox": _("Sandbox"),
}


@dataclass(frozen=True)
class FactRow:
    label: str
    fact: Fact

    @property
    def before(self) -> str:
        return self._said(self.fact.before)

    @property
    def after(self) -> str:
        return self._said(self.fact.after)

    def _said(self, value: str) -> str:
        if self.fact.name == "status":
            return str(TONES[value][2]) if value in TONES else value
        return short_digest(value) if self.fact.name == "digest" else value


@dataclass(frozen=True)
class StepRow:
    """``more_ms`` is how much longer the later run took; None where one of them has no such step or time."""

    name: str
    pair: StepPair
    more_ms: float | None

    @property
    def slower(self) -> bool:
        return self.more_ms is not None and self.more_ms > 0

    @property
    def apart_ms(self) -> float:
        return abs(self.more_ms or 0.0)


@dataclass(frozen=True)
class ShownComparison:
    facts: tuple[FactRow, ...]
    inputs: ValueChanges
    output: ValueChanges
    steps: tuple[StepRow, ...]
    files: tuple[FilePair, ...]
    log: tuple[Part, ...]
    log_too_large: bool
    log_same: bool
    same_skill: bool


@dataclass(frozen=True)
class Other:
    """A run that this one can be held against, and why it is offered."""

    label: str
    uid: str


def others_of(run: Run, actor: Actor) -> list[Other]:
    """The run that it repeats and the one before it of the same skill, as far as they may be read."""
    readable = Run.objects.readable_by(actor).order_by("-pk").only("uid")
    again = readable.filter(pk=run.again_of_id).first() if run.again_of_id else None
    earlier = readable.filter(skill_id=run.skill_id, pk__lt=run.pk).first() if run.skill_id else None
    found = [Other(gettext("the run that it repeats"), again.uid)] if again else []
    if earlier and earlier != again:
        found.append(Other(gettext("the run before it"), earlier.uid))
    return found


def shown(before: Run, after: Run, found: RunComparison) -> ShownComparison:
    return ShownComparison(
        facts=tuple(FactRow(str(_FACTS.get(fact.name, fact.name)), fact) for fact in found.facts),
        inputs=found.inputs,
        output=found.output,
        steps=tuple(_step(pair) for pair in found.steps),
        files=found.files,
        log=parts_of(found.log, "log"),
        log_too_large=found.log.too_large,
        log_same=not found.log.too_large and found.log.removed == found.log.added == 0,
        same_skill=before.skill_id is not None and before.skill_id == after.skill_id,
    )


def _step(pair: StepPair) -> StepRow:
    name = str(PLATFORM.get(pair.name, pair.name)) if pair.kind == "platform" else pair.name
    old, new = (side.duration_ms if side else None for side in (pair.before, pair.after))
    # to the tenth that is shown, so that no difference has no sign
    return StepRow(name, pair, None if old is None or new is None else round(new - old, 1))
