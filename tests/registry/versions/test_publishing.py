from __future__ import annotations

import pytest
from django.utils import timezone

from registry.identity import audit
from registry.identity.actors import ANONYMOUS, Actor
from registry.models import AuditEntry, File, Membership, Posting, Role, Skill, Tag, TermScope, Version
from registry.packages.archive.repack import digest_of, read_repacked, repack
from registry.packages.package import PackageFile
from registry.packages.problems import LazyMessage, Problem, Refusal
from registry.storage import blobs as storage
from registry.versions.publishing import publish as publishing_publish
from registry.versions.publishing import version_rows
from tests.checks import not_none

pytestmark = [pytest.mark.django_db, pytest.mark.row("P3")]


@pytest.fixture
def publish(team, alice):
    def do(package, *, actor=None, **more):
        return publishing_publish.publish(package, team=team, actor=actor or Actor(user=alice), **more)

    return do


def assert_error(call, *args, **kwargs):
    with pytest.raises(Refusal) as error:
        call(*args, **kwargs)
    return [problem.code for problem in error.value.problems]


def everything():
    tables = (Skill, Version, File, Posting, Tag, AuditEntry)
    return [table.objects.count() for table in tables] + [sum(TermScope.objects.values_list("df", flat=True))]


def test_a_published_version_is_whole(publish, package_of, alice, team):
    extra = PackageFile("scripts/run.sh", b"#!/bin/bash\n", executable=True)
    logo = PackageFile("assets/logo.png", b"\x89PNG\0")
    package = package_of(name="月报", slug="report", version="1.2.0", tags=("a", "b"), files=(extra, logo))
    done = publish(package, changelog="First.", source="disk")
    assert done.created
    version = Version.objects.get()
    assert (version.number, version.changelog, version.published_by) == ("1.2.0", "First.", alice)
    assert version.digest == digest_of(repack(package.files))
    assert read_repacked(storage.read(version.digest)) == tuple(
        sorted(package.files, key=lambda file: (file.path != "SKILL.md", file.path))
    )
    rows = version.files.values_list("path", "size", "is_text", "executable").order_by("path")
    assert list(rows)[1:] == [("assets/logo.png", 5, False, False), ("scripts/run.sh", 12, True, True)]
    skill = version.skill
    assert (skill.latest, skill.name, skill.team, skill.visibility) == (version, "月报", team, "private")
    assert list(skill.tag_rows.values_list("text", flat=True)) == ["a", "b"]
    assert AuditEntry.objects.get().target == "docs/report@1.2.0"


def test_the_same_version_with_the_same_bytes_is_done_again(publish, package_of):
    first = publish(package_of(version="1.0.0"))
    before = everything()
    again = publish(package_of(version="1.0.0"))
    assert (again.version, again.created) == (first.version, False)
    assert everything() == before


@pytest.mark.row("P1")
def test_the_same_version_with_other_bytes_is_refused(publish, package_of):
    publish(package_of(version="1.0.0"))
    before = everything()
    assert assert_error(publish, package_of(version="1.0.0", body="# Other")) == ["VERSION_EXISTS"]
    assert everything() == before
    Version.objects.update(yanked_at=timezone.now())
    assert assert_error(publish, package_of(version="1.0.0", body="# Other")) == ["VERSION_EXISTS"]


def test_the_manifests_version_counts_before_the_publishers(publish, package_of):
    assert publish(package_of(version="2.0.0"), version="2.0").version.number == "2.0.0"
    assert assert_error(publish, package_of(version="2.1.0"), version="2.2.0") == ["VERSION_DIFFERS"]


def test_without_a_version_the_publishers_is_taken_else_the_next_patch(publish, package_of):
    assert publish(package_of(body="a")).version.number == "0.1.0"
    assert publish(package_of(body="b"), version="v1.4").version.number == "1.4.0"
    assert publish(package_of(body="c")).version.number == "1.4.1"
    assert publish(package_of(body="d"), version="0.2.0").version.number == "0.2.0"
    assert publish(package_of(body="e")).version.number == "1.4.2"


def test_without_a_version_the_same_bytes_are_not_published_twice(publish, package_of):
    first = publish(package_of())
    assert publish(package_of()) == publishing_publish.Publication(first.version, created=False, problems=())


@pytest.mark.parametrize("number", ["one", "1.0.0.0", "1" * 65, "1.0.0-", "１.0.0", "1.0.0\0"])
def test_what_is_no_version_is_refused(publish, package_of, number):
    assert assert_error(publish, package_of(), version=number) == ["VERSION_NUMBER_INVALID"]


@pytest.mark.row("P1")
@pytest.mark.parametrize(
    ("numbers", "latest"),
    [
        (["1.0.0", "1.10.0", "1.9.0"], "1.10.0"),
        (["1.0.0", "2.0.0-rc.1"], "1.0.0"),
        (["1.0.0-alpha", "1.0.0-alpha.2", "1.0.0-alpha.10"], "1.0.0-alpha.10"),
        (["0.9.0", "10.0.0", "9.0.0"], "10.0.0"),
    ],
)
def test_latest_goes_by_precedence_and_a_prerelease_comes_last(publish, package_of, numbers, latest):
    for number in numbers:
        publish(package_of(version=number, description=f"This is {number}."))
    skill = Skill.objects.get()
    assert not_none(skill.latest).number == latest
    assert skill.description == f"This is {latest}."


