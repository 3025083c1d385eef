from __future__ import annotations

import pytest

from registry.collisions import collisions
from registry.packages.package import Triggers
from registry.packages.problems import Refused

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]


@pytest.fixture
def told(alice, actor_of):
    def tell(user=None, **more):
        found = collisions(actor_of(user or alice), **more).rows
        return [(each.kind, each.text, sorted(each.skills)) for each in found]

    return tell


def test_the_same_words_of_two_skills_collide_however_they_are_written(published, told):
    published("one", name="One", triggers=Triggers(phrases=("Weekly Reports",)))
    published("two", name="Two", triggers=Triggers(intents=("weekly report",)))
    published("three", name="Three", triggers=Triggers(phrases=("monthly bill",)))
    assert told() == [("said", "weekly report", ["docs/one", "docs/two"])] or told() == [
        ("said", "Weekly Reports", ["docs/one", "docs/two"])
    ]


def test_what_is_asked_of_a_team_or_skill_that_is_not_there_is_refused(published, told, charlie):
    for slug in ("one", "two"):
        published(slug, name=slug, triggers=Triggers(phrases=("weekly report",)))
    assert told(skill="one") == told(skill="docs/one") == told(team="docs") != []
    for user, asked in (
        (None, {"skill": "docs/onne"}),
        (None, {"team": "dosc"}),
        (charlie, {"skill": "docs/one"}),
    ):
        with pytest.raises(Refused) as refused:
            told(user, **asked)
        assert refused.value.code == "NOT_FOUND"


def test_the_same_event_collides(published, told):
    for slug in ("one", "two"):
        published(slug, name=slug, triggers=Triggers(event_types=("build.failed",)))
    assert told() == [("event", "build.failed", ["docs/one", "docs/two"])]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("summarise the report", "summarise this report"),
        ("总结这份报告", "总结那份报告"),
        ("clean old logs", "clean logs"),
    ],
)
def test_phrases_that_differ_by_one_word_are_near(published, told, first, second):
    published("one", name="One", triggers=Triggers(phrases=(first,)))
    published("two", name="Two", triggers=Triggers(phrases=(second,)))
    assert [(kind, skills) for kind, _, skills in told()] == [("near", ["docs/one", "docs/two"])]


def test_phrases_that_share_less_do_not_collide(published, told):
    published("one", name="One", triggers=Triggers(phrases=("summarise the report", "周报")))
    published("two", name="Two", triggers=Triggers(phrases=("translate a report", "月报")))
    assert told() == []


def test_two_phrases_of_one_skill_do_not_collide(published, told):
    published(
        "one", name="One", triggers=Triggers(phrases=("weekly report", "weekly reports", "a weekly report"))
    )
    assert told() == []


def test_what_one_may_not_see_collides_with_nothing(published, told, charlie):
    for slug, visibility in (("one", "public"), ("two", "private")):
        published(slug, name=slug, visibility=visibility, triggers=Triggers(phrases=("weekly report",)))
    assert len(told()) == 1
    assert told(charlie) == []


def test_a_team_or_a_skill_narrows_the_report(published, told):
    for slug, phrase in (
        ("one", "weekly report"),
        ("two", "weekly report"),
        ("three", "pay a bill"),
        ("four", "pay a bill"),
    ):
        published(slug, name=slug, triggers=Triggers(phrases=(phrase,)))
    assert len(told()) == len(told(team="docs")) == 2
    assert [skills for _, _, skills in told(skill="docs/one")] == [["docs/one", "docs/two"]]


def test_a_skill_that_agents_are_not_offered_collides_with_nothing(published, told):
    published("one", name="One", triggers=Triggers(phrases=("weekly report",)), disable_model_invocation=True)
    published("two", name="Two", triggers=Triggers(phrases=("weekly report",)))
    assert told() == []
