from __future__ import annotations

import pytest

from registry.identity.actors import ANONYMOUS, Actor
from registry.lookup import skills
from registry.models import Membership, Role, Skill, Team
from registry.packages.problems import Refusal

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


@pytest.fixture
def elsewhere(charlie):
    return Team.objects.get(slug="elsewhere")


def refusal(call, *args):
    with pytest.raises(Refusal) as refused:
        call(*args)
    return refused.value.problems[0]


def test_a_skill_is_found_by_team_and_slug(publish_skill, alice):
    version = publish_skill("report")
    assert skills.find_skill("docs/report", Actor(user=alice)) == version.skill


@pytest.mark.parametrize("label", ["docs/absent", "absent/report", "a/b/c", "/", "", "docs/", "/report"])
def test_any_other_label_is_refused(publish_skill, alice, label):
    publish_skill("report")
    assert refusal(skills.find_skill, label, Actor(user=alice)).code == "NOT_FOUND"


def test_a_skill_that_is_not_seen_is_refused_word_for_word_like_one_that_is_not_there(publish_skill, charlie):
    publish_skill("report")
    for actor in (ANONYMOUS, Actor(user=charlie)):
        hidden, absent = (refusal(skills.find_skill, f"docs/{slug}", actor) for slug in ("report", "absent"))
        assert hidden.message().replace("report", "absent") == absent.message()
        assert hidden.document().keys() == absent.document().keys()


def test_a_team_that_is_not_seen_is_refused_like_one_that_is_not_there(publish_skill, charlie, bob):
    publish_skill("report")
    hidden, absent = (refusal(skills.find_team, slug, Actor(user=charlie)) for slug in ("docs", "absent"))
    assert hidden.message().replace("docs", "absent") == absent.message()
    assert skills.find_team("docs", Actor(user=bob)).slug == "docs"


def test_a_bare_slug_is_the_callers_own_teams(publish_skill, charlie, bob, elsewhere):
    own = publish_skill("report").skill
    publish_skill("report", into=elsewhere, by=Actor(user=charlie), visibility="public")
    assert skills.find_skill("report", Actor(user=bob)) == own


def test_a_bare_slug_is_never_silently_another_teams(publish_skill, charlie, bob, elsewhere):
    publish_skill("report", into=elsewhere, by=Actor(user=charlie), visibility="public")
    found = refusal(skills.find_skill, "report", Actor(user=bob))
    assert found.code == "NAME_AMBIGUOUS"
    assert "elsewhere/report" in found.message()


def test_a_bare_slug_of_two_own_teams_names_both_and_no_hidden_one(
    publish_skill, bob, charlie, elsewhere, team
):
    third = Team.objects.create(slug="third", name="Third")
    for each in (third, team):
        Membership.objects.get_or_create(team=each, user=bob, defaults={"role": Role.MEMBER})
        publish_skill("report", into=each, by=Actor(user=bob))
    publish_skill("report", into=elsewhere, by=Actor(user=charlie))
    found = refusal(skills.find_skill, "report", Actor(user=bob))
    assert found.params["candidates"] == ("docs/report", "third/report")


def test_a_bare_slug_that_only_others_have_in_private_is_not_there(publish_skill, bob, charlie, elsewhere):
    publish_skill("report", into=elsewhere, by=Actor(user=charlie))
    assert refusal(skills.find_skill, "report", Actor(user=bob)).code == "NOT_FOUND"


def test_a_version_is_found_by_number_or_is_the_latest(publish_skill, alice):
    publish_skill("report", version="1.0.0")
    publish_skill("report", version="2.0.0", body="new")
    skill = Skill.objects.get()
    for number, expected in [
        (None, "2.0.0"),
        ("", "2.0.0"),
        ("latest", "2.0.0"),
        ("1.0.0", "1.0.0"),
        ("v1.0", "1.0.0"),
    ]:
        assert skills.find_version(skill, number, Actor(user=alice)).number == expected
    assert refusal(skills.find_version, skill, "3.0.0", Actor(user=alice)).code == "NOT_FOUND"


def test_a_version_is_not_found_by_who_may_not_see_its_skill(publish_skill, charlie):
    skill = publish_skill("report").skill
    assert refusal(skills.find_version, skill, "1.0.0", Actor(user=charlie)).code == "NOT_FOUND"


@pytest.mark.row("C3")
def test_an_internal_skill_is_listed_to_its_team_and_administrators(
    publish_skill, bob, charlie, administrator
):
    publish_skill("report", type="internal", visibility="public")
    for person, seen in ((bob, True), (administrator, True), (charlie, False)):
        assert Skill.objects.visible_to(Actor(user=person)).exists() is seen
    assert not Skill.objects.visible_to(ANONYMOUS).exists()
