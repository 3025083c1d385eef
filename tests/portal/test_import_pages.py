"""Importing from the browser: sources, a new one, its report, again, and what has drifted."""

from __future__ import annotations

import io
import re
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from registry.models import Import, Membership, Role, Skill, Source
from tests.checks import not_none
from tests.factories.repositories import GitRepository, git_http_backend
from tests.factories.skills import publish_files
from tests.pages import actions, codes, parsed, part, parts, select
from tests.servers.http import run_server
from worker.service.import_jobs import import_waiting

pytestmark = [pytest.mark.django_db, pytest.mark.row("P3", "D2")]
ONE = "---\nname: one\ndescription: What one does.\n---\nSay hello.\n"


@pytest.fixture
def repository(settings, tmp_path):
    with run_server() as server:
        settings.SKILLQUAY_OUTBOUND_ALLOW = [f"127.0.0.1:{server.port}"]
        server.default_responder = git_http_backend(tmp_path / "served")
        repository = GitRepository(tmp_path / "served")
        repository.url = f"{server.url}/skills.git/.git"
        repository.commit({"skills/one/SKILL.md": ONE, "skills/bad/SKILL.md": "---\nname: [\n---\n"})
        yield repository


def _post(client, **fields):
    return client.post("/imports/new/", {"team": "docs", "kind": "git", **fields})


def _imported(client, repository, **fields):
    answer = _post(client, location=repository.url, **fields)
    assert answer.status_code == 302, answer.text
    import_waiting()
    return answer["Location"]


def test_an_empty_list_links_to_a_new_import(browse, alice):
    (empty,) = parts(browse(alice).get("/imports/"), "empty")
    assert [link["href"] for link in empty.tags("a")] == ["/imports/new/"]


def test_a_repository_is_imported_and_every_row_told(browse, alice, repository):
    client = browse(alice)
    address = _imported(client, repository, interval_s="86400")
    page = client.get(address).text
    assert 'href="/skills/docs/one/' in page
    assert "skills/bad" in page
    assert re.search(r"\bSKILL\.md:[1-4]\b", parsed(page).text)  # file and line of the problem
    assert "hx-get" not in page
    assert 'http-equiv="refresh"' not in page
    refused = client.get(f"{address}?outcome=refused").text
    assert "skills/bad" in refused
    assert 'href="/skills/docs/one/' not in refused
    skill = Skill.objects.get(slug="one")
    assert (skill.source, skill.visibility) == ("git", "private")
    assert not_none(skill.latest).provenance["commit"] == repository.git("rev-parse", "HEAD")
    assert Source.objects.get().next_at is not None
    assert repository.url in client.get("/imports/").text


def test_a_waiting_import_refreshes_with_and_without_scripts(browse, alice, repository):
    client = browse(alice)
    address = _post(client, location=repository.url)["Location"]
    page = client.get(address).text
    assert f'hx-get="{address}live/?"' in page
    assert '<noscript><meta http-equiv="refresh"' in page
    assert parts(client.get(f"{address}live/"), state="queued")


@pytest.mark.parametrize(
    ("numbers", "phase", "value"),
    [
        ({"read_bytes": 0}, "reading", None),
        ({"read_bytes": 2_500_000}, "reading", None),
        ({"total": 9, "checked": 4}, "checking", "4"),
        ({"total": 9, "checked": 9, "processed": 2}, "publishing", "2"),
    ],
)
def test_running_import_shows_its_phase(browse, alice, repository, numbers, phase, value):
    client = browse(alice)
    address = _post(client, location=repository.url)["Location"]
    assert part(client.get(address), "phase")["state"] == "queued"
    Import.objects.update(status="running", **numbers)
    page = client.get(f"{address}live/")
    shown = part(page, "phase")
    assert shown["state"] == phase
    [bar] = select(page, "progress")
    assert bar.attributes.get("value") == value
    assert ("2.5" in shown or "2.4" in shown) == (numbers.get("read_bytes", 0) > 0)


