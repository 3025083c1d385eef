"""Evaluates trigger tests with real matches, as if the version were its skill's latest. Uses no language
model.

An evaluation rolls back its changes to the index before other requests can see them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.db import transaction
from django.db.models import QuerySet

from registry.core.sql import Reads, prepared, reader
from registry.identity.actors import Actor
from registry.index import postings
from registry.matching import match as matching
from registry.models import Skill, Team, TriggerTest, TriggerTestOrigin, TriggerTestResult, Version
from registry.packages.checks.trigger_tests import TRIGGERS_YAML, read_trigger_tests
from registry.packages.manifest.manifest import manifest_of
from registry.packages.package import Package, PackageFile
from registry.packages.problems import Problem
from registry.trigger_tests.errors import (
    TRIGGER_NOT_MET,
    TRIGGER_NOTHING_FOUND,
    TRIGGER_TESTS_PASSED,
    TRIGGER_UNWANTED,
)

MAX_RANK = 5  # a skill that must match has to be among this many best matches
MAX_SITE_TESTS = 50  # tests stored on the site that are evaluated, newest first


@dataclass(frozen=True)
class TriggerTestOutcome:
    """A test and its result. ``place`` is the skill's rank, from 1, or None beyond MAX_RANK."""

    utterance: str
    must_match: bool
    origin: str
    line: int | None
    place: int | None
    first: str  # the best match, "" if there is none

    @property
    def passed(self) -> bool:
        """Whether the skill is among the best MAX_RANK matches. If the utterance must not match: whether the
        skill is not the best match.
        """
        return (self.place is not None) if self.must_match else self.place != 1


@dataclass(frozen=True)
class _Test:
    utterance: str
    must_match: bool
    origin: str
    line: int | None = None


def has_tests(package: Package, skill: Skill | None) -> bool:
    return bool(_tests(package.files, skill))


def evaluate_tests(
    version: Version, files: Sequence[PackageFile], actor: Actor
) -> tuple[TriggerTestOutcome, ...]:
    """The outcomes of the tests in ``files`` and of those stored on the site. The matches run as the actor.
    Empty if there are no tests.
    """
    tests = _tests(files, version.skill)
    if not tests:
        return ()
    with transaction.atomic():
        skill = _make_latest(version)
        found = tuple(_evaluate(test, skill, actor) for test in tests)
        transaction.set_rollback(True)
    return found


def save_results(version: Version, outcomes: Iterable[TriggerTestOutcome]) -> None:
    """Replaces the stored results. Names of other matches are not stored, because they depend on the actor's
    access.
    """
    version.trigger_test_results.all().delete()
    TriggerTestResult.objects.bulk_create(
        TriggerTestResult(
            version=version,
            utterance=each.utterance,
            must_match=each.must_match,
            passed=each.passed,
            origin=each.origin,
            line=each.line,
        )
        for each in outcomes
    )


def outcome_problems(outcomes: Sequence[TriggerTestOutcome], team: Team) -> tuple[Problem, ...]:
    """A warning for each failed test (an error if failed tests block publication); a notice if all passed."""
    failed = [_problem(each) for each in outcomes if not each.passed]
    if outcomes and not failed:
        return (TRIGGER_TESTS_PASSED.problem(count=len(outcomes)).at(TRIGGERS_YAML),)
    if team.failing_triggers_block:
        failed = [replace(each, severity="error") for each in failed]
    return tuple(failed)


def _problem(outcome: TriggerTestOutcome) -> Problem:
    path = TRIGGERS_YAML if outcome.origin == TriggerTestOrigin.PACKAGE else ""
    utterance = outcome.utterance[:120]
    if not outcome.must_match:
        problem = TRIGGER_UNWANTED.problem(utterance=utterance)
    elif outcome.first:
        problem = TRIGGER_NOT_MET.problem(utterance=utterance, most=MAX_RANK, first=outcome.first)
    else:
        problem = TRIGGER_NOTHING_FOUND.problem(utterance=utterance)
    return problem.at(path, outcome.line)


def _tests(files: Sequence[PackageFile], skill: Skill | None) -> list[_Test]:
    """The package's tests, then the newest MAX_SITE_TESTS on the site, without utterances of the package."""
    packaged = [
        _Test(each.utterance, each.must_match, TriggerTestOrigin.PACKAGE, each.line)
        for each in read_trigger_tests(files).tests
    ]
    rows = TriggerTest.objects.filter(skill=skill).order_by("-pk")[:MAX_SITE_TESTS]
    packaged_utterances = {test.utterance for test in packaged}
    site = [
        _Test(row.utterance, row.must_match, row.origin)
        for row in rows
        if row.utterance not in packaged_utterances
    ]
    return packaged + site


def _make_latest(version: Version) -> Skill:
    """Indexes the version as the latest of its skill, without its `paths` condition; returns that skill."""
    skill = Skill.objects.select_related("team", "latest").get(pk=version.skill_id)
    if skill.latest_id != version.pk:
        skill.latest = version
        postings.index_skill(skill, replace(manifest_of(version.manifest), slug=skill.slug), version.body)
    skill.paths = []
    skill.save()
    return skill


def _evaluate(test: _Test, skill: Skill, actor: Actor) -> TriggerTestOutcome:
    rows = matching.match(matching.MatchQuery(test.utterance), actor, limit=MAX_RANK).rows
    places = [row.skill.pk for row in rows]
    place = places.index(skill.pk) + 1 if skill.pk in places else None
    first = str(rows[0].skill) if rows else ""
    return TriggerTestOutcome(test.utterance, test.must_match, test.origin, test.line, place, first)


@reader
def stored_results(version: Version, actor: Actor) -> Reads[list[TriggerTestResult]]:
    """Stored trigger-test results of the version. Includes tests that are not in the package only if
    ``actor`` is an administrator or in the skill's team.
    """
    sees_all = actor.is_administrator or version.skill.team_id in actor.team_ids
    yield (rows := _results_of(version.pk, sees_all=sees_all))
    return list(rows)


@prepared
def _results_of(version: int, *, sees_all: bool) -> QuerySet[TriggerTestResult]:
    rows = TriggerTestResult.objects.filter(version_id=version).order_by("pk")
    return rows if sees_all else rows.filter(origin=TriggerTestOrigin.PACKAGE)
