from __future__ import annotations

import pytest

from registry import catalog, publishing
from registry.actors import ANONYMOUS, Actor
from registry.models import Membership, Redirect, Role, Skill, Team
from registry.packages.problems import Refused
from registry.search import search
from tests.refusing import code

pytestmark = [pytest.mark.django_db, pytest.mark.row("P1")]


@pytest.fixture
def owner(alice):
    return Actor(user=alice)


def test_an_old_name_leads_to_the_skill_and_its_versions(published, owner):
    version = published("old", visibility="public")
    skill = publishing.rename(version.skill, owner, slug="young")
    assert str(skill) == "docs/young"
    for label in ("docs/old", "docs/young"):
        assert catalog.find_skill(label, ANONYMOUS) == skill
    assert catalog.find_named("docs/old@1.0.0", ANONYMOUS) == version
    assert [hit.skill for hit in search("young", ANONYMOUS).hits] == [skill]


def test_an_old_name_is_given_to_nothing_else(published, team, package_of, owner):
    publishing.rename(published("old").skill, owner, slug="young")
    other = published("other").skill
    again = package_of("old", version="2.0.0")
    with pytest.raises(Refused) as no:
        publishing.publish(again, team=team, actor=owner)
    assert (no.value.code, "docs/young" in str(no.value)) == ("SLUG_REDIRECTED", True)
    assert code(publishing.rename, other, owner, slug="old") == "SLUG_TAKEN"
    assert code(publishing.rename, other, owner, slug="young") == "SLUG_TAKEN"
    assert code(publishing.rename, other, owner, slug="A b") == "SLUG_INVALID"
    other.refresh_from_db()
    assert other.slug == "other"


def test_names_that_come_back_make_neither_loop_nor_chain(published, owner):
    skill = published("one").skill
    for slug in ("two", "three", "one"):
        skill = publishing.rename(skill, owner, slug=slug)
    assert set(Redirect.objects.values_list("slug", flat=True)) == {"two", "three"}
    assert {str(catalog.find_skill(f"docs/{slug}", owner)) for slug in ("one", "two", "three")} == {
        "docs/one"
    }


def test_a_skill_goes_to_another_team_of_its_owner(published, owner, alice, bob, charlie):
    skill = published("old").skill
    there = Team.objects.create(slug="there", name="There")
    assert code(publishing.rename, skill, owner, team=there) == "NOT_FOUND"
    Membership.objects.create(team=there, user=alice, role=Role.MEMBER)
    owner = Actor(user=alice)
    publishing.rename(skill, owner, team=there)
    assert str(catalog.find_skill("docs/old", owner)) == "there/old"
    assert code(catalog.find_skill, "there/old", Actor(user=bob)) == "NOT_FOUND"
    assert search("old", Actor(user=bob)).none
    assert code(catalog.find_skill, "docs/old", Actor(user=charlie)) == "NOT_FOUND"


def test_a_merged_skills_name_means_the_other_and_its_pins_stay_what_they_were(published, owner):
    old, new = published("old", body="old bytes"), published("new", version="1.0.0")
    latest = published("new", version="1.1.0")
    publishing.merge(old.skill, new.skill, owner)
    assert catalog.find_skill("docs/old", owner) == new.skill
    assert catalog.find_named("docs/old", owner) == latest
    assert catalog.find_named("docs/old@1.0.0", owner) == old
    assert catalog.find_named("docs/new@1.0.0", owner) == new
    assert code(catalog.find_named, "docs/old@1.1.0", owner) == "NOT_FOUND"
    assert [str(skill) for skill in Skill.objects.visible_to(owner)] == ["docs/new"]
    assert {str(hit.skill) for hit in search("old", owner).hits} == set()


def test_merges_make_neither_loop_nor_chain(published, owner):
    skills = {slug: published(slug).skill for slug in ("one", "two", "three")}
    publishing.rename(skills["one"], owner, slug="uno")
    publishing.merge(skills["one"], skills["two"], owner)
    publishing.merge(skills["two"], skills["three"], owner)
    for label in ("docs/one", "docs/uno", "docs/two"):
        assert str(catalog.find_skill(label, owner)) == "docs/three"
    assert code(publishing.merge, skills["three"], skills["three"], owner) == "MERGE_INVALID"
    assert code(publishing.merge, skills["three"], skills["one"], owner) == "MERGE_INVALID"


def test_what_was_merged_is_purged_with_the_other(published, owner):
    old, new = published("old"), published("new")
    publishing.merge(old.skill, new.skill, owner)
    publishing.purge_skill(new.skill, owner, reason="Not ours.")
    assert code(catalog.find_skill, "docs/old", owner) == "PURGED"


def test_a_private_skill_that_was_merged_tells_a_stranger_nothing(published, owner, charlie):
    old, new = published("old"), published("new", visibility="public")
    publishing.merge(old.skill, new.skill, owner)
    assert code(catalog.find_skill, "docs/old", Actor(user=charlie)) == "NOT_FOUND"
    assert str(catalog.find_skill("docs/old", owner)) == "docs/new"
