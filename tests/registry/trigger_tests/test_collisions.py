from __future__ import annotations

import pytest

from registry.packages.package import Triggers
from registry.packages.problems import Refusal
from registry.trigger_tests.collisions import find_collisions

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]


@pytest.fixture
def told(alice, actor_of):
    def tell(user=None, **more):
        found = find_collisions(actor_of(user or alice), **more).rows
        return [(each.kind, each.text, sorted(each.skills)) for each in found]

    return tell


def test_the_same_words_of_two_skills_collide_however_they_are_written(publish_skill, told):
    publish_skill("one", name="One", triggers=Triggers(phrases=("Weekly Reports",)))
    publish_skill("two", name="Two", triggers=Triggers(intents=("weekly report",)))
    publish_skill("three", name="Three", triggers=Triggers(phrases=("monthly bill",)))
    assert told() == [("exact", "weekly report", ["docs/one", "docs/two"])] or told() == [
        ("exact", "Weekly Reports", ["docs/one", "docs/two"])
    ]


def test_what_is_asked_of_a_team_or_skill_that_is_not_there_is_refused(publish_skill, told, charlie):
    for slug in ("one", "two"):
        publish_skill(slug, name=slug, triggers=Triggers(phrases=("weekly report",)))
    assert told(skill="one") == told(skill="docs/one") == told(team="docs") != []
    for user, asked in (
        (None, {"skill": "docs/onne"}),
        (None, {"team": "dosc"}),
        (charlie, {"skill": "docs/one"}),
    ):
        with pytest.raises(Refusal) as refused:
            told(user, **asked)
        assert refused.value.code == "NOT_FOUND"


def test_the_same_event_collides(publish_skill, told):
    for slug in ("one", "two"):
        publish_skill(slug, name=slug, triggers=Triggers(event_types=("build.failed",)))
    assert told() == [("event", "build.failed", ["docs/one", "docs/two"])]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("summarise the report", "summarise this report"),
        ("总结这份报告", "总结那份报告"),
        ("clean old logs", "clean logs"),
    ],
)
def test_phrases_that_differ_by_one_word_are_near(publish_skill, told, first, second):
    publish_skill("one", name="One", triggers=Triggers(phrases=(first,)))
    publish_skill("two", name="Two", triggers=Triggers(phrases=(second,)))
    assert [(kind, skills) for kind, _, skills in told()] == [("similar", ["docs/one", "docs/two"])]


def test_phrases_that_share_less_do_not_collide(publish_skill, told):
    publish_skill("one", name="One", triggers=Triggers(phrases=("summarise the report", "周报")))
    publish_skill("two", name="Two", triggers=Triggers(phrases=("translate a report", "月报")))
    assert told() == []


def test_two_phrases_of_one_skill_do_not_collide(publish_skill, told):
    publish_skill(
        "one", name="One", triggers=Triggers(phrases=("weekly report", "weekly reports", "a weekly report"))
    )
    assert told() == []


def test_what_one_may_not_see_collides_with_nothing(publish_skill, told, charlie):
    for slug, visibility in (("one", "public"), ("two", "private")):
        publish_skill(slug, name=slug, visibility=visibility, triggers=Triggers(phrases=("weekly report",)))
    assert len(told()) == 1
    assert told(charlie) == []


def test_a_team_or_a_skill_narrows_the_report(publish_skill, told):
    for slug, phrase in (
        ("one", "weekly report"),
        ("two", "weekly report"),
        ("three", "pay a bill"),
        ("four", "pay a bill"),
    ):
        publish_skill(slug, name=slug, triggers=Triggers(phrases=(phrase,)))
    assert len(told()) == len(told(team="docs")) == 2
    assert [skills for _, _, skills in told(skill="docs/one")] == [["docs/one", "docs/two"]]


def test_a_skill_that_agents_are_not_offered_collides_with_nothing(publish_skill, told):
    publish_skill(
        "one", name="One", triggers=Triggers(phrases=("weekly report",)), disable_model_invocation=True
    )
    publish_skill("two", name="Two", triggers=Triggers(phrases=("weekly report",)))
    assert told() == []
