"""A wrong byte of an installed file, a downloaded archive or a stored archive is noticed by the client."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import zipfile

import pytest
from django.test import Client

from registry.facades.command_line import skillquay
from registry.storage import blobs
from tests.checks import not_none
from tests.factories.skills import tidy_files
from tests.registry.facades.test_anthropic import zipped
from tests.worker.facades.test_mcp import ask

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]
PLACE, SCRIPT = ".claude/skills/weekly-report", "scripts/report.py"
URI = "skill://docs/weekly-report/"


def flipped(data, at):
    """The bytes with one bit changed at an index."""
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


class Program:
    """``skillquay.py`` in an empty folder. ``damage`` changes the archives on their way."""

    def __init__(self, monkeypatch, folder, capsys):
        self.folder, self._patch, self._capture = folder, monkeypatch, capsys
        self.damage = lambda archive: archive
        monkeypatch.chdir(folder)
        monkeypatch.setattr(skillquay.Site, "ask", self._ask)

    def _ask(self, path, **_more):
        answer = Client().get(f"/api/v1{path}")
        assert answer.status_code == 200
        data = answer.getvalue()
        return self.damage(data) if path.endswith("/archive") else data

    def __call__(self, *arguments):
        """The exit status and the printed text with the errors."""
        self._patch.setattr("sys.argv", ["skillquay.py", *arguments])
        status = skillquay.main()
        return status, "".join(self._capture.readouterr())


@pytest.fixture
def program(monkeypatch, tmp_path, capsys, report):
    return Program(monkeypatch, tmp_path, capsys)


@pytest.mark.parametrize("path", sorted(tidy_files()))
@pytest.mark.parametrize("at", [0, -1])
def test_wrong_byte_of_an_installed_file_fails_verify(program, path, at):
    assert program("pull", "docs/weekly-report")[0] == 0
    assert program("verify")[0] == 0
    file = program.folder / PLACE / path
    data = file.read_bytes()
    file.write_bytes(flipped(data, at % len(data)))
    status, printed = program("verify")
    assert status == 1
    assert f"CHANGED {PLACE} docs/weekly-report@1.2.0\n          changed: {path}\n" in printed
    file.write_bytes(data)
    assert program("verify")[0] == 0


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.999])
def test_wrong_byte_of_a_downloaded_archive_installs_nothing(program, report, share):
    program.damage = lambda archive: flipped(archive, int(share * len(archive)))
    status, printed = program("pull", "docs/weekly-report")
    assert (status, report.digest in printed, "Traceback" in printed) == (1, True, False)
    assert list(program.folder.rglob("*")) == []
    status, printed = program("verify")
    assert (status, "skillquay-lock.json" in printed) == (1, True)


def test_wrong_byte_of_a_restored_archive_fails_verify(program):
    assert program("pull", "docs/weekly-report")[0] == 0
    (program.folder / PLACE / SCRIPT).unlink()
    program.damage = lambda archive: flipped(archive, len(archive) // 2)
    assert program("pull", "--force")[0] == 1
    status, printed = program("verify")
    assert (status, f"removed: {SCRIPT}" in printed) == (1, True)


def content(uri):
    """The bytes that a host reads."""
    (found,) = ask("resources/read", uri=uri)["contents"]
    return found["text"].encode() if "text" in found else base64.b64decode(found["blob"])


def unequal_files():
    """The URIs of the files whose bytes do not match the manifest's digest or size, as a host compares."""
    manifest = ask("skills/get", uri=f"{URI}SKILL.md")["skill"]["resources"]
    read = {row["uri"]: content(row["uri"]) for row in manifest}
    assert len(read) == len(tidy_files())
    facts = {uri: (f"sha256:{hashlib.sha256(data).hexdigest()}", len(data)) for uri, data in read.items()}
    return [row["uri"] for row in manifest if facts[row["uri"]] != (row["digest"], row["size"])]


@pytest.mark.parametrize("path", sorted(tidy_files()))
def test_wrong_byte_of_a_stored_file_fails_the_digest_check_of_mcp_hosts(local_storage, report, path):
    assert unequal_files() == []
    blob = not_none(blobs.local_path(report.digest))
    with zipfile.ZipFile(io.BytesIO(blob.read_bytes())) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    blob.chmod(0o644)
    blob.write_bytes(zipped({**files, path: flipped(files[path], len(files[path]) - 2)}))
    assert unequal_files() == [URI + path]


def test_archive_with_a_wrong_byte_is_not_served_to_mcp_hosts(local_storage, report):
    blob = not_none(blobs.local_path(report.digest))
    data = blob.read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        start = archive.getinfo(SCRIPT).header_offset + 30 + len(SCRIPT)
    blob.chmod(0o644)
    blob.write_bytes(flipped(data, start + 4))
    error = ask("resources/read", uri=URI + SCRIPT)
    assert (error["code"], error["data"]["code"], "contents" in error) == (-32603, "BLOB_MISSING", False)
    assert error["data"]["remedy"]
    loaded = ask("tools/call", name="skills_load", arguments={"name": "docs/weekly-report", "path": SCRIPT})
    assert json.loads(loaded["content"][0]["text"])["code"] == "BLOB_MISSING"
