from __future__ import annotations

import pytest

from registry.identity.actors import ANONYMOUS, Actor
from registry.lookup import skills
from registry.models import File, Posting, Skill, TermScope, Tombstone, Version
from registry.packages.problems import Refusal
from registry.search.query import search
from registry.storage import blobs
from registry.versions.lifecycle import purge as publishing_purge
from registry.versions.publishing import publish as publishing_publish
from tests.checks import not_none

pytestmark = [pytest.mark.django_db, pytest.mark.row("P12")]


def assert_error(call, *args, **kwargs):
    with pytest.raises(Refusal) as error:
        call(*args, **kwargs)
    return error.value


@pytest.fixture
def owner(alice):
    return Actor(user=alice)


@pytest.fixture
def purge(owner, django_capture_on_commit_callbacks):
    def do(version):
        with django_capture_on_commit_callbacks(execute=True):
            return publishing_purge.purge_version(version, owner, reason="It held a password.")

    return do


@pytest.fixture
def purge_skill(owner, django_capture_on_commit_callbacks):
    def do(skill):
        with django_capture_on_commit_callbacks(execute=True):
            return publishing_purge.purge_skill(skill, owner, reason="Not ours.")

    return do


def test_a_purge_takes_bytes_rows_and_search_terms_and_leaves_number_and_digest(publish_skill, purge, owner):
    version = publish_skill(description="Counts aardvarks.", tags=("zoo",))
    stone = purge(version)
    assert (stone.number, stone.digest) == ("1.0.0", version.digest)
    assert not blobs.exists(version.digest)
    assert not any(table.objects.exists() for table in (Version, File, Posting))
    assert not TermScope.objects.exclude(df=0).exists()
    skill = Skill.objects.get()
    assert (skill.name, skill.description, skill.tags, skill.latest) == ("report", "", [], None)
    assert search("aardvarks", owner).none
    no = assert_error(skills.find_version, skill, "1.0.0", owner)
    assert (no.code, "password" in str(no)) == ("PURGED", True)


def test_what_was_purged_never_comes_back(publish_skill, purge, team, package_of, owner):
    purge(publish_skill(version="1.0.0"))
    again = {"team": team, "actor": owner}
    assert (
        assert_error(publishing_publish.publish, package_of(version="1.0.0"), **again).code
        == "VERSION_PURGED"
    )
    other = package_of(version="1.0.0", body="other")
    assert assert_error(publishing_publish.publish, other, **again).code == "VERSION_PURGED"
    unnumbered = package_of(body="once")
    purge(publishing_publish.publish(unnumbered, version="3.0.0", **again).version)
    assert (
        assert_error(publishing_publish.publish, unnumbered, version="4.0.0", **again).code
        == "VERSION_PURGED"
    )
    assert assert_error(publishing_publish.publish, unnumbered, **again).code == "VERSION_PURGED"
    assert publishing_publish.publish(package_of(body="twice"), **again).version.number == "3.0.1"


def test_bytes_that_another_version_has_too_stay(publish_skill, purge, team, package_of, owner):
    kept = publishing_publish.publish(package_of(body="b"), version="1.0.0", team=team, actor=owner).version
    gone = publishing_publish.publish(package_of(body="b"), version="2.0.0", team=team, actor=owner).version
    assert gone.digest == kept.digest
    purge(gone)
    assert blobs.read(kept.digest)


def test_a_purge_goes_to_the_version_before(publish_skill, purge, owner):
    publish_skill(version="1.0.0", description="First.")
    purge(publish_skill(version="2.0.0", description="Second."))
    skill = Skill.objects.get()
    assert (not_none(skill.latest).number, skill.description) == ("1.0.0", "First.")


def test_a_purged_skill_is_told_to_who_might_have_seen_it_and_to_nobody_else(
    publish_skill, purge_skill, owner, charlie
):
    private, public = publish_skill("private"), publish_skill("public", visibility="public")
    for version in (private, public):
        purge_skill(version.skill)
    assert assert_error(skills.find_skill, "docs/private", owner).code == "PURGED"
    assert assert_error(skills.find_skill, "docs/public", ANONYMOUS).code == "PURGED"
    told = assert_error(skills.find_skill, "docs/private", Actor(user=charlie))
    absent = assert_error(skills.find_skill, "docs/xxxxxxx", Actor(user=charlie))
    assert str(told) == str(absent).replace("xxxxxxx", "private")
    assert not Skill.objects.visible_to(owner).exists()


def test_the_name_of_a_purged_skill_is_not_given_again(publish_skill, purge_skill, team, package_of, owner):
    purge_skill(publish_skill().skill)
    again = {"team": team, "actor": owner}
    assert (
        assert_error(publishing_publish.publish, package_of(version="9.0.0"), **again).code == "SKILL_PURGED"
    )
    seen = publishing_publish.preview_publication(package_of(version="9.0.0"), **again)
    assert [each.code for each in seen.problems if each.severity == "error"] == ["SKILL_PURGED"]
    assert Tombstone.objects.count() == 1


@pytest.mark.row("P1")
def test_a_download_that_has_begun_ends_well(publish_skill, purge, local_storage):
    version = publish_skill()
    with blobs.open_blob(version.digest) as file:
        begun = file.read(10)
        purge(version)
        assert len(begun + file.read()) == version.archive_size
    assert assert_error(blobs.open_blob, version.digest).code == "BLOB_MISSING"


def test_bytes_that_were_discarded_while_a_publisher_was_on_its_way_are_stored_again(
    team, package_of, owner, monkeypatch
):
    from registry.versions.publishing import publish as publication

    taken = publication.postings.lock_index_writers

    def purged_meanwhile():
        taken()
        monkeypatch.setattr(publication.postings, "lock_index_writers", taken)
        blobs.discard(list(blobs.digests()))

    monkeypatch.setattr(publication.postings, "lock_index_writers", purged_meanwhile)
    version = publishing_publish.publish(package_of(), team=team, actor=owner).version
    assert blobs.read(version.digest)
