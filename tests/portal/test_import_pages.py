"""Importing from the browser: sources, a new one, its report, again, and what has drifted."""

from __future__ import annotations

import io
import re
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from registry.models import Import, Membership, Role, Skill, Source
from tests.imports.repositories import Made, backend
from tests.imports.serving import serving
from tests.samples import publish_files
from worker.imports import import_waiting

pytestmark = [pytest.mark.django_db, pytest.mark.row("P3", "D2")]
ONE = "---\nname: one\ndescription: What one does.\n---\nSay hello.\n"


@pytest.fixture
def repository(settings, tmp_path):
    with serving() as server:
        settings.SKILLQUAY_OUTBOUND_ALLOW = [f"127.0.0.1:{server.port}"]
        server.otherwise = backend(tmp_path / "served")
        made = Made(tmp_path / "served")
        made.url = f"http://127.0.0.1:{server.port}/skills.git/.git"
        made.commit({"skills/one/SKILL.md": ONE, "skills/bad/SKILL.md": "---\nname: [\n---\n"})
        yield made


def _post(client, **fields):
    return client.post("/imports/new/", {"team": "docs", "kind": "git", **fields})


def _imported(client, repository, **fields):
    answer = _post(client, location=repository.url, **fields)
    assert answer.status_code == 302, answer.text
    import_waiting()
    return answer["Location"]


def test_an_empty_list_says_what_to_do(browse, alice):
    page = browse(alice).get("/imports/").text
    assert "Nothing has been imported yet" in page
    assert 'href="/imports/new/"' in page


def test_a_repository_is_imported_and_every_row_told(browse, alice, repository):
    client = browse(alice)
    address = _imported(client, repository, interval_s="86400")
    page = client.get(address).text
    assert 'href="/skills/docs/one/' in page
    assert "skills/bad" in page
    assert re.search(r"<bdi>SKILL.md</bdi>:[1-4]<", page)  # file and line of what was refused
    assert "hx-get" not in page
    assert 'http-equiv="refresh"' not in page
    refused = client.get(f"{address}?outcome=refused").text
    assert "skills/bad" in refused
    assert 'href="/skills/docs/one/' not in refused
    skill = Skill.objects.get(slug="one")
    assert (skill.source, skill.visibility) == ("git", "private")
    assert skill.latest.provenance["commit"] == repository.git("rev-parse", "HEAD")
    assert Source.objects.get().next_at is not None
    assert repository.url in client.get("/imports/").text


def test_a_waiting_import_refreshes_with_and_without_scripts(browse, alice, repository):
    client = browse(alice)
    address = _post(client, location=repository.url)["Location"]
    page = client.get(address).text
    assert f'hx-get="{address}live/?"' in page
    assert '<noscript><meta http-equiv="refresh"' in page
    assert "Queued" in client.get(f"{address}live/").text


def test_again_is_unchanged_and_a_look_tells_of_what_is_new(browse, alice, repository):
    client = browse(alice)
    repository.git("rm", "-q", "-r", "skills/bad")
    repository.commit({})
    _imported(client, repository)
    uid = Source.objects.get().uid
    assert "as it was imported" in client.post(f"/imports/sources/{uid}/compare/", follow=True).text
    repository.commit({"skills/one/SKILL.md": ONE + "More.\n"})
    assert "has gone on" in client.post(f"/imports/sources/{uid}/compare/", follow=True).text
    client.post(f"/imports/sources/{uid}/again/")
    import_waiting()
    assert Skill.objects.get(slug="one").versions.count() == 2
    address = client.post(f"/imports/sources/{uid}/again/")["Location"]
    import_waiting()
    assert "Nothing has changed since the last import" in client.get(address).text


def test_a_skill_published_over_its_source_is_told(browse, alice, team, repository):
    client = browse(alice)
    _imported(client, repository)
    assert "published another way" not in client.get("/imports/").text
    publish_files({"SKILL.md": f"{ONE}By hand.\n".encode()}, team=team, user=alice)
    assert "published another way since" in client.get("/imports/").text


def test_an_uploaded_archive_holds_many(browse, bob):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in ("one", "two"):
            archive.writestr(f"{name}/SKILL.md", ONE.replace("one", name))
    client = browse(bob)
    content = SimpleUploadedFile("many.zip", buffer.getvalue())
    answer = _post(client, kind="archive", content=content)
    assert answer.status_code == 302, answer.text
    import_waiting()
    assert set(Skill.objects.values_list("slug", flat=True)) == {"one", "two"}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "Give the address."),
        ({"kind": "archive"}, "Choose an archive."),
        ({"location": "ssh://git@example.org/a"}, "ssh, git and file addresses are not read"),
        ({"location": "https://a@example.org/a.git"}, "it holds a user name"),
        ({"location": "https://example.org/a.git", "tags": "on", "branch": "main"}, "tags"),
        ({"kind": "folder", "location": "/etc"}, "Select a valid choice"),
        ({"team": "elsewhere", "location": "https://example.org/a.git"}, "Select a valid choice"),
    ],
)
def test_what_cannot_be_imported_is_said_at_its_field(browse, alice, charlie, fields, said):
    page = _post(browse(alice), **fields)
    assert page.status_code == 422
    assert said in page.text
    assert not Source.objects.exists()


def test_a_failed_import_says_why(browse, alice, repository):
    client = browse(alice)
    page = client.get(_imported(client, repository, branch="nope")).text
    assert "The import failed" in page
    assert "GIT_REF" in page


def test_others_learn_nothing_of_a_teams_sources(browse, alice, charlie, repository):
    address = _imported(browse(alice), repository)
    uid = Source.objects.get().uid
    other = browse(charlie)
    for path in (address, f"{address}live/"):
        assert other.get(path).status_code == 404
    for verb in ("again", "compare", "remove"):
        assert other.post(f"/imports/sources/{uid}/{verb}/").status_code == 404
    assert repository.url not in other.get("/imports/").text
    assert browse().get(address).status_code == 302
    assert Import.objects.count() == 1


def test_a_viewer_sees_and_may_not_import(browse, alice, charlie, team, repository):
    address = _imported(browse(alice), repository)
    Membership.objects.create(team=team, user=charlie, role=Role.VIEWER)
    viewer = browse(charlie)
    assert "Import again" not in viewer.get(address).text
    uid = Source.objects.get().uid
    viewer.post(f"/imports/sources/{uid}/again/")
    viewer.post(f"/imports/sources/{uid}/remove/")
    assert (Source.objects.count(), Import.objects.count()) == (1, 1)


def test_a_forgotten_source_leaves_its_skills(browse, alice, repository):
    client = browse(alice)
    _imported(client, repository)
    client.post(f"/imports/sources/{Source.objects.get().uid}/remove/")
    assert not Source.objects.exists()
    assert Skill.objects.filter(slug="one").exists()


def test_the_way_here_is_on_the_pages_beside(browse, alice, public):
    client = browse(alice)
    assert 'href="/imports/new/"' in client.get("/publish/").text
    assert 'href="/imports/?team=docs"' in client.get("/teams/docs/").text
