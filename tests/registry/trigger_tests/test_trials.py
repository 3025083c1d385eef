from __future__ import annotations

import pytest

from registry.identity.actors import Actor
from registry.matching import feedback
from registry.matching import match as matching
from registry.models import Skill, TriggerTest, TriggerTestResult, Version
from registry.packages.checks.errors import TRIGGER_TESTS_INVALID
from registry.packages.package import PackageFile, Triggers
from registry.packages.problems import Refusal
from registry.trigger_tests import evaluate, reevaluate
from registry.versions.publishing.publish import preview_publication, publish
from tests.checks import not_none
from tests.registry.conftest import make_package
from tests.shell import api, refusal

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
    preview = preview_publication(tested, team=team, actor=actor_of(alice))
    assert codes(preview.problems) == ["TRIGGER_TESTS_PASSED"]
    done = publish(tested, team=team, actor=actor_of(alice))
    assert codes(done.problems) == ["TRIGGER_TESTS_PASSED"]
    rows = TriggerTestResult.objects.filter(version=done.version).values_list("utterance", "passed", "line")
    assert list(rows) == [("please summarise this report for me", True, 2), ("bake a cake", True, 4)]


@pytest.mark.row("P3")
def test_a_preview_leaves_nothing_behind(team, alice, actor_of):
    preview = preview_publication(package(["summarise this report"]), team=team, actor=actor_of(alice))
    assert preview.creates_skill
    assert not Skill.objects.exists()
    assert not Version.objects.exists()
    assert matching.match(matching.MatchQuery("summarise this report"), actor_of(alice)).none


def test_failing_tests_warn_with_their_line_and_the_version_is_published(
    publish_skill, team, alice, actor_of
):
    publish_skill("baker", triggers=Triggers(phrases=("bake a cake",)))
    done = publish(package(["bake a cake"], ["summarise this report"]), team=team, actor=actor_of(alice))
    told = [each for each in done.problems if each.code.startswith("TRIGGER")]
    assert [(each.code, each.path, each.line, each.severity) for each in told] == [
        ("TRIGGER_NOT_MET", "tests/triggers.yaml", 2, "warning"),
        ("TRIGGER_UNWANTED", "tests/triggers.yaml", 4, "warning"),
    ]
    assert told[0].params["first"] == "docs/baker"
    assert set(done.version.trigger_test_results.values_list("passed", flat=True)) == {False}


def test_where_the_team_wants_it_failing_tests_block(team, alice, actor_of):
    team.failing_triggers_block = True
    team.save()
    failing = package(["bake a cake"])
    assert not preview_publication(failing, team=team, actor=actor_of(alice)).ok
    with pytest.raises(Refusal) as refused:
        publish(failing, team=team, actor=actor_of(alice))
    assert refused.value.code == "TRIGGER_NOTHING_FOUND"
    assert not Version.objects.exists()


def test_where_failing_tests_block_those_that_cannot_be_tried_do_too(team, alice, actor_of):
    flawed = [TRIGGER_TESTS_INVALID.problem(reason="x").at("tests/triggers.yaml", 1)]
    broken = make_package(version="1.0.0", problems=flawed)
    assert preview_publication(broken, team=team, actor=actor_of(alice)).ok
    team.failing_triggers_block = True
    team.save()
    preview = preview_publication(broken, team=team, actor=actor_of(alice))
    assert [(each.code, each.severity) for each in preview.problems] == [("TRIGGER_TESTS_INVALID", "error")]
    with pytest.raises(Refusal) as refused:
        publish(broken, team=team, actor=actor_of(alice))
    assert [each.severity for each in refused.value.problems] == ["error"]
    assert not Version.objects.exists()


