"""A skill's trigger tests are tried anew: beside what is offered by now, with the tests written since."""

from __future__ import annotations

from django.db import transaction

from registry import audit, reviewing, trials
from registry.actors import Actor
from registry.models import Skill
from registry.packages.problems import refuse
from registry.permissions import Action, require
from registry.publishing.locking import locked_version


def try_again(skill: Skill, actor: Actor) -> tuple[trials.Trial, ...]:
    """Of the latest version, within what the actor is offered; it replaces how they ended before."""
    require(actor, Action.SETTINGS, skill=skill)
    if skill.latest is None:
        raise refuse("NO_LATEST", skill=str(skill))
    package = reviewing.package_of(skill.latest)
    if not trials.are_there(package, skill):
        raise refuse("TRIGGER_TESTS_NONE", skill=str(skill))
    with transaction.atomic():
        version = locked_version(skill.latest, actor, Action.SETTINGS)
        found = trials.tried(version, package.files, actor)
        trials.record(version, found)
        passed = sum(each.passed for each in found)
        audit.record(
            actor, "trigger_tests.try", str(version), team=skill.team, passed=passed, count=len(found)
        )
    return found
