"""``manage.py api``: every endpoint without a server, as the administrator or as a named user."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.test import RequestFactory

from portal.wsgi import application
from registry.api.authentication import ShellRequest
from registry.identity.actors import Actor
from registry.models import AuditEntry, Skill, Version
from registry.packages.read_package import read_upload
from registry.storage import blobs
from registry.versions.publishing import publish as publishing_publish
from tests.api.conftest import archive, session_api
from tests.shell import api, refusal
from worker.models import InputFile, Run
from worker.protocols.call import Request
from worker.runs import cancel
from worker.runs import request as runs

pytestmark = [pytest.mark.django_db, pytest.mark.row("P3", "P10")]
SKILL = "skills/docs/summarise"


@pytest.fixture(autouse=True)
def nobody_listens(monkeypatch):
    monkeypatch.setattr("worker.runs.request.wake", lambda: True)


@pytest.fixture
def version(team, alice):
    return publishing_publish.publish(read_upload(archive()), team=team, actor=Actor(user=alice)).version


@pytest.fixture
def run(version, alice):
    request = Request(inputs={})
    return runs.request_run(actor=Actor(user=alice), version=version, request=request)


def wrong_call(*words):
    with pytest.raises(CommandError) as error:
        call_command("api", *words)
    return error.value.returncode


def test_administrator_reads_what_the_api_answers(version, administrator):
    status, document = api("get", SKILL)
    assert status == 0
    assert document == session_api(administrator).get(SKILL).json()
    assert api("GET", "me")[1]["username"] == "root"


def test_shell_without_any_user_acts_as_administrator(version):
    assert api("GET", SKILL)[0] == 0
    assert api("POST", f"{SKILL}/versions/1.0.0/yank", {"reason": "Wrong."})[0] == 0
    assert AuditEntry.objects.get(action="version.yank").token_name == "shell"


def test_shell_without_any_user_has_no_account(db):
    assert refusal("GET", "/api/v1/me") == "SIGN_IN_REQUIRED"


def test_path_outside_the_api_prints_no_page(db):
    assert api("GET", "/nowhere") == (1, None)


def test_as_user_narrows_to_that_user(version, bob, charlie):
    assert api("GET", SKILL, by="bob")[0] == 0
    assert refusal("GET", SKILL, by="charlie") == "NOT_FOUND"
    assert refusal("PATCH", SKILL, {"visibility": "public"}, by="bob") == "FORBIDDEN"
    assert Skill.objects.get().visibility == "private"


def test_refusal_is_the_error_document_on_stdout_alone(version, capsys):
    with pytest.raises(SystemExit) as ended:
        call_command("api", "GET", "/api/v1/skills/docs/absent")
    printed = capsys.readouterr()
    assert (ended.value.code, printed.err) == (1, "")
    assert set(json.loads(printed.out)) == {
        "code", "message", "remedy", "retryable", "docs_url", "request_id", "problems"
    }  # fmt: skip
    assert refusal("GET", "/api/v1/nothing/here") == "PATH_UNKNOWN"
    assert refusal("PUT", "skills") == "METHOD_NOT_ALLOWED"
    assert refusal("GET", "skills?limit=0") == "QUERY_INVALID"
    assert refusal("POST", "events", {"unknown": 1}) == "FIELD_UNKNOWN"


def test_wrong_calls_end_with_2(version, tmp_path):
    assert wrong_call("POST", "/api/v1/events", "{") == 2
    assert wrong_call("GET", "/api/v1/skills", "--as", "nobody") == 2
    assert wrong_call("GET", "api/v1/skills") == 2
    assert wrong_call("POST", "/api/v1/events", "{}", "--all-pages") == 2
    assert wrong_call("POST", "/api/v1/inputs", "--file", "no-path") == 2
    assert wrong_call("POST", "/api/v1/inputs", "--file", f"file={tmp_path}/absent") == 2
    assert wrong_call("POST", "/api/v1/inputs", "[]", "--file", f"file={__file__}") == 2
    with pytest.raises(CommandError):  # the parser itself ends a shell's call with 2
        call_command("api", "BREW", "/api/v1/skills")


def test_shell_gets_status_2_for_a_wrong_method():
    ended = subprocess.run([sys.executable, "manage.py", "api", "BREW", "/"], capture_output=True)
    assert (ended.returncode, ended.stdout) == (2, b"")


def test_body_is_read_from_standard_input(version, monkeypatch, tmp_path):
    given = json.dumps({"reason": "发票"}).encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(given)))
    call_command("api", "POST", f"/api/v1/{SKILL}/versions/1.0.0/yank", "-", stdout=io.StringIO())
    assert Version.objects.get().yank_reason == "发票"


def test_path_and_query_may_be_percent_encoded_or_not(version):
    found = [api("GET", f"search?q={word}")[1]["query"] for word in ("周报 x", "%E5%91%A8%E6%8A%A5%20x")]
    assert found == ["周报 x"] * 2
    assert refusal("GET", "skills/docs/%00") == "PATH_UNKNOWN"


def test_archive_and_artifact_are_written_to_a_file(version, run, tmp_path):
    address = f"{SKILL}/versions/1.0.0/archive"
    assert api("GET", address, None, "--out", str(tmp_path / "x.zip")) == (0, None)
    data = (tmp_path / "x.zip").read_bytes()
    assert f"sha256:{hashlib.sha256(data).hexdigest()}" == version.digest
    assert "SKILL.md" in " ".join(zipfile.ZipFile(io.BytesIO(data)).namelist())
    content = bytes(range(256)) * 4000
    digest = blobs.store(content)
    run.artifacts.create(path="a/b.bin", digest=digest, size=len(content))
    assert api("GET", f"runs/{run.uid}/artifacts/a/b.bin", None, "--out", str(tmp_path / "x.zip"))[0] == 0
    assert (tmp_path / "x.zip").read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["x.zip"]


def test_refused_download_leaves_the_file_as_it_was(version, charlie, tmp_path):
    target = tmp_path / "x.zip"
    target.write_bytes(b"before")
    status, document = api("GET", f"{SKILL}/versions/1.0.0/archive", None, "--out", str(target), by="charlie")
    assert (status, document["code"]) == (1, "NOT_FOUND")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("x.zip", b"before")]


def test_pipe_is_written_to_and_not_replaced(version, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    address = f"{SKILL}/versions/1.0.0/files/references%2Fnotes.md"
    assert api("GET", address, None, "--out", str(tmp_path / "pipe"))[0] == 0
    assert os.read(reader, 100) == b"# Notes\n"
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()


def test_link_is_followed_and_stays_a_link(version, tmp_path):
    (tmp_path / "link.md").symlink_to(tmp_path / "notes.md")
    address = f"{SKILL}/versions/1.0.0/files/references/notes.md"
    assert api("GET", address, None, "--out", str(tmp_path / "link.md"))[0] == 0
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "notes.md").read_bytes() == b"# Notes\n"


def test_file_that_cannot_be_written_ends_with_1(version, tmp_path):
    words = ("GET", f"/api/v1/{SKILL}/versions/1.0.0/archive", "--out", str(tmp_path / "absent" / "x.zip"))
    assert wrong_call(*words) == 1
    assert list(tmp_path.iterdir()) == []


def test_bytes_go_unchanged_through_a_pipe_and_never_to_a_terminal(version, capsysbinary, monkeypatch):
    words = ("GET", f"/api/v1/{SKILL}/versions/1.0.0/archive")
    call_command("api", *words)
    assert f"sha256:{hashlib.sha256(capsysbinary.readouterr().out).hexdigest()}" == version.digest
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert wrong_call(*words) == 2
    assert capsysbinary.readouterr().out == b""


def test_terminal_gets_control_characters_escaped(team, alice, capsys, monkeypatch):
    files = {"SKILL.md": "---\nname: zap\ndescription: Zaps.\nversion: 1.0.0\n---\nZap \x9b1m\u202e\n"}
    publishing_publish.publish(read_upload(archive(files)), team=team, actor=Actor(user=alice))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    call_command("api", "GET", "/api/v1/skills/docs/zap/versions/1.0.0/files/SKILL.md")
    assert "Zap \\x9b1m\\u202e\n" in capsys.readouterr().out


def test_files_are_uploaded_with_fields(team, alice, tmp_path):
    (tmp_path / 'a "b".zip').write_bytes(archive())
    options = ("--file", f'package={tmp_path}/a "b".zip')
    status, document = api("POST", "packages", {"team": "docs", "dry_run": True}, *options, by="alice")
    assert (status, document["ok"], Version.objects.count()) == (0, True, 0)
    status, document = api("POST", "packages", {"team": "docs", "changelog": "首版"}, *options, by="alice")
    assert (status, document["skill"]) == (0, "docs/summarise")
    published = Version.objects.get()
    assert (published.digest, published.changelog) == (document["digest"], "首版")
    assert published.published_by == alice


def test_uploaded_input_has_the_files_name_and_bytes(bob, tmp_path):
    (tmp_path / "周报.bin").write_bytes(bytes(range(256)))
    status, document = api("POST", "inputs", None, "--file", f"file={tmp_path}/周报.bin", by="bob")
    assert (status, document["name"], document["size"]) == (0, "周报.bin", 256)
    assert blobs.read(InputFile.objects.get().digest) == bytes(range(256))


def test_all_pages_are_one_document(team, alice):
    for number in range(7):
        files = {"SKILL.md": f"---\nname: skill-{number}\ndescription: Counts.\nversion: 1.0.0\n---\n# X\n"}
        publishing_publish.publish(read_upload(archive(files)), team=team, actor=Actor(user=alice))
    status, page = api("GET", "skills?limit=3")
    assert (status, len(page["items"]), bool(page["next_cursor"])) == (0, 3, True)
    status, whole = api("GET", "skills?limit=3&team=docs", None, "--all-pages")
    assert (status, whole["next_cursor"]) == (0, None)
    assert sorted(row["slug"] for row in whole["items"]) == [f"skill-{number}" for number in range(7)]
    assert api("GET", "me", None, "--all-pages", by="alice")[1]["username"] == "alice"
    assert api("GET", "skills?limit=0", None, "--all-pages")[1]["code"] == "QUERY_INVALID"


def test_wait_returns_when_the_run_has_ended(run, monkeypatch):
    def end(_):
        cancel.cancel(Run.objects.get(), actor=Actor(user=run.caller))

    monkeypatch.setattr("portal.management.in_process.time.sleep", end)
    status, document = api("GET", f"runs/{run.uid}?wait=30")
    assert (status, document["status"]) == (0, "cancelled")


def test_wait_returns_the_queued_run_when_its_time_is_over(version, alice):
    status, document = api("POST", "runs?wait=1", {"skill": "docs/summarise"}, by="alice")
    assert (status, document["status"]) == (0, "queued")
    assert refusal("GET", f"runs/{document['id']}?wait=soon") == "QUERY_INVALID"


def test_events_are_printed_as_far_as_they_have_come(run, capsys):
    call_command("api", "GET", f"/api/v1/runs/{run.uid}/events")
    assert "event: status" in capsys.readouterr().out


@pytest.mark.row("P2")
def test_no_server_builds_a_request_that_carries_its_actor(version, rf: RequestFactory):
    assert application.request_class is not ShellRequest
    forged = {"shell_actor": "root", "HTTP_SHELL_ACTOR": "root", "HTTP_X_SHELL_ACTOR": "root"}
    answer = session_api(None)("GET", SKILL, **forged)
    assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")
    answer = session_api(None)("PATCH", SKILL, {"visibility": "public"}, **forged)
    assert (answer.status_code, answer.json()["code"]) == (401, "SIGN_IN_REQUIRED")
    request = rf.get(f"/api/v1/{SKILL}")
    setattr(request, "shell_actor", Actor(is_shell=True))  # noqa: B010
    assert not isinstance(request, ShellRequest)
