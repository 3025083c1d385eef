"""Uploads of purged content are refused and leave no bytes in storage, var folder or temporary folder."""

from __future__ import annotations

import io
import secrets
import tempfile
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from registry.identity.actors import Actor
from registry.models import ResumableUpload, Skill, Version
from registry.packages.read_package import read_files
from registry.storage import blobs
from registry.versions.lifecycle.purge import purge_skill, purge_version
from registry.versions.publishing import publish as publishing
from worker.models import InputFile
from worker.service.import_jobs import import_waiting

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("P12")]
MARK = secrets.token_hex(32).encode()
SKILL_MD = b"---\ndescription: Reads a key.\n---\n# Reader\n"  # the folder or file name is the skill's name
FILES = {"SKILL.md": SKILL_MD, "references/key.txt": MARK}


def packed(folder="", *, kind="w"):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, kind) as archive:
        for path, data in FILES.items():
            archive.writestr(folder + path, data)
    return buffer.getvalue()


@pytest.fixture
def folders(place, settings, tmp_path, monkeypatch):
    """Where bytes could be left on disk: the var folder and the temporary folder."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return [Path(settings.SKILLQUAY_VAR), temporary]


@pytest.fixture
def stored(folders, settings):
    """Lists all files and blobs that contain the marked bytes, also in archives."""

    def find():
        files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
        contents = {str(path): path.read_bytes() for path in files}
        contents |= {digest: blobs.read(digest) for digest in blobs.digests()}
        return [name for name, data in contents.items() if any(MARK in each for each in _unpacked(data))]

    return find


def _unpacked(data):
    yield data
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                yield from _unpacked(archive.read(name))


@pytest.fixture
def owner(alice):
    return Actor(user=alice)


@pytest.fixture
def purged(stored, team, owner):
    """The content was published as ``docs/report@1.0.0`` and purged."""
    package = read_files(list({f"report/{path}": data for path, data in FILES.items()}.items()))
    version = publishing.publish(package, team=team, actor=owner, version="1.0.0").version
    assert stored()
    purge_version(version, owner, reason="It held a key.")
    assert stored() == []


def codes(answer):
    return [problem["code"] for problem in answer.json()["problems"]]


@pytest.mark.parametrize("name", ["report.zip", "other.zip"])
@pytest.mark.parametrize("query", ["", "&version=1.0.0", "&version=7.0.0"])
def test_api_refuses_every_number_and_name(purged, stored, as_alice, name, query):
    answer = as_alice.post(
        f"packages?team=docs&filename={name}{query}", packed(), kind="application/zip",
        headers={"Idempotency-Key": secrets.token_hex(8)},
    )  # fmt: skip
    assert (answer.status_code, answer.json()["code"]) == (409, "VERSION_PURGED")
    assert answer.json()["remedy"]
    assert stored() == []
    assert not Version.objects.exists()


def test_dry_run_reports_it(purged, stored, as_alice):
    answer = as_alice.post(
        "packages?team=docs&dry_run=1&filename=report.zip", packed(), kind="application/zip"
    )
    assert (answer.json()["ok"], "VERSION_PURGED" in codes(answer)) == (False, True)
    assert stored() == []


@pytest.mark.parametrize("query", ["", "&dry_run=1"])
def test_upload_in_chunks_is_erased(purged, stored, as_alice, query):
    data = packed()
    uid = as_alice.post("uploads", {"name": "report.zip", "size": len(data)}).json()["id"]
    as_alice("PUT", f"uploads/{uid}?offset=0", data, kind="application/octet-stream")
    assert stored()
    answer = as_alice.post(f"packages?team=docs&upload={uid}{query}")
    assert "VERSION_PURGED" in codes(answer)
    assert (stored(), ResumableUpload.objects.exists()) == ([], False)


@pytest.mark.parametrize("button", ["check", "publish"])
def test_page_refuses_it(purged, stored, as_alice, button):
    upload = SimpleUploadedFile("report.zip", packed(), "application/zip")
    answer = as_alice.client.post("/publish/", {"team": "docs", button: "1", "archive": upload})
    assert b"VERSION_PURGED" in answer.content
    assert stored() == []


def test_page_deletes_an_upload_that_was_checked_before_the_purge(stored, as_alice, team, owner):
    client = as_alice.client
    upload = SimpleUploadedFile("report.zip", packed("report/"), "application/zip")
    client.post("/publish/", {"team": "docs", "check": "1", "archive": upload})
    kept = InputFile.objects.get()
    package = read_files(list({f"report/{path}": data for path, data in FILES.items()}.items()))
    purge_version(publishing.publish(package, team=team, actor=owner).version, owner, reason="A key.")
    answer = client.post("/publish/", {"team": "docs", "publish": "1", "upload_id": kept.uid})
    assert answer.status_code == 409
    assert (stored(), InputFile.objects.exists()) == ([], False)


def test_import_refuses_it_and_deletes_the_archive(purged, stored, as_alice):
    answer = as_alice.post("imports?team=docs&filename=x.zip", packed("report/"), kind="application/zip")
    import_waiting()
    report = as_alice.get(f"imports/{answer.json()['id']}").json()["rows"]
    assert [problem["code"] for row in report for problem in row["problems"]] == ["VERSION_PURGED"]
    assert stored() == []


def test_dry_run_of_an_import_leaves_nothing(purged, stored, administrator, team, tmp_path, capsys):
    archive = tmp_path / "x.zip"
    archive.write_bytes(packed("report/"))
    with pytest.raises(SystemExit):
        call_command("import_skills", str(archive), "--team", "docs", "--dry-run", "--json")
    assert "VERSION_PURGED" in capsys.readouterr().out
    assert stored() == []


def test_purge_of_an_imported_version_deletes_the_archive(stored, as_alice, owner, team):
    answer = as_alice.post("imports?team=docs&filename=x.zip", packed("report/"), kind="application/zip")
    import_waiting()
    purge_version(Version.objects.get(), owner, reason="It held a key.")
    assert stored() == []
    again = as_alice.post(f"sources/{answer.json()['source']['id']}/imports")
    import_waiting()
    assert codes(as_alice.get(f"imports/{again.json()['id']}")) == ["IMPORT_ARCHIVE_GONE"]


def test_skill_purged_while_its_package_is_uploaded_leaves_nothing(stored, owner, team, monkeypatch):
    package = read_files(list({f"report/{path}": data for path, data in FILES.items()}.items()))
    publishing.publish(package, team=team, actor=owner)
    store = blobs.store

    def purge_meanwhile(data):
        monkeypatch.setattr(blobs, "store", store)
        purge_skill(Skill.objects.get(), owner, reason="A key.")
        return store(data)

    monkeypatch.setattr(blobs, "store", purge_meanwhile)
    with pytest.raises(publishing.Refusal) as refused:
        publishing.publish(package, team=team, actor=owner, version="2.0.0")
    assert refused.value.code == "SKILL_PURGED"
    assert stored() == []


def test_content_that_another_version_still_has_stays(stored, owner, team, as_alice):
    package = read_files(list({f"report/{path}": data for path, data in FILES.items()}.items()))
    first, second = (
        publishing.publish(package, team=team, actor=owner, version=number).version
        for number in ("1.0.0", "2.0.0")
    )
    purge_version(second, owner, reason="Twice.")
    answer = as_alice.post(
        "packages?team=docs&version=3.0.0&filename=report.zip", packed(), kind="application/zip"
    )
    assert answer.json()["code"] == "VERSION_PURGED"
    assert blobs.read(first.digest)
