"""The checks of phrases and trigger tests that publishing calls; see ``versions.publishing.checks``."""

from collections.abc import Sequence

from registry.identity.actors import Actor
from registry.models import Version
from registry.packages.package import PackageFile
from registry.packages.problems import Problem
from registry.trigger_tests import evaluate
from registry.trigger_tests.evaluate import has_tests
from registry.trigger_tests.phrases import phrase_notices

__all__ = ["has_tests", "phrase_notices", "trigger_problems"]


def trigger_problems(
    version: Version, files: Sequence[PackageFile], actor: Actor, *, keep: bool = False
) -> tuple[Problem, ...]:
    """The problems that the trigger tests find. ``keep`` stores the results unless they block publication."""
    results = evaluate.evaluate_tests(version, files, actor)
    problems = evaluate.outcome_problems(results, version.skill.team)
    if keep and results and not any(each.severity == "error" for each in problems):
        evaluate.save_results(version, results)
    return problems
