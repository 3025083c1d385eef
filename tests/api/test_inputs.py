import hashlib

import pytest

from registry.storage import blobs
from tests.api.conftest import assert_error
from tests.api.test_packages import form
from worker.models import InputFile

pytestmark = [pytest.mark.row("P10"), pytest.mark.django_db]


@pytest.mark.parametrize("kind", ["text/plain", "application/octet-stream", "application/json", "image/png"])
def test_a_raw_body_is_the_file_as_it_is(as_bob, kind):
    answer = as_bob.post("inputs?name=report.txt", b'{"not": parsed', kind=kind)
    document = answer.json()
    assert answer.status_code == 201
    assert (document["name"], document["size"]) == ("report.txt", 14)
    assert document["reference"] == {"input": document["id"]}
    assert blobs.read(document["digest"]) == b'{"not": parsed'
    assert as_bob.get(f"inputs/{document['id']}").json() == document


def test_a_form_holds_one_file(as_bob):
    body, kind = form([("file", "folder/a b.txt", b"text" * 100_000)])
    document = as_bob.post("inputs", body, kind=kind).json()
    assert (document["name"], document["size"]) == ("a b.txt", 400_000)
    assert document["digest"] == "sha256:" + hashlib.sha256(b"text" * 100_000).hexdigest()


def test_a_file_over_the_limit_is_refused_and_not_kept(as_bob, settings):
    settings.SKILLQUAY_MAX_INPUT_BYTES = 10
    assert_error(as_bob.post("inputs", b"x" * 11, kind="text/plain"), 413, "BODY_TOO_LARGE")
    settings.SKILLQUAY_MAX_REQUEST_BYTES = 1024
    body, kind = form([("file", "a.txt", b"x" * 11)])
    assert_error(as_bob.post("inputs", body, kind=kind), 413, "INPUT_TOO_LARGE")
    assert not InputFile.objects.exists()
    assert as_bob.post("inputs", b"x" * 10, kind="text/plain").status_code == 201


@pytest.mark.parametrize("name", ["..", ".", "a\x1b[31m", "%E2%80%AE", "x" * 255 + "é", "/"])
def test_a_name_that_is_none_is_refused(as_bob, name):
    answer = as_bob.post(f"inputs?name={name}", b"x", kind="text/plain")
    assert answer.status_code in (400, 422)
    assert not InputFile.objects.exists()


def test_an_empty_form_is_refused(as_bob):
    body, kind = form([("note", None, b"x")])
    assert_error(as_bob.post("inputs", body, kind=kind), 400, "UPLOAD_EMPTY")


def test_a_file_is_its_owners_alone(as_bob, as_alice, as_charlie, anonymous):
    uid = as_bob.post("inputs", b"x", kind="text/plain").json()["id"]
    for api in (as_alice, as_charlie):
        assert_error(api.get(f"inputs/{uid}"), 404, "NOT_FOUND")
        assert_error(api("DELETE", f"inputs/{uid}"), 404, "NOT_FOUND")
    assert_error(anonymous.get(f"inputs/{uid}"), 401, "SIGN_IN_REQUIRED")
    assert_error(anonymous.post("inputs", b"x", kind="text/plain"), 401, "SIGN_IN_REQUIRED")
    assert as_bob("DELETE", f"inputs/{uid}").status_code == 204
    assert_error(as_bob.get(f"inputs/{uid}"), 404, "NOT_FOUND")


def test_an_upload_with_a_key_happens_once_for_the_same_bytes(as_bob):
    key = {"Idempotency-Key": "k"}
    first, again = (as_bob.post("inputs", b"same", kind="text/plain", headers=key) for _ in range(2))
    assert first.content == again.content
    assert InputFile.objects.count() == 1
    assert_error(
        as_bob.post("inputs", b"diff", kind="text/plain", headers=key), 422, "IDEMPOTENCY_KEY_REUSED"
    )


def test_a_file_is_what_a_run_gets(publish, as_bob):
    from worker.models import Run
    from worker.service.inline import execute_here

    publish(
        {
            "SKILL.md": "---\nname: reads\ndescription: Reads a file.\n---\n",
            "scripts/main.py": "import json, sys\nprint(json.dumps({'text': open(sys.argv[2]).read()}))\n",
        }
    )
    use = as_bob.post("inputs?name=a.txt", b"hello", kind="text/plain").json()["reference"]
    uid = as_bob.post("runs", {"skill": "docs/reads", "inputs": {"text_path": use}}).json()["id"]
    execute_here(Run.objects.get(uid=uid))
    assert as_bob.get(f"runs/{uid}").json()["outputs"] == {"text": "hello"}
