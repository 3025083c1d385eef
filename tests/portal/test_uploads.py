"""Uploads by the script that shows their progress: no redirects, and an address for each draft."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from registry.identity.actors import Actor
from registry.models import Import, ResumableUpload, Source, Version
from registry.packages.archive.repack import repack
from registry.packages.read_package import read_files
from registry.storage import blobs
from registry.versions.lifecycle.purge import purge_version
from tests.factories.skills import publish_files, tidy_files
from tests.pages import codes, messages, part, parts
from worker.models import InputFile

pytestmark = [pytest.mark.django_db, pytest.mark.row("P3", "P8")]


def _upload(client, address="/publish/", **values):
    archive = SimpleUploadedFile("report.zip", repack(read_files([*tidy_files().items()]).files))
    given = {"team": "docs", "archive": archive, **values}
    return client.post(address, given, headers={"X-Upload": "1"})


def test_checked_upload_has_an_address_that_survives_a_reload(browse, alice, bob):
    client = browse(bob)
    answer = _upload(client, check="1", changelog="First & last")
    assert (answer.status_code, "Location" in answer) == (204, False)
    address = answer["X-Location"]
    for _ in range(2):
        page = client.get(address)
        assert part(page, "preview")["state"] == "ready"
        assert page.context["form"]["changelog"].value() == "First & last"
    stored = InputFile.objects.get()
    assert page.context["form"]["upload_id"].value() == stored.uid
    assert part(browse(alice).get(address), "refusal")["code"] == "UPLOAD_GONE"
    long = _upload(client, check="1", changelog="x" * 501)
    assert part(long, "preview")["state"] == "ready"


def test_published_upload_keeps_its_message(browse, bob):
    client = browse(bob)
    answer = _upload(client, publish="1")
    version = Version.objects.get()
    assert answer.status_code == 204
    assert answer["X-Location"] == f"/skills/{version.skill}/{version.number}/"
    assert messages(client.get(answer["X-Location"])) == ["success"]


def test_refused_upload_is_answered_with_the_page(browse, bob):
    answer = _upload(browse(bob), check="1", archive=SimpleUploadedFile("a.zip", b"none"))
    assert answer.status_code == 422
    assert part(answer, "refusal")["code"] == "ARCHIVE_FORMAT"
    assert _upload(browse(), check="1")["X-Location"].startswith("/sign-in/")


@pytest.mark.parametrize("address", ["/publish/", "/imports/new/"])
def test_forms_with_files_have_a_place_for_the_progress(browse, bob, address):
    page = browse(bob).get(address)
    assert "hidden" in part(page, "upload").attributes
    assert 'id="upload-progress"' in page.text


# Uploads in chunks ------------------------------------------------------------------------------------
def _in_chunks(client, content, name="report.zip", *, key="", received=None):
    """An upload by the script of a page, complete unless ``received`` is given."""
    body = {"name": name, "size": len(content), "key": key}
    uid = client.post("/api/v1/uploads", body, content_type="application/json").json()["id"]
    chunk = content[: received or len(content)]
    answer = client.put(f"/api/v1/uploads/{uid}?offset=0", chunk, content_type="application/octet-stream")
    assert answer.json()["received"] == len(chunk)
    return uid


def _archive():
    return repack(read_files([*tidy_files().items()]).files)


def _post(client, address="/publish/", **values):
    return client.post(address, {"team": "docs", **values}, headers={"X-Upload": "1"})


def test_form_uses_the_uploads_that_it_names(browse, bob):
    client = browse(bob)
    uid = _in_chunks(client, _archive())
    answer = _post(client, check="1", **{"upload:archive": uid})
    assert part(client.get(answer["X-Location"]), "preview")["state"] == "ready"
    assert InputFile.objects.get().name == "report.zip"
    assert not ResumableUpload.objects.exists()


def _in_one(files):
    """The content of the files as the script joins them, and the list that splits it."""
    return b"".join(files.values()), json.dumps([[path, len(data)] for path, data in files.items()])


def test_joined_folder_is_split_into_its_files(browse, bob):
    client = browse(bob)
    files = {f"weekly-report/{path}": data for path, data in tidy_files().items()}
    content, parts_ = _in_one(files | {"weekly-report/empty.txt": b""})
    uid = _in_chunks(client, content, "weekly-report")
    answer = _post(client, check="1", parts=parts_, **{"upload:folder": uid})
    page = client.get(answer["X-Location"])
    assert part(page, "preview")["state"] == "ready"
    paths = {file.path: file.data for file in page.context["package"].files}
    assert paths == tidy_files() | {"empty.txt": b""}
    assert not ResumableUpload.objects.exists()


INVALID_PARTS = [
    "", "{", "[1]", '[["a.md", 3]]', '[["a.md", "9"]]', '[["a.md", -1], ["b.md", 10]]', '[["/", 9]]'
]  # fmt: skip


def test_folder_with_a_wrong_list_of_files_is_refused(browse, bob):
    client = browse(bob)
    uid = _in_chunks(client, b"# Report\n", "report")
    for given in INVALID_PARTS:
        answer = _post(client, check="1", parts=given, **{"upload:folder": uid})
        assert "UPLOAD_PARTS_INVALID" in codes(answer), given
    assert ResumableUpload.objects.exists()


def test_joined_folder_above_the_limits_is_refused(browse, bob, settings):
    client = browse(bob)
    files = {f"report/{n}.md": b"x" for n in range(3)}
    content, parts_ = _in_one(files)
    uid = _in_chunks(client, content, "report")
    for name, limit in (("DATA_UPLOAD_MAX_NUMBER_FILES", 2), ("SKILLQUAY_MAX_UNPACKED_BYTES", 2)):
        before = getattr(settings, name)
        setattr(settings, name, limit)
        answer = _post(client, check="1", parts=parts_, **{"upload:folder": uid})
        assert (answer.status_code, "UPLOAD_TOO_LARGE" in codes(answer)) == (413, True), name
        setattr(settings, name, before)


def test_refused_form_keeps_the_upload(browse, bob):
    client = browse(bob)
    uid = _in_chunks(client, b"none", "a.zip")
    assert part(_post(client, check="1", **{"upload:archive": uid}), "refusal")["code"] == "ARCHIVE_FORMAT"
    assert ResumableUpload.objects.get().uid == uid


@pytest.mark.parametrize("user", ["alice", "bob"])
def test_form_with_a_missing_upload_is_refused(browse, alice, bob, user):
    """Another user's upload is like one that does not exist."""
    uid = _in_chunks(browse(bob), _archive())
    if user == "bob":
        ResumableUpload.objects.update(expires_at=timezone.now())
    answer = _post(browse({"alice": alice, "bob": bob}[user]), check="1", **{"upload:archive": uid})
    assert (answer.status_code, "UPLOAD_GONE" in codes(answer)) == (410, True)
    assert not InputFile.objects.exists()


