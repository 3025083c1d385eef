"""Counts the activations of skills that agents report."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F, Sum
from django.utils import timezone

from registry.core.sql import Reads, reader
from registry.models import ActivationDay, ActivationTrigger, Skill, Team, UnknownActivation, UseKind
from registry.usage.recording import record_use

MAX_NAMES = 200  # unknown names per team; further ones count as unnamed


@transaction.atomic
def record_activation(skill: Skill, caller: str, trigger: ActivationTrigger) -> None:
    """Counts the activation, and a use of the skill if none by this caller counted within a minute."""
    row, _ = ActivationDay.objects.get_or_create(skill=skill, trigger=trigger, day=timezone.now().date())
    ActivationDay.objects.filter(pk=row.pk).update(count=F("count") + 1)
    record_use(skill, caller, UseKind.ACTIVATION)


@transaction.atomic
def record_unknown(team: Team, name: str) -> None:
    """Counts an activation of a name that is no skill, or of no name, for the team. Above MAX_NAMES names
    per team, a new name counts as no name.
    """
    rows = UnknownActivation.objects.filter(team=team)
    if name and not rows.filter(name=name).exists() and rows.count() >= MAX_NAMES:
        name = ""
    row, _ = rows.get_or_create(team=team, name=name)
    rows.filter(pk=row.pk).update(count=F("count") + 1, last_at=timezone.now())


@reader
def activations_by_trigger(skill: Skill) -> Reads[dict[str, int]]:
    """The number of reported activations of the skill by trigger, zeros included."""
    yield (rows := skill.activation_days.values_list("trigger").annotate(n=Sum("count")).order_by())
    counts = dict(rows)
    return {trigger.value: counts.get(trigger.value, 0) for trigger in ActivationTrigger}


def list_unknown(team: Team) -> list[UnknownActivation]:
    """The team's unknown names, most frequent first; activations without a name have an empty one."""
    return list(UnknownActivation.objects.filter(team=team).order_by("-count", "name"))