def test_an_older_version_changes_nothing_that_the_catalog_shows(publish, package_of):
    publish(package_of(version="2.0.0", name="New", tags=("new",)))
    terms = set(Posting.objects.values_list("term__text", "weight"))
    publish(package_of(version="1.0.0", name="Old", tags=("old",)))
    assert Skill.objects.get().name == "New"
    assert set(Posting.objects.values_list("term__text", "weight")) == terms
    assert list(Tag.objects.values_list("text", flat=True)) == ["new"]


def test_a_package_with_errors_is_refused_with_all_of_them_and_nothing_is_stored(publish, package_of):
    found = [
        Problem("SLUG_INVALID", params={"slug": "x"}),
        Problem("TEXT_INVALID", params={"field": "a", "most": 1}),
    ]
    hint = Problem("VERSION_EXISTS", severity="warning")
    package = package_of(problems=[hint, *found])
    assert assert_error(publish, package, version="x") == [
        "SLUG_INVALID",
        "TEXT_INVALID",
        "VERSION_NUMBER_INVALID",
        "VERSION_EXISTS",
    ]
    assert everything() == [0] * 7
    assert list(storage.digests()) == []


def test_warnings_are_kept_with_the_version(publish, package_of):
    warning = Problem("TEXT_INVALID", "SKILL.md", 3, {"field": "name", "most": 9}, "warning")
    done = publish(package_of(problems=[warning]))
    assert done.problems == (warning,)
    assert version_rows.load_problems(Version.objects.get()) == (warning,)


def test_stored_warning_is_translated_with_its_parts(publish, package_of):
    names = LazyMessage("one of %(names)s", names=("none", "allowlist"))
    params = {"field": "a", "found": LazyMessage("%(count)s texts", count=9), "expected": names}
    warning = Problem("FIELD_VALUE", "SKILL.md", 3, params, "warning")
    publish(package_of(problems=[warning]))
    (stored,) = version_rows.load_problems(Version.objects.get())
    for translate in (str, "<{}>".format):
        assert stored.message(translate) == warning.message(translate)
    marked = stored.message("<{}>".format)
    assert "<9 texts>" in marked
    assert "<one of <none, allowlist>>" in marked


@pytest.mark.row("P2")
def test_who_may_not_publish_learns_nothing(publish, package_of, charlie, bob):
    assert assert_error(publish, package_of(), actor=Actor(user=charlie)) == ["NOT_FOUND"]
    assert assert_error(publish, package_of(), actor=ANONYMOUS) == ["NOT_FOUND"]
    Membership.objects.filter(user=bob).update(role=Role.VIEWER)
    assert assert_error(publish, package_of(), actor=Actor(user=bob)) == ["FORBIDDEN"]
    assert everything() == [0] * 7


@pytest.mark.row("P2")
def test_a_member_publishes_but_a_maintainer_decides_who_sees_it(publish, package_of, bob):
    assert assert_error(publish, package_of(), actor=Actor(user=bob), visibility="public") == ["FORBIDDEN"]
    assert not Skill.objects.exists()
    assert list(storage.digests()) == []
    assert publish(package_of(), actor=Actor(user=bob)).version.skill.visibility == "private"
    Membership.objects.filter(user=bob).update(role=Role.MAINTAINER)
    publish(package_of(version="2.0.0"), actor=Actor(user=bob), visibility="public")
    assert Skill.objects.get().visibility == "public"


def test_an_unknown_visibility_is_refused(publish, package_of):
    assert assert_error(publish, package_of(), visibility="everybody") == ["VISIBILITY_UNKNOWN"]


def test_a_new_version_keeps_the_visibility_that_was_chosen(publish, package_of):
    publish(package_of(version="1.0.0"), visibility="site")
    publish(package_of(version="1.1.0"))
    assert Skill.objects.get().visibility == "site"


def test_text_that_no_database_holds_is_refused(publish, package_of):
    assert assert_error(publish, package_of(), changelog="a\0b") == ["TEXT_INVALID"]
    assert assert_error(publish, package_of(), changelog="\udc00") == ["TEXT_INVALID"]


