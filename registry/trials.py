"""Trigger tests are tried by the matching itself, as if the version were its skill's latest; without a model.

What a trial writes to search is taken back before anybody could see it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.db import transaction

from registry import indexing, matching
from registry.actors import Actor
from registry.models import Skill, Team, TriggerTest, TriggerTestOrigin, TriggerTrial, Version
from registry.packages.manifest import manifest_of
from registry.packages.package import Package, PackageFile
from registry.packages.problems import Problem, problem
from registry.packages.trigger_tests import TRIGGERS_YAML, read_trigger_tests

AMONG = 5  # the first so many that are offered: what must match is one of them
MOST_OF_SITE = 50  # of the tests that came of feedback, the newest
_NOBODY = "…"


@dataclass(frozen=True)
class Trial:
    """A test and how it ended: the skill's place among those that its publisher is offered, from 1."""

    utterance: str
    must_match: bool
    origin: str
    line: int | None
    place: int | None
    first: str  # the skill that is offered first, "" for none

    @property
    def passed(self) -> bool:
        """Named among the first five where it must match; where it must not, not the first."""
        return (self.place is not None) if self.must_match else self.place != 1


@dataclass(frozen=True)
class _Test:
    utterance: str
    must_match: bool
    origin: str
    line: int | None = None


def are_there(package: Package, skill: Skill | None) -> bool:
    """Whether there is anything to try."""
    return bool(_tests(package.files, skill))


def tried(version: Version, files: Sequence[PackageFile], actor: Actor) -> tuple[Trial, ...]:
    """The tests of these files and the skill's own, within what the actor is offered."""
    tests = _tests(files, version.skill)
    if not tests:
        return ()
    with transaction.atomic():
        skill = _as_latest(version)
        found = tuple(_tried(test, skill, actor) for test in tests)
        transaction.set_rollback(True)
    return found


def record(version: Version, trials: Iterable[Trial]) -> None:
    """Keeps how each test ended; what else was offered is known to who published alone, and not kept."""
    version.trigger_trials.all().delete()
    TriggerTrial.objects.bulk_create(
        TriggerTrial(
            version=version,
            utterance=each.utterance,
            must_match=each.must_match,
            passed=each.passed,
            origin=each.origin,
            line=each.line,
        )
        for each in trials
    )


def problems_of_trials(trials: Sequence[Trial], team: Team) -> tuple[Problem, ...]:
    """What failed, as errors where the team wants it so; a word of praise where nothing did."""
    failed = [_problem(each) for each in trials if not each.passed]
    if trials and not failed:
        return (problem("TRIGGER_TESTS_PASSED", path=TRIGGERS_YAML, count=len(trials)),)
    if team.failing_triggers_block:
        failed = [replace(each, severity="error") for each in failed]
    return tuple(failed)


def _problem(trial: Trial) -> Problem:
    path = TRIGGERS_YAML if trial.origin == TriggerTestOrigin.PACKAGE else ""
    if trial.must_match:
        said = {"utterance": trial.utterance[:120], "most": AMONG, "first": trial.first or _NOBODY}
        return problem("TRIGGER_NOT_MET", path=path, line=trial.line, **said)
    return problem("TRIGGER_UNWANTED", path=path, line=trial.line, utterance=trial.utterance[:120])


def _tests(files: Sequence[PackageFile], skill: Skill | None) -> list[_Test]:
    """The package's, then the site's; an utterance is tried once."""
    packaged = [
        _Test(each.utterance, each.must_match, TriggerTestOrigin.PACKAGE, each.line)
        for each in read_trigger_tests(files).tests
    ]
    rows = TriggerTest.objects.filter(skill=skill).order_by("-pk")[:MOST_OF_SITE]
    said = {test.utterance for test in packaged}
    site = [_Test(row.utterance, row.must_match, row.origin) for row in rows if row.utterance not in said]
    return packaged + site


def _as_latest(version: Version) -> Skill:
    """The skill of that version, searched and matched as such; files that it waits for are there."""
    skill = Skill.objects.select_related("team", "latest").get(pk=version.skill_id)
    if skill.latest_id != version.pk:
        skill.latest = version
        indexing.index(skill, replace(manifest_of(version.manifest), slug=skill.slug), version.body)
    skill.paths = []
    skill.save()
    return skill


def _tried(test: _Test, skill: Skill, actor: Actor) -> Trial:
    rows = matching.match(matching.Request(test.utterance), actor, limit=AMONG).rows
    places = [row.skill.pk for row in rows]
    place = places.index(skill.pk) + 1 if skill.pk in places else None
    first = str(rows[0].skill) if rows else ""
    return Trial(test.utterance, test.must_match, test.origin, test.line, place, first)


def results(version: Version, actor: Actor) -> list[TriggerTrial]:
    """How the version's tests ended; utterances that came of feedback are its team's alone."""
    rows = version.trigger_trials.order_by("pk")
    if actor.is_administrator or version.skill.team_id in actor.team_ids:
        return list(rows)
    return list(rows.filter(origin=TriggerTestOrigin.PACKAGE))
