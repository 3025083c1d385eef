from __future__ import annotations

import pytest

from registry.identity.actors import ANONYMOUS, Actor
from registry.lookup import skills as catalog
from registry.models import Membership, Redirect, Role, Skill, Team
from registry.packages.problems import Refusal
from registry.search.query import search
from registry.versions.lifecycle import merge, purge
from registry.versions.lifecycle import rename as publishing_rename
from registry.versions.publishing import publish as publishing_publish
from tests.refusing import code

pytestmark = [pytest.mark.django_db, pytest.mark.row("P1")]


@pytest.fixture
def owner(alice):
    return Actor(user=alice)


def test_an_old_name_leads_to_the_skill_and_its_versions(publish_skill, owner):
    version = publish_skill("old", visibility="public")
    skill = publishing_rename.rename(version.skill, owner, slug="young")
    assert str(skill) == "docs/young"
    for label in ("docs/old", "docs/young"):
        assert catalog.find_skill(label, ANONYMOUS) == skill
    assert catalog.find_version_by_label("docs/old@1.0.0", ANONYMOUS) == version
    assert [hit.skill for hit in search("young", ANONYMOUS).hits] == [skill]


def test_an_old_name_is_given_to_nothing_else(publish_skill, team, package_of, owner):
    publishing_rename.rename(publish_skill("old").skill, owner, slug="young")
    other = publish_skill("other").skill
    again = package_of("old", version="2.0.0")
    with pytest.raises(Refusal) as no:
        publishing_publish.publish(again, team=team, actor=owner)
    assert (no.value.code, "docs/young" in str(no.value)) == ("SLUG_REDIRECTED", True)
    assert code(publishing_rename.rename, other, owner, slug="old") == "SLUG_TAKEN"
    assert code(publishing_rename.rename, other, owner, slug="young") == "SLUG_TAKEN"
    assert code(publishing_rename.rename, other, owner, slug="A b") == "SLUG_INVALID"
    other.refresh_from_db()
    assert other.slug == "other"


def test_names_that_come_back_make_neither_loop_nor_chain(publish_skill, owner):
    skill = publish_skill("one").skill
    for slug in ("two", "three", "one"):
        skill = publishing_rename.rename(skill, owner, slug=slug)
    assert set(Redirect.objects.values_list("slug", flat=True)) == {"two", "three"}
    assert {str(catalog.find_skill(f"docs/{slug}", owner)) for slug in ("one", "two", "three")} == {
        "docs/one"
    }


def test_a_skill_goes_to_another_team_of_its_owner(publish_skill, owner, alice, bob, charlie):
    skill = publish_skill("old").skill
    there = Team.objects.create(slug="there", name="There")
    assert code(publishing_rename.rename, skill, owner, team=there) == "NOT_FOUND"
    Membership.objects.create(team=there, user=alice, role=Role.MEMBER)
    owner = Actor(user=alice)
    publishing_rename.rename(skill, owner, team=there)
    assert str(catalog.find_skill("docs/old", owner)) == "there/old"
    assert code(catalog.find_skill, "there/old", Actor(user=bob)) == "NOT_FOUND"
    assert search("old", Actor(user=bob)).none
    assert code(catalog.find_skill, "docs/old", Actor(user=charlie)) == "NOT_FOUND"


def test_a_merged_skills_name_means_the_other_and_its_pins_stay_what_they_were(publish_skill, owner):
    old, new = publish_skill("old", body="old bytes"), publish_skill("new", version="1.0.0")
    latest = publish_skill("new", version="1.1.0")
    merge.merge(old.skill, new.skill, owner)
    assert catalog.find_skill("docs/old", owner) == new.skill
    assert catalog.find_version_by_label("docs/old", owner) == latest
    assert catalog.find_version_by_label("docs/old@1.0.0", owner) == old
    assert catalog.find_version_by_label("docs/new@1.0.0", owner) == new
    assert code(catalog.find_version_by_label, "docs/old@1.1.0", owner) == "NOT_FOUND"
    assert [str(skill) for skill in Skill.objects.visible_to(owner)] == ["docs/new"]
    assert {str(hit.skill) for hit in search("old", owner).hits} == set()


def test_merges_make_neither_loop_nor_chain(publish_skill, owner):
    skills = {slug: publish_skill(slug).skill for slug in ("one", "two", "three")}
    publishing_rename.rename(skills["one"], owner, slug="uno")
    merge.merge(skills["one"], skills["two"], owner)
    merge.merge(skills["two"], skills["three"], owner)
    for label in ("docs/one", "docs/uno", "docs/two"):
        assert str(catalog.find_skill(label, owner)) == "docs/three"
    assert code(merge.merge, skills["three"], skills["three"], owner) == "MERGE_INVALID"
    assert code(merge.merge, skills["three"], skills["one"], owner) == "MERGE_INVALID"


@pytest.mark.row("P12")
def test_what_was_merged_is_purged_with_the_other(publish_skill, owner):
    old, new = publish_skill("old"), publish_skill("new")
    merge.merge(old.skill, new.skill, owner)
    purge.purge_skill(new.skill, owner, reason="Not ours.")
    assert code(catalog.find_skill, "docs/old", owner) == "PURGED"


def test_a_private_skill_that_was_merged_tells_a_stranger_nothing(publish_skill, owner, charlie):
    old, new = publish_skill("old"), publish_skill("new", visibility="public")
    merge.merge(old.skill, new.skill, owner)
    assert code(catalog.find_skill, "docs/old", Actor(user=charlie)) == "NOT_FOUND"
    assert str(catalog.find_skill("docs/old", owner)) == "docs/new"