def test_unfinished_upload_is_refused(browse, bob):
    client = browse(bob)
    uid = _in_chunks(client, b"x" * 200_000, received=100_000)
    assert "UPLOAD_INCOMPLETE" in codes(_post(client, check="1", **{"upload:archive": uid}))


def test_purged_content_is_erased(browse, alice, bob, team, django_capture_on_commit_callbacks):
    version = publish_files(tidy_files(), team=team, user=alice)
    purge_version(version, Actor(user=alice), reason="It held a key.")
    client = browse(bob)
    uid = _in_chunks(client, _archive())
    digest = ResumableUpload.objects.get().digest
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post("/publish/", {"team": "docs", "check": "1", "upload:archive": uid})
    assert "VERSION_PURGED" in codes(answer)
    assert (blobs.exists(digest), ResumableUpload.objects.exists()) == (False, False)


def test_import_uses_an_upload(browse, bob, team):
    client = browse(bob)
    uid = _in_chunks(client, _archive())
    answer = _post(client, "/imports/new/", kind="archive", **{"upload:content": uid})
    assert answer["X-Location"] == f"/imports/{Import.objects.get().uid}/"
    assert Source.objects.get().location == "report.zip"
    assert not ResumableUpload.objects.exists()


def test_page_shows_its_unfinished_uploads(browse, alice, bob):
    client = browse(bob)
    uid = _in_chunks(client, b"x" * 200_000, "half.zip", key="/publish/ 1", received=100_000)
    _in_chunks(client, b"x" * 200_000, key="/imports/new/ 1", received=100_000)
    _in_chunks(client, b"x" * 200_000, key="/publish/ 2")
    client.post(
        "/api/v1/uploads", {"name": "a", "size": 5, "key": "/publish/ 3"}, content_type="application/json"
    )
    rows = parts(client.get("/publish/?team=docs"), "unfinished-upload")
    assert [row["value"] for row in rows] == [uid]
    assert "half.zip" in rows[0].text
    assert not parts(browse(alice).get("/publish/"), "unfinished-upload")


def test_owner_discards_an_upload(browse, alice, bob):
    client = browse(bob)
    uid = _in_chunks(client, b"x" * 200_000, key="/publish/ 1", received=100_000)
    address = f"/account/uploads/{uid}/discard/"
    assert browse(alice).post(address).status_code == 404
    assert client.get(address).status_code == 405
    answer = client.post(address, {"next": "https://evil.example/"})
    assert (answer["Location"], messages(client.get("/"))) == ("/", ["success"])
    assert not ResumableUpload.objects.exists()
