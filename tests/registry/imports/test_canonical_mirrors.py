"""Canonical skills copied from an address and from buckets: refreshed on schedule, answered when accepted."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.canonical import pins, proposals
from registry.identity.actors import ANONYMOUS, Actor
from registry.lookup import skills
from registry.models import Canonical, ImportStatus, Skill, Source
from tests.checks import not_none
from tests.pages import codes, parsed
from tests.refusing import code
from tests.servers.http import KEYS
from worker.service.import_jobs import import_waiting, request_due

pytestmark = [pytest.mark.row("D10"), pytest.mark.django_db]
NAME = "_canonical_report"


def skill_md(text, version=""):
    said = f"version: {version}\n" if version else ""
    return f"---\nname: report\ndescription: Writes a report.\n{said}---\n{text}\n".encode()


@pytest.fixture
def mirror(root, team):
    def make(location, **more):
        return pins.mirror("report", root, team=team, location=location, reason="The company's.", **more)

    return make


@pytest.fixture
def refreshed(root):
    """The interval is over: what the reaper and the worker do then."""

    def make():
        Source.objects.update(next_at=timezone.now() - timedelta(seconds=1))
        request_due()
        assert import_waiting() == 1
        return Canonical.objects.get()

    return make


def said(actor):
    return skills.find_version_by_label(NAME, actor).body.strip()


def test_a_mirror_is_answered_when_it_is_accepted_and_again_when_it_changed(
    server, mirror, refreshed, root, stranger
):
    server.responders["/report/SKILL.md"] = lambda handler: handler.send(200, skill_md("First."))
    row = mirror(f"{server.url}/report/SKILL.md")
    assert (row.digest, row.mirror.interval_s) == ("", pins.MIRROR_INTERVAL_S)
    assert import_waiting() == 1
    assert code(said, stranger) == "NOT_FOUND"
    first = not_none(proposals.pending_version(row))
    assert (first.skill.visibility, first.skill.source) == ("site", "url")
    pins.accept("report", root, digest=first.digest)
    assert said(stranger) == "First."
    assert code(said, ANONYMOUS) == "NOT_FOUND"
    server.responders["/report/SKILL.md"] = lambda handler: handler.send(200, skill_md("Second."))
    row = refreshed()
    assert said(stranger) == "First."
    second = not_none(proposals.pending_version(row))
    assert second.number > first.number
    pins.reject("report", root, digest=second.digest, reason="Not yet.")
    assert proposals.pending_version(refreshed()) is None
    assert said(stranger) == "First."
    server.responders["/report/SKILL.md"] = lambda handler: handler.send(200, skill_md("Third."))
    third = not_none(proposals.pending_version(refreshed()))
    pins.accept("report", root, digest=third.digest)
    assert said(stranger) == "Third."
    assert [row.change for row in pins.history("report")] == ["accepted", "rejected", "accepted", "mirrored"]


def test_a_mirror_that_goes_back_to_what_it_held_before_is_proposed(
    server, mirror, refreshed, root, stranger
):
    def holds(text):
        server.responders["/report/SKILL.md"] = lambda handler: handler.send(200, skill_md(text))

    holds("First.")
    row = mirror(f"{server.url}/report/SKILL.md")
    import_waiting()
    first = not_none(proposals.pending_version(row))
    pins.accept("report", root, digest=first.digest)
    holds("Second.")
    second = proposals.pending_version(refreshed())
    holds("First.")
    assert proposals.pending_version(refreshed()) is None
    holds("Second.")
    pins.accept("report", root, digest=not_none(proposals.pending_version(refreshed())).digest)
    assert said(stranger) == "Second."
    holds("First.")
    again = not_none(proposals.pending_version(refreshed()))
    assert (again, again.number < not_none(second).number) == (first, True)
    pins.accept("report", root, digest=again.digest)
    assert said(stranger) == "First."
    assert proposals.pending_version(refreshed()) is None


@pytest.mark.row("D4")
def test_nothing_is_put_into_the_text_of_a_remote_skill(server, mirror, root, client, administrator):
    text = skill_md("Do $ARGUMENTS with $1. !`id`")
    server.responders["/report/SKILL.md"] = lambda handler: handler.send(200, text)
    mirror(f"{server.url}/report/SKILL.md")
    import_waiting()
    client.force_login(administrator)
    page = parsed(client.post("/skills/docs/report/use/", {"arguments": "harm"}))
    assert "Do $ARGUMENTS with $1. !`id`" in page
    assert page.parts("no-arguments")


def test_a_mirror_that_does_not_answer_leaves_what_is_pinned(
    server, mirror, refreshed, root, stranger, client, administrator
):
    server.responders["/report/SKILL.md"] = lambda handler: handler.send(200, skill_md("First.", "1.0.0"))
    row = mirror(f"{server.url}/report/SKILL.md")
    import_waiting()
    pins.accept("report", root, digest=not_none(proposals.pending_version(row)).digest)
    server.responders["/report/SKILL.md"] = lambda handler: handler.send(500)
    row = refreshed()
    assert not_none(pins.last_import(row)).status == ImportStatus.FAILED
    assert said(stranger) == "First."
    server.responders["/report/SKILL.md"] = lambda handler: handler.send(200, skill_md("Other.", "1.0.0"))
    row = refreshed()
    (problem,) = pins.mirror_problems(not_none(pins.last_import(row)), "report")
    assert problem.code == "VERSION_EXISTS"
    client.force_login(administrator)
    assert codes(client.get("/canonical/report/")) == ["VERSION_EXISTS"]
    told = client.get("/api/v1/canonical/report").json()
    assert [each["code"] for each in told["mirror_problems"]] == ["VERSION_EXISTS"]
    assert (proposals.pending_version(row), said(stranger)) == (None, "First.")


def test_a_mirror_takes_the_place_of_a_pinned_skill_only_when_accepted(
    server, mirror, root, stranger, charlie
):
    from registry.models import Team
    from registry.versions.publishing.publish import publish
    from tests.registry.conftest import make_package

    other = Team.objects.get(slug="elsewhere")
    own = publish(make_package(version="1.0.0"), team=other, actor=stranger, visibility="public").version
    pins.set_canonical("report", own, root, reason="Ours.")
    server.responders["/report/SKILL.md"] = lambda handler: handler.send(200, skill_md("First."))
    row = mirror(f"{server.url}/report/SKILL.md")
    import_waiting()
    assert skills.find_version_by_label(NAME, ANONYMOUS) == own
    pins.accept("report", root, digest=not_none(proposals.pending_version(row)).digest)
    assert str(skills.find_skill(NAME, stranger)) == "docs/report"
    pins.unset("report", root, reason="No more.")
    assert Source.objects.get().next_at is None
    assert Skill.objects.filter(team__slug="docs").exists()


@pytest.fixture
def two_files(server):
    for name in ("one", "two"):
        server.responders[f"/{name}/SKILL.md"] = lambda handler: handler.send(200, skill_md("Text."))
    return f"{server.url}/one/SKILL.md", f"{server.url}/two/SKILL.md"


def test_setting_another_version_ends_the_refreshes_of_the_mirror(two_files, mirror, root, publish_skill):
    row = mirror(two_files[0])
    pins.set_canonical("report", publish_skill(visibility="public"), root, reason="Ours.")
    source = Source.objects.get(pk=row.mirror_id)
    assert (source.interval_s, source.next_at) == (None, None)
    assert Canonical.objects.get().mirror is None


def test_another_mirror_ends_the_refreshes_of_the_first(two_files, mirror):
    first, second = mirror(two_files[0]), mirror(two_files[1])
    assert Source.objects.get(pk=first.mirror_id).next_at is None
    assert Source.objects.get(pk=second.mirror_id).interval_s == pins.MIRROR_INTERVAL_S
    again = mirror(two_files[1])
    assert Source.objects.get(pk=again.mirror_id).interval_s == pins.MIRROR_INTERVAL_S


def test_a_mirror_of_two_names_is_refreshed_until_both_have_left_it(two_files, mirror, root, team):
    row = mirror(two_files[0])
    pins.mirror("summary", root, team=team, location=two_files[0], reason="Also.")
    pins.unset("summary", root, reason="Not needed.")
    assert Source.objects.get(pk=row.mirror_id).interval_s == pins.MIRROR_INTERVAL_S
    pins.unset("report", root, reason="Not needed.")
    assert Source.objects.get(pk=row.mirror_id).next_at is None


def test_a_mirror_never_takes_over_a_skill_that_came_another_way(server, mirror, team, alice):
    from registry.versions.publishing.publish import publish
    from tests.registry.conftest import make_package

    publish(make_package(version="1.0.0"), team=team, actor=Actor(user=alice))
    assert code(mirror, f"{server.url}/report/SKILL.md") == "SKILL_EXISTS"
    assert not Source.objects.exists()


def test_only_administrators_mirror(server, team, alice):
    owner = Actor(user=alice)
    call = {"team": team, "location": f"{server.url}/SKILL.md", "reason": "Mine."}
    assert code(pins.mirror, "report", owner, **call) == "FORBIDDEN"


@pytest.mark.parametrize("scheme", ["s3", "gs"])
def test_a_bucket_is_mirrored_with_credentials_named_for_it(
    moto, settings, mirror, refreshed, root, stranger, scheme
):
    settings.SKILLQUAY_OUTBOUND_ALLOW = [moto.endpoint.removeprefix("http://")]
    settings.SKILLQUAY_SOURCES = {"mirrored": {**KEYS, "endpoint": moto.endpoint}}
    moto.create_bucket(Bucket=scheme + "-mirrored")
    moto.put_object(Bucket=scheme + "-mirrored", Key="report/SKILL.md", Body=skill_md("First."))
    moto.put_object(Bucket=scheme + "-mirrored", Key="report/references/notes.md", Body=b"# Notes\n")
    row = mirror(f"{scheme}://{scheme}-mirrored/report/", options={"credentials": "mirrored"})
    import_waiting()
    first = not_none(proposals.pending_version(row))
    assert set(first.files.values_list("path", flat=True)) == {"SKILL.md", "references/notes.md"}
    pins.accept("report", root, digest=first.digest)
    assert proposals.pending_version(refreshed()) is None
    moto.put_object(Bucket=scheme + "-mirrored", Key="report/SKILL.md", Body=skill_md("Second."))
    second = not_none(proposals.pending_version(refreshed()))
    assert said(stranger) == "First."
    pins.accept("report", root, digest=second.digest)
    assert said(stranger) == "Second."