def test_a_test_that_came_of_feedback_is_tried_with_the_next_version(publish_skill, team, alice, actor_of):
    skill = publish_skill(**SAID).skill
    TriggerTest.objects.create(
        skill=skill, utterance="summarise this report", must_match=False, origin="feedback", accepted_by=alice
    )
    done = publish(make_package(version="1.1.0", **SAID), team=team, actor=actor_of(alice))
    assert codes(done.problems) == ["TRIGGER_UNWANTED"]


def test_the_tests_see_the_catalog_as_their_publisher_does(publish_skill, team, alice, actor_of):
    publish_skill("report-writer", triggers=Triggers(phrases=("summarise this report",), priority=1.0))
    trial = evaluate.evaluate_tests(
        publish(package((), ["summarise this report"]), team=team, actor=actor_of(alice)).version,
        package((), ["summarise this report"]).files,
        actor_of(alice),
    )
    assert (trial[0].first, trial[0].place, trial[0].passed) == ("docs/report-writer", 2, True)


def test_a_skill_that_waits_for_files_is_tried_as_if_they_were_there(team, alice, actor_of):
    done = publish(package(["summarise this report"], paths=("*.md",)), team=team, actor=actor_of(alice))
    assert codes(done.problems) == ["TRIGGER_TESTS_PASSED"]
    assert Skill.objects.get().paths == ["*.md"]


def test_an_older_version_is_tried_without_becoming_the_latest(publish_skill, team, alice, actor_of):
    publish_skill(version="2.0.0", description="Bakes cakes.", triggers=Triggers(phrases=("bake a cake",)))
    done = publish(package(["summarise this report"]), team=team, actor=actor_of(alice))
    assert codes(done.problems) == ["TRIGGER_TESTS_PASSED"]
    assert not_none(Skill.objects.get().latest).number == "2.0.0"
    found = matching.match(matching.MatchQuery("bake a cake"), Actor(user=alice)).rows
    assert [str(row.skill) for row in found] == ["docs/report"]


def test_tests_are_tried_again_beside_what_is_offered_by_now(
    team, alice, bob, charlie, actor_of, publish_skill
):
    done = publish(package(["please summarise this report"]), team=team, actor=actor_of(alice))
    skill = done.version.skill
    feedback.add_test(skill, "please summarise this report for me", must_match=False, actor=actor_of(alice))
    found = reevaluate.reevaluate_tests(skill, actor_of(alice))
    assert {each.utterance: each.passed for each in found} == {
        "please summarise this report": True,
        "please summarise this report for me": False,
    }
    assert TriggerTestResult.objects.filter(version=done.version).count() == 2
    assert Skill.objects.get(pk=skill.pk).latest_id == done.version.pk
    for person, code in ((bob, "FORBIDDEN"), (charlie, "NOT_FOUND")):
        with pytest.raises(Refusal) as error:
            reevaluate.reevaluate_tests(skill, actor_of(person))
        assert error.value.code == code
    with pytest.raises(Refusal) as error:
        reevaluate.reevaluate_tests(publish_skill("bare").skill, actor_of(alice))
    assert error.value.code == "TRIGGER_TESTS_NONE"


def test_shell_writes_tries_and_removes_tests(publish_skill, administrator):
    publish_skill("report", **SAID)
    tests = "skills/docs/report/trigger-tests"

    def ended():
        return api("POST", "skills/docs/report/trigger-tests/run")[1]["tests"]

    assert refusal("POST", "skills/docs/report/trigger-tests/run") == "TRIGGER_TESTS_NONE"
    status, row = api("POST", tests, {"utterance": "summarise this report", "must_match": True})
    assert (status, row["must_match"]) == (0, True)
    assert [each["passed"] for each in ended()] == [True]
    assert api("POST", tests, {"utterance": "summarise this report", "must_match": False})[0] == 0
    assert [each["passed"] for each in ended()] == [False]
    for each in api("GET", "skills/docs/report/feedback")[1]["tests"]:
        assert api("DELETE", f"{tests}/{each['id']}")[0] == 0
    assert api("GET", "skills/docs/report/feedback")[1]["tests"] == []
