from __future__ import annotations

import json
from contextlib import suppress

import pytest
from django.core.management import call_command

from registry import feedback, matching, retrials, trials
from registry.actors import Actor
from registry.models import Skill, TriggerTest, TriggerTrial, Version
from registry.packages.package import PackageFile, Triggers
from registry.packages.problems import Refused, problem
from registry.publishing import check, publish
from tests.registry.conftest import make_package

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]
SAID = {"triggers": Triggers(phrases=("summarise this report",)), "description": "Summarises reports."}


def package(match=(), not_match=(), **more):
    lists = {"match": match, "not_match": not_match}
    text = "".join(
        f"{name}:\n" + "".join(f'  - "{each}"\n' for each in said) for name, said in lists.items() if said
    )
    files = [PackageFile("tests/triggers.yaml", text.encode())]
    return make_package(files=files, **{"version": "1.0.0", **SAID, **more})


def codes(problems):
    return [each.code for each in problems if each.code.startswith("TRIGGER")]


def test_tests_that_pass_are_praised_in_preview_and_publication(team, alice, actor_of):
    tested = package(["please summarise this report for me"], ["bake a cake"])
    preview = check(tested, team=team, actor=actor_of(alice))
    assert codes(preview.problems) == ["TRIGGER_TESTS_PASSED"]
    done = publish(tested, team=team, actor=actor_of(alice))
    assert codes(done.problems) == ["TRIGGER_TESTS_PASSED"]
    rows = TriggerTrial.objects.filter(version=done.version).values_list("utterance", "passed", "line")
    assert list(rows) == [("please summarise this report for me", True, 2), ("bake a cake", True, 4)]


def test_a_preview_leaves_nothing_behind(team, alice, actor_of):
    preview = check(package(["summarise this report"]), team=team, actor=actor_of(alice))
    assert preview.creates_skill
    assert not Skill.objects.exists()
    assert not Version.objects.exists()
    assert matching.match(matching.Request("summarise this report"), actor_of(alice)).none


def test_failing_tests_warn_with_their_line_and_the_version_is_published(team, alice, actor_of):
    done = publish(package(["bake a cake"], ["summarise this report"]), team=team, actor=actor_of(alice))
    told = [each for each in done.problems if each.code.startswith("TRIGGER")]
    assert [(each.code, each.path, each.line, each.severity) for each in told] == [
        ("TRIGGER_NOT_MET", "tests/triggers.yaml", 2, "warning"),
        ("TRIGGER_UNWANTED", "tests/triggers.yaml", 4, "warning"),
    ]
    assert set(done.version.trigger_trials.values_list("passed", flat=True)) == {False}


def test_where_the_team_wants_it_failing_tests_block(team, alice, actor_of):
    team.failing_triggers_block = True
    team.save()
    failing = package(["bake a cake"])
    assert not check(failing, team=team, actor=actor_of(alice)).ok
    with pytest.raises(Refused) as refused:
        publish(failing, team=team, actor=actor_of(alice))
    assert refused.value.code == "TRIGGER_NOT_MET"
    assert not Version.objects.exists()


def test_where_failing_tests_block_those_that_cannot_be_tried_do_too(team, alice, actor_of):
    flawed = [problem("TRIGGER_TESTS_INVALID", path="tests/triggers.yaml", line=1, reason="x")]
    broken = make_package(version="1.0.0", problems=flawed)
    assert check(broken, team=team, actor=actor_of(alice)).ok
    team.failing_triggers_block = True
    team.save()
    preview = check(broken, team=team, actor=actor_of(alice))
    assert [(each.code, each.severity) for each in preview.problems] == [("TRIGGER_TESTS_INVALID", "error")]
    with pytest.raises(Refused) as refused:
        publish(broken, team=team, actor=actor_of(alice))
    assert [each.severity for each in refused.value.problems] == ["error"]
    assert not Version.objects.exists()


def test_a_test_that_came_of_feedback_is_tried_with_the_next_version(published, team, alice, actor_of):
    skill = published(**SAID).skill
    TriggerTest.objects.create(
        skill=skill, utterance="summarise this report", must_match=False, origin="feedback", accepted_by=alice
    )
    done = publish(make_package(version="1.1.0", **SAID), team=team, actor=actor_of(alice))
    assert codes(done.problems) == ["TRIGGER_UNWANTED"]


def test_the_tests_see_the_catalog_as_their_publisher_does(published, team, alice, actor_of):
    published("report-writer", triggers=Triggers(phrases=("summarise this report",), priority=1.0))
    trial = trials.tried(
        publish(package((), ["summarise this report"]), team=team, actor=actor_of(alice)).version,
        package((), ["summarise this report"]).files,
        actor_of(alice),
    )
    assert (trial[0].first, trial[0].place, trial[0].passed) == ("docs/report-writer", 2, True)


def test_a_skill_that_waits_for_files_is_tried_as_if_they_were_there(team, alice, actor_of):
    done = publish(package(["summarise this report"], paths=("*.md",)), team=team, actor=actor_of(alice))
    assert codes(done.problems) == ["TRIGGER_TESTS_PASSED"]
    assert Skill.objects.get().paths == ["*.md"]


def test_an_older_version_is_tried_without_becoming_the_latest(published, team, alice, actor_of):
    published(version="2.0.0", description="Bakes cakes.", triggers=Triggers(phrases=("bake a cake",)))
    done = publish(package(["summarise this report"]), team=team, actor=actor_of(alice))
    assert codes(done.problems) == ["TRIGGER_TESTS_PASSED"]
    assert Skill.objects.get().latest.number == "2.0.0"
    found = matching.match(matching.Request("bake a cake"), Actor(user=alice)).rows
    assert [str(row.skill) for row in found] == ["docs/report"]


def test_tests_are_tried_again_beside_what_is_offered_by_now(team, alice, bob, charlie, actor_of, published):
    done = publish(package(["please summarise this report"]), team=team, actor=actor_of(alice))
    skill = done.version.skill
    feedback.add_test(skill, "please summarise this report for me", must_match=False, actor=actor_of(alice))
    found = retrials.try_again(skill, actor_of(alice))
    assert {each.utterance: each.passed for each in found} == {
        "please summarise this report": True,
        "please summarise this report for me": False,
    }
    assert TriggerTrial.objects.filter(version=done.version).count() == 2
    assert Skill.objects.get(pk=skill.pk).latest_id == done.version.pk
    for person, code in ((bob, "FORBIDDEN"), (charlie, "NOT_FOUND")):
        with pytest.raises(Refused) as error:
            retrials.try_again(skill, actor_of(person))
        assert error.value.code == code
    with pytest.raises(Refused) as error:
        retrials.try_again(published("bare").skill, actor_of(alice))
    assert error.value.code == "TRIGGER_TESTS_NONE"


def test_tests_are_written_tried_and_removed_on_the_command_line(published, administrator, capsys):
    published("report", **SAID)

    def run(*words):
        with suppress(SystemExit):
            call_command("trigger_tests", "docs/report", *words, "--json")
        return json.loads(capsys.readouterr().out)

    assert run() == {"ok": True, "skill": "docs/report", "tests": []}
    (row,) = run("--match", "summarise this report")["tests"]
    assert (row["must_match"], row["passed"]) == (True, None)
    assert run("--try")["tests"][0]["passed"]
    assert not run("--not-match", "summarise this report", "--try")["ok"]
    assert [each["id"] for each in run("--remove", row["id"])["tests"]] == [None]