def test_a_failure_in_the_middle_leaves_nothing_but_an_orphan_blob(publish, package_of, monkeypatch):
    monkeypatch.setattr(audit, "record", lambda *args, **kwargs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        publish(package_of())
    assert everything() == [0] * 7
    assert len(list(storage.digests())) == 1


def test_each_row_and_blob_of_a_version_survives_the_sweep(publish, package_of):
    from datetime import timedelta

    publish(package_of())
    assert storage.sweep(grace=timedelta(0)).blobs == 0
    assert storage.read(Version.objects.get().digest)


def test_bytes_that_were_lost_come_back_when_the_version_is_published_again(publish, package_of):
    from datetime import timedelta

    version = publish(package_of(version="1.0.0")).version
    assert storage.backend().remove(version.digest.removeprefix("sha256:"), timedelta(0))
    assert not publish(package_of(version="1.0.0")).created
    assert storage.read(version.digest)


def test_a_manifest_comes_back_in_the_order_it_was_written_in(publish, package_of):
    schema = {"type": "object", "properties": {"text": {}, "a": {}, "longest-name": {}, "b": {}}}
    publish(package_of(input_schema=schema))
    kept = Version.objects.get().manifest["input_schema"]
    assert list(kept) == list(schema)
    assert list(kept["properties"]) == list(schema["properties"])


@pytest.mark.row("P1")
@pytest.mark.parametrize("number", ["1.0.0", "2.1.0-rc.1"])
def test_a_download_of_a_package_that_names_none_is_published_under_its_slug_again(publish, number):
    from registry.packages.read_package import read_files, read_upload

    files = [("my-tool/SKILL.md", b"---\ndescription: Digs.\n---\n# Digging\n")]
    version = publish(read_files(files), version=number).version
    again = read_upload(storage.read(version.digest), filename=f"my-tool-{number} (1).zip")
    done = publish(again, version=number)
    assert (done.created, done.version.digest) == (False, version.digest)


class TestTheDryRun:
    @pytest.fixture
    def check(self, team, alice):
        return lambda package, **more: publishing_publish.preview_publication(
            package, team=team, actor=Actor(user=alice), **more
        )

    def test_it_says_what_would_happen_and_does_nothing(self, check, publish, package_of):
        seen = check(package_of(version="1.0.0"))
        assert (seen.skill, seen.number, seen.created, seen.creates_skill) == (
            "docs/report",
            "1.0.0",
            True,
            True,
        )
        assert everything() == [0] * 7
        assert list(storage.digests()) == []
        done = publish(package_of(version="1.0.0"))
        assert (done.version.digest, done.version.archive_size) == (seen.digest, seen.archive_size)

    def test_it_knows_what_is_there_already(self, check, publish, package_of):
        publish(package_of(version="1.0.0"))
        same, next_ = check(package_of(version="1.0.0")), check(package_of(body="other"))
        assert (same.created, same.creates_skill, same.ok) == (False, False, True)
        assert (next_.number, next_.created) == ("1.0.1", True)

    def test_it_names_every_problem_at_once(self, check, publish, package_of):
        hint = Problem("VERSION_EXISTS", severity="warning")
        error = Problem("SLUG_INVALID", params={"slug": "x"})
        seen = check(package_of(problems=[hint, error]), version="one", visibility="all")
        codes = [problem.code for problem in seen.problems]
        assert codes == ["SLUG_INVALID", "VERSION_NUMBER_INVALID", "VISIBILITY_UNKNOWN", "VERSION_EXISTS"]
        assert not seen.ok
        assert not seen.created

    def test_it_sees_a_version_that_is_taken(self, check, publish, package_of):
        publish(package_of(version="1.0.0"))
        seen = check(package_of(version="1.0.0", body="other"))
        assert [problem.code for problem in seen.problems] == ["VERSION_EXISTS"]

    @pytest.mark.row("P2")
    def test_it_says_who_may_not_show_a_skill(self, team, package_of, bob):
        seen = publishing_publish.preview_publication(
            package_of(), team=team, actor=Actor(user=bob), visibility="public"
        )
        assert [problem.code for problem in seen.problems] == ["FORBIDDEN"]

    @pytest.mark.row("P2")
    def test_it_is_for_those_who_may_publish(self, team, package_of, charlie):
        assert assert_error(
            publishing_publish.preview_publication, package_of(), team=team, actor=Actor(user=charlie)
        ) == ["NOT_FOUND"]


def test_publishing_asks_the_database_a_few_times_however_long_the_text_is(publish, package_of):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    def statements(**more):
        with CaptureQueriesContext(connection) as seen:
            publish(package_of(**more))
        return len(seen)

    files = tuple(PackageFile(f"references/{n}.md", b"# Text\n") for n in range(40))
    long = " ".join(f"word{n}" for n in range(450))
    first = statements(version="1.0.0", body=long, files=files, tags=("a", "b"))
    assert first <= 47
    assert statements(version="1.1.0", body=f"{long} more", files=files, tags=("a", "c")) <= 41
    assert statements(version="1.1.0", body=f"{long} more", files=files, tags=("a", "c")) <= 12


def test_rows_that_a_new_version_leaves_as_they_were_are_not_written_again(publish, package_of):
    publish(package_of(version="1.0.0", body="pottery kiln"))
    before = {row.pk: row.term.text for row in Posting.objects.select_related("term")}
    publish(package_of(version="1.1.0", body="pottery glaze"))
    after = {row.pk: row.term.text for row in Posting.objects.select_related("term")}
    assert "kiln" in {before[key] for key in before.keys() - after.keys()}
    assert "glaze" in {after[key] for key in after.keys() - before.keys()}
    assert {"pottery", "report"} <= {after[key] for key in after.keys() & before.keys()}
