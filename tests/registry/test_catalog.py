from __future__ import annotations

import pytest

from registry import catalog
from registry.actors import ANONYMOUS, Actor
from registry.models import Membership, Role, Skill, Team
from registry.packages.problems import Refused

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


@pytest.fixture
def elsewhere(charlie):
    return Team.objects.get(slug="elsewhere")


def refusal(call, *args):
    with pytest.raises(Refused) as refused:
        call(*args)
    return refused.value.problems[0]


def test_a_skill_is_found_by_team_and_slug(published, alice):
    version = published("report")
    assert catalog.find_skill("docs/report", Actor(user=alice)) == version.skill


@pytest.mark.parametrize("label", ["docs/absent", "absent/report", "a/b/c", "/", "", "docs/", "/report"])
def test_any_other_label_is_refused(published, alice, label):
    published("report")
    assert refusal(catalog.find_skill, label, Actor(user=alice)).code == "NOT_FOUND"


def test_a_skill_that_is_not_seen_is_refused_word_for_word_like_one_that_is_not_there(published, charlie):
    published("report")
    for actor in (ANONYMOUS, Actor(user=charlie)):
        hidden, absent = (refusal(catalog.find_skill, f"docs/{slug}", actor) for slug in ("report", "absent"))
        assert hidden.message().replace("report", "absent") == absent.message()
        assert hidden.document().keys() == absent.document().keys()


def test_a_team_that_is_not_seen_is_refused_like_one_that_is_not_there(published, charlie, bob):
    published("report")
    hidden, absent = (refusal(catalog.find_team, slug, Actor(user=charlie)) for slug in ("docs", "absent"))
    assert hidden.message().replace("docs", "absent") == absent.message()
    assert catalog.find_team("docs", Actor(user=bob)).slug == "docs"


def test_a_bare_slug_is_the_callers_own_teams(published, charlie, bob, elsewhere):
    own = published("report").skill
    published("report", into=elsewhere, by=Actor(user=charlie), visibility="public")
    assert catalog.find_skill("report", Actor(user=bob)) == own


def test_a_bare_slug_is_never_silently_another_teams(published, charlie, bob, elsewhere):
    published("report", into=elsewhere, by=Actor(user=charlie), visibility="public")
    found = refusal(catalog.find_skill, "report", Actor(user=bob))
    assert found.code == "NAME_AMBIGUOUS"
    assert "elsewhere/report" in found.message()


def test_a_bare_slug_of_two_own_teams_names_both_and_no_hidden_one(published, bob, charlie, elsewhere, team):
    third = Team.objects.create(slug="third", name="Third")
    for each in (third, team):
        Membership.objects.get_or_create(team=each, user=bob, defaults={"role": Role.MEMBER})
        published("report", into=each, by=Actor(user=bob))
    published("report", into=elsewhere, by=Actor(user=charlie))
    found = refusal(catalog.find_skill, "report", Actor(user=bob))
    assert found.params["candidates"] == "docs/report, third/report"


def test_a_bare_slug_that_only_others_have_in_private_is_not_there(published, bob, charlie, elsewhere):
    published("report", into=elsewhere, by=Actor(user=charlie))
    assert refusal(catalog.find_skill, "report", Actor(user=bob)).code == "NOT_FOUND"


def test_a_version_is_found_by_number_or_is_the_latest(published, alice):
    published("report", version="1.0.0")
    published("report", version="2.0.0", body="new")
    skill = Skill.objects.get()
    for number, expected in [
        (None, "2.0.0"),
        ("", "2.0.0"),
        ("latest", "2.0.0"),
        ("1.0.0", "1.0.0"),
        ("v1.0", "1.0.0"),
    ]:
        assert catalog.find_version(skill, number, Actor(user=alice)).number == expected
    assert refusal(catalog.find_version, skill, "3.0.0", Actor(user=alice)).code == "NOT_FOUND"


def test_a_version_is_not_found_by_who_may_not_see_its_skill(published, charlie):
    skill = published("report").skill
    assert refusal(catalog.find_version, skill, "1.0.0", Actor(user=charlie)).code == "NOT_FOUND"


@pytest.mark.row("C3")
def test_an_internal_skill_is_listed_to_its_team_and_administrators(published, bob, charlie, administrator):
    published("report", type="internal", visibility="public")
    for person, seen in ((bob, True), (administrator, True), (charlie, False)):
        assert Skill.objects.visible_to(Actor(user=person)).exists() is seen
    assert not Skill.objects.visible_to(ANONYMOUS).exists()