def test_again_is_unchanged_and_a_comparison_finds_new_commits(browse, alice, repository):
    client = browse(alice)
    repository.git("rm", "-q", "-r", "skills/bad")
    repository.commit({})
    _imported(client, repository)
    uid = Source.objects.get().uid
    same = client.post(f"/imports/sources/{uid}/compare/", follow=True)
    assert part(same, "message")["code"] == "SOURCE_UNCHANGED"
    repository.commit({"skills/one/SKILL.md": ONE + "More.\n"})
    ahead = client.post(f"/imports/sources/{uid}/compare/", follow=True)
    assert part(ahead, "message")["code"] == "SOURCE_CHANGED"
    assert repository.git("rev-parse", "HEAD")[:12] in part(ahead, "message")
    client.post(f"/imports/sources/{uid}/reimport/")
    import_waiting()
    assert Skill.objects.get(slug="one").versions.count() == 2
    address = client.post(f"/imports/sources/{uid}/reimport/")["Location"]
    import_waiting()
    assert part(client.get(address), "empty")["state"] == "unchanged"


def test_a_skill_published_over_its_source_is_marked_as_drifted(browse, alice, team, repository):
    client = browse(alice)
    _imported(client, repository)
    assert not parts(client.get("/imports/"), "drifted")
    publish_files({"SKILL.md": f"{ONE}By hand.\n".encode()}, team=team, user=alice)
    drifted = part(client.get("/imports/"), "drifted")
    assert drifted["value"] == "1"
    assert [link["href"] for link in drifted.tags("a")] == ["/skills/docs/one/"]


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
    ("fields", "field", "code"),
    [
        ({}, "location", "required"),
        ({"kind": "archive"}, "content", "required"),
        ({"location": "ssh://git@example.org/a"}, "location", "SOURCE_ADDRESS"),
        ({"location": "https://a@example.org/a.git"}, "location", "OUTBOUND_ADDRESS"),
        ({"location": "https://example.org/a.git", "tags": "on", "branch": "main"}, None, "IMPORT_OPTION"),
        ({"kind": "folder", "location": "/etc"}, "kind", "invalid_choice"),
        ({"team": "elsewhere", "location": "https://example.org/a.git"}, "team", "invalid_choice"),
    ],
)
def test_an_invalid_import_shows_its_error(browse, alice, charlie, fields, field, code):
    page = _post(browse(alice), **fields)
    assert page.status_code == 422
    errors = [error for error in part(page, "errors").walk() if error.tag == "li"]
    assert [(error.attributes.get("data-field"), error["code"]) for error in errors] == [(field, code)]
    assert not Source.objects.exists()


def test_a_failed_import_shows_its_problem(browse, alice, repository):
    client = browse(alice)
    page = client.get(_imported(client, repository, branch="nope"))
    shown = part(page, "failure")
    assert codes(page) == ["GIT_REF"]
    assert "nope" in shown.part("problem", code="GIT_REF")
    assert "nope" in part(client.get("/imports/"), "reason")


def test_others_learn_nothing_of_a_teams_sources(browse, alice, charlie, repository):
    address = _imported(browse(alice), repository)
    uid = Source.objects.get().uid
    other = browse(charlie)
    for path in (address, f"{address}live/"):
        assert other.get(path).status_code == 404
    for verb in ("reimport", "compare", "remove"):
        assert other.post(f"/imports/sources/{uid}/{verb}/").status_code == 404
    assert repository.url not in other.get("/imports/").text
    assert browse().get(address).status_code == 302
    assert Import.objects.count() == 1


def test_a_viewer_sees_and_may_not_import(browse, alice, charlie, team, repository):
    address = _imported(browse(alice), repository)
    Membership.objects.create(team=team, user=charlie, role=Role.VIEWER)
    viewer = browse(charlie)
    assert "source-reimport" not in actions(viewer.get(address))
    uid = Source.objects.get().uid
    viewer.post(f"/imports/sources/{uid}/reimport/")
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


def test_queued_import_is_cancelled_on_its_page(browse, alice, repository):
    client = browse(alice)
    address = _post(client, location=repository.url)["Location"]
    page = client.get(address).text
    assert "cancel-import" in actions(page)
    assert "source-reimport" not in actions(page)
    listed = client.get("/imports/").text
    assert ("cancel-import" in actions(listed), "source-reimport" in actions(listed)) == (True, False)
    client.post(f"{address}cancel/")
    import_waiting()
    page = client.get(address).text
    assert "IMPORT_CANCELLED" in codes(page)
    assert "source-reimport" in actions(page)
    assert "cancel-import" not in actions(page)
    assert not Skill.objects.exists()
    assert not [each for each in parts(client.get("/"), "need") if each["data-kind"] == "import"]
