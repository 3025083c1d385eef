"""Evaluates a skill's trigger tests, including those added since publication, against the current skills."""

from django.db import transaction

from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.lookup.errors import NO_LATEST
from registry.models import Skill
from registry.review import findings
from registry.trigger_tests import evaluate
from registry.trigger_tests.errors import TRIGGER_TESTS_NONE
from registry.versions.publishing.locks import lock_version


def reevaluate_tests(skill: Skill, actor: Actor) -> tuple[evaluate.TriggerTestOutcome, ...]:
    """Evaluates the tests of the latest version with the actor's matches and replaces the stored results.
    Raises the refusals of ``require`` and ``lock_version``, NO_LATEST if there is no latest version, and
    TRIGGER_TESTS_NONE if the skill has no tests.
    """
    require(actor, Action.SETTINGS, skill=skill)
    if skill.latest is None:
        raise NO_LATEST.refusal(skill=str(skill))
    package = findings.stored_package(skill.latest)
    if not evaluate.has_tests(package, skill):
        raise TRIGGER_TESTS_NONE.refusal(skill=str(skill))
    with transaction.atomic():
        version = lock_version(skill.latest, actor, Action.SETTINGS)
        found = evaluate.evaluate_tests(version, package.files, actor)
        evaluate.save_results(version, found)
        passed = sum(each.passed for each in found)
        audit.record(
            actor, "trigger_tests.try", str(version), team=skill.team, passed=passed, count=len(found)
        )
    return found
