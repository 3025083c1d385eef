from __future__ import annotations

import pytest

from registry import catalog, publishing, storage
from registry.actors import ANONYMOUS, Actor
from registry.models import File, Posting, Skill, TermScope, Tombstone, Version
from registry.packages.problems import Refused
from registry.search import search

pytestmark = [pytest.mark.django_db, pytest.mark.row("P12")]


def refused(call, *args, **kwargs):
    with pytest.raises(Refused) as error:
        call(*args, **kwargs)
    return error.value


@pytest.fixture
def owner(alice):
    return Actor(user=alice)


@pytest.fixture
def purge(owner, django_capture_on_commit_callbacks):
    def do(version):
        with django_capture_on_commit_callbacks(execute=True):
            return publishing.purge_version(version, owner, reason="It held a password.")

    return do


@pytest.fixture
def purge_skill(owner, django_capture_on_commit_callbacks):
    def do(skill):
        with django_capture_on_commit_callbacks(execute=True):
            return publishing.purge_skill(skill, owner, reason="Not ours.")

    return do


def test_a_purge_takes_bytes_rows_and_search_terms_and_leaves_number_and_digest(published, purge, owner):
    version = published(description="Counts aardvarks.", tags=("zoo",))
    stone = purge(version)
    assert (stone.number, stone.digest) == ("1.0.0", version.digest)
    assert not storage.exists(version.digest)
    assert not any(table.objects.exists() for table in (Version, File, Posting))
    assert not TermScope.objects.exclude(df=0).exists()
    skill = Skill.objects.get()
    assert (skill.name, skill.description, skill.tags, skill.latest) == ("report", "", [], None)
    assert search("aardvarks", owner).none
    no = refused(catalog.find_version, skill, "1.0.0", owner)
    assert (no.code, "password" in str(no)) == ("PURGED", True)


def test_what_was_purged_never_comes_back(published, purge, team, package_of, owner):
    purge(published(version="1.0.0"))
    again = {"team": team, "actor": owner}
    assert refused(publishing.publish, package_of(version="1.0.0"), **again).code == "VERSION_PURGED"
    other = package_of(version="1.0.0", body="other")
    assert refused(publishing.publish, other, **again).code == "VERSION_PURGED"
    unnumbered = package_of(body="once")
    purge(publishing.publish(unnumbered, version="3.0.0", **again).version)
    assert refused(publishing.publish, unnumbered, version="4.0.0", **again).code == "VERSION_PURGED"
    assert refused(publishing.publish, unnumbered, **again).code == "VERSION_PURGED"
    assert publishing.publish(package_of(body="twice"), **again).version.number == "3.0.1"


def test_bytes_that_another_version_has_too_stay(published, purge, team, package_of, owner):
    kept = publishing.publish(package_of(body="b"), version="1.0.0", team=team, actor=owner).version
    gone = publishing.publish(package_of(body="b"), version="2.0.0", team=team, actor=owner).version
    assert gone.digest == kept.digest
    purge(gone)
    assert storage.read(kept.digest)


def test_a_purge_goes_to_the_version_before(published, purge, owner):
    published(version="1.0.0", description="First.")
    purge(published(version="2.0.0", description="Second."))
    skill = Skill.objects.get()
    assert (skill.latest.number, skill.description) == ("1.0.0", "First.")


def test_a_purged_skill_is_told_to_who_might_have_seen_it_and_to_nobody_else(
    published, purge_skill, owner, charlie
):
    private, public = published("private"), published("public", visibility="public")
    for version in (private, public):
        purge_skill(version.skill)
    assert refused(catalog.find_skill, "docs/private", owner).code == "PURGED"
    assert refused(catalog.find_skill, "docs/public", ANONYMOUS).code == "PURGED"
    told = refused(catalog.find_skill, "docs/private", Actor(user=charlie))
    absent = refused(catalog.find_skill, "docs/xxxxxxx", Actor(user=charlie))
    assert str(told) == str(absent).replace("xxxxxxx", "private")
    assert not Skill.objects.visible_to(owner).exists()


def test_the_name_of_a_purged_skill_is_not_given_again(published, purge_skill, team, package_of, owner):
    purge_skill(published().skill)
    again = {"team": team, "actor": owner}
    assert refused(publishing.publish, package_of(version="9.0.0"), **again).code == "SKILL_PURGED"
    seen = publishing.check(package_of(version="9.0.0"), **again)
    assert [each.code for each in seen.problems if each.severity == "error"] == ["SKILL_PURGED"]
    assert Tombstone.objects.count() == 1


@pytest.mark.row("P1")
def test_a_download_that_has_begun_ends_well(published, purge, on_disk):
    version = published()
    with storage.open_blob(version.digest) as file:
        begun = file.read(10)
        purge(version)
        assert len(begun + file.read()) == version.archive_size
    assert refused(storage.open_blob, version.digest).code == "BLOB_MISSING"


def test_bytes_that_were_discarded_while_a_publisher_was_on_its_way_are_stored_again(
    team, package_of, owner, monkeypatch
):
    from registry.publishing import publication

    taken = publication.indexing.take_turns

    def purged_meanwhile():
        taken()
        monkeypatch.setattr(publication.indexing, "take_turns", taken)
        storage.discard(list(storage.digests()))

    monkeypatch.setattr(publication.indexing, "take_turns", purged_meanwhile)
    version = publishing.publish(package_of(), team=team, actor=owner).version
    assert storage.read(version.digest)
