"""Uploads in chunks: their continuation, their limits, and the use of a complete upload."""

from __future__ import annotations

import hashlib
import random
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.utils import timezone

from registry.api.errors import BODY_INVALID
from registry.erasure import hooks
from registry.models import ResumableUpload, UploadChunk
from registry.packages.problems import Refusal
from registry.storage import blobs
from registry.uploads import uploads
from registry.uploads.uploads import MAX_CHUNK_BYTES, MAX_UNFINISHED, MIN_CHUNK_BYTES
from tests.api.conftest import archive, assert_error, session_api
from tests.factories.trees import skill_md, zip_tree
from worker.models import InputFile
from worker.service import reaper

pytestmark = [pytest.mark.row("P10", "P3"), pytest.mark.django_db]
CONTENT = random.Random(1).randbytes(3 * MIN_CHUNK_BYTES + 100)
DIGEST = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
STEP = MIN_CHUNK_BYTES


def begin(api, *, name="data.bin", content=CONTENT, **more):
    answer = api.post("uploads", {"name": name, "size": len(content), **more})
    assert answer.status_code == 201, answer.content
    return answer.json()["id"]


def put(api, uid, offset, chunk, **more):
    return api("PUT", f"uploads/{uid}?offset={offset}", chunk, kind="application/octet-stream", **more)


def upload(api, content=CONTENT, *, step=STEP, **more):
    """Uploads the content in chunks, and returns the id of the complete upload."""
    uid = begin(api, content=content, **more)
    for offset in range(0, len(content), step):
        answer = put(api, uid, offset, content[offset : offset + step])
    assert answer.json()["is_complete"] is True
    return uid


def test_chunks_are_joined_to_the_file(as_bob):
    uid = begin(as_bob, name="folder/data.bin", digest=DIGEST)
    for offset in range(0, len(CONTENT), STEP):
        answer = put(as_bob, uid, offset, CONTENT[offset : offset + STEP])
        assert answer.json()["received"] == min(offset + STEP, len(CONTENT))
    document = as_bob.get(f"uploads/{uid}").json()
    assert document == answer.json()
    assert (document["name"], document["digest"], document["is_complete"]) == ("data.bin", DIGEST, True)
    blobs.sweep(grace=timedelta(0))
    assert [*blobs.digests()] == [DIGEST]
    assert blobs.read(DIGEST) == CONTENT


def test_chunk_can_be_sent_as_a_form(as_bob):
    uid = begin(as_bob, content=b"small")
    body = encode_multipart(BOUNDARY, {"chunk": SimpleUploadedFile("blob", b"small")})
    answer = as_bob("PUT", f"uploads/{uid}?offset=0", body, kind=MULTIPART_CONTENT)
    assert answer.json()["is_complete"] is True


def test_empty_file_is_complete_at_once(as_bob):
    document = as_bob.post("uploads", {"name": "a.txt", "size": 0}).json()
    assert (document["is_complete"], document["digest"]) == (
        True,
        f"sha256:{hashlib.sha256(b'').hexdigest()}",
    )


# Continuation -----------------------------------------------------------------------------------------
def test_same_file_continues_an_unfinished_upload(as_bob, as_alice):
    file = {"name": "data.bin", "size": len(CONTENT), "key": "/home/ci/data.bin 1"}
    uid = as_bob.post("uploads", file).json()["id"]
    put(as_bob, uid, 0, CONTENT[:STEP])
    again = as_bob.post("uploads", file)
    assert (again.status_code, again.json()["id"], again.json()["received"]) == (200, uid, STEP)
    for changed in ({"key": ""}, {"key": "other"}, {"name": "b"}, {"size": 5}, {"digest": DIGEST}):
        assert as_bob.post("uploads", {**file, **changed}).json()["received"] == 0
    assert as_alice.post("uploads", file).json()["id"] != uid


def test_repeated_chunk_changes_nothing(as_bob):
    uid = begin(as_bob)
    first, second = (put(as_bob, uid, 0, CONTENT[:STEP]) for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 200)
    assert second.json()["received"] == STEP
    assert UploadChunk.objects.count() == 1


@pytest.mark.parametrize("offset", [0, 1, STEP - 1, STEP + 1, 2 * STEP])
def test_chunk_at_a_wrong_offset_is_refused(as_bob, offset):
    uid = begin(as_bob)
    put(as_bob, uid, 0, CONTENT[:STEP])
    answer = put(as_bob, uid, offset, CONTENT[STEP : 2 * STEP])
    document = assert_error(answer, 409, "UPLOAD_OFFSET_CONFLICT")
    assert str(STEP) in document["message"]
    assert as_bob.get(f"uploads/{uid}").json()["received"] == STEP


def test_complete_upload_takes_no_more_chunks(as_bob):
    uid = upload(as_bob)
    assert_error(put(as_bob, uid, len(CONTENT), b"x"), 422, "UPLOAD_CHUNK_INVALID")
    assert_error(put(as_bob, uid, 0, CONTENT[1 : STEP + 1]), 409, "UPLOAD_OFFSET_CONFLICT")
    assert put(as_bob, uid, 3 * STEP, CONTENT[3 * STEP :]).json() == as_bob.get(f"uploads/{uid}").json()
    assert as_bob.get(f"uploads/{uid}").json()["digest"] == DIGEST


def test_crash_while_chunks_are_joined_loses_nothing(as_bob, monkeypatch):
    uid = begin(as_bob)
    for offset in range(0, 3 * STEP, STEP):
        put(as_bob, uid, offset, CONTENT[offset : offset + STEP])

    def crash(_upload):
        raise RuntimeError

    monkeypatch.setattr(uploads, "finish_upload", crash)
    assert put(as_bob, uid, 3 * STEP, CONTENT[3 * STEP :]).status_code == 500
    monkeypatch.undo()
    assert as_bob.get(f"uploads/{uid}").json()["received"] == len(CONTENT)
    assert put(as_bob, uid, 3 * STEP, CONTENT[3 * STEP :]).json()["digest"] == DIGEST


def test_crashed_join_is_made_up_for_at_the_first_use(as_bob):
    uid = begin(as_bob, content=CONTENT[:STEP])
    digest = blobs.store(CONTENT[:STEP])
    row = ResumableUpload.objects.get()
    UploadChunk.objects.create(upload=row, offset=0, digest=digest)
    ResumableUpload.objects.update(received=STEP)
    assert as_bob.post(f"inputs?upload={uid}").json()["digest"] == digest


def test_interrupted_chunk_is_not_kept(as_bob):
    uid = begin(as_bob)

    def connection_lost():
        yield CONTENT[:STEP]
        raise BODY_INVALID.refusal(reason="it ended early")

    with pytest.raises(Refusal):
        uploads.append_chunk(ResumableUpload.objects.get(), 0, connection_lost())
    assert as_bob.get(f"uploads/{uid}").json()["received"] == 0
    assert not [*blobs.digests()]


def test_idempotency_key_begins_one_upload(as_bob):
    first, second = (
        as_bob.post("uploads", {"name": "a", "size": 5}, headers={"Idempotency-Key": "once"})
        for _ in range(2)
    )
    assert first.json()["id"] == second.json()["id"]
    assert ResumableUpload.objects.count() == 1


# Refusals and limits ----------------------------------------------------------------------------------
def test_wrong_digest_deletes_the_upload(as_bob):
    uid = begin(as_bob, digest=f"sha256:{'0' * 64}", content=b"small")
    document = assert_error(put(as_bob, uid, 0, b"small"), 422, "UPLOAD_DIGEST_MISMATCH")
    assert hashlib.sha256(b"small").hexdigest() in document["message"]
    assert not ResumableUpload.objects.exists()


@pytest.mark.parametrize(
    ("chunk", "status", "code"),
    [
        (b"x" * (STEP - 1), 422, "UPLOAD_CHUNK_INVALID"),
        (b"x" * (len(CONTENT) + 1), 422, "UPLOAD_CHUNK_INVALID"),
        (b"", 400, "UPLOAD_EMPTY"),
    ],
)
def test_chunk_of_a_wrong_size_is_refused(as_bob, chunk, status, code):
    uid = begin(as_bob)
    assert_error(put(as_bob, uid, 0, chunk), status, code)
    assert not UploadChunk.objects.exists()


def test_chunk_over_the_limit_is_refused(as_bob):
    uid = begin(as_bob, content=b"x" * (MAX_CHUNK_BYTES + 1))
    assert_error(put(as_bob, uid, 0, b"x" * (MAX_CHUNK_BYTES + 1)), 413, "BODY_TOO_LARGE")
    body = encode_multipart(BOUNDARY, {"chunk": SimpleUploadedFile("a", b"x" * (MAX_CHUNK_BYTES + 1))})
    answer = as_bob("PUT", f"uploads/{uid}?offset=0", body, kind=MULTIPART_CONTENT)
    assert_error(answer, 422, "UPLOAD_CHUNK_INVALID")


def test_file_over_every_limit_is_refused_at_once(as_bob, settings):
    settings.SKILLQUAY_MAX_INPUT_BYTES = settings.SKILLQUAY_MAX_ARCHIVE_BYTES = 1024
    settings.SKILLQUAY_MAX_IMPORT_ARCHIVE_BYTES = settings.SKILLQUAY_MAX_UNPACKED_BYTES = 2048
    begin(as_bob, content=b"x" * 2048)
    assert_error(as_bob.post("uploads", {"name": "a", "size": 2049}), 413, "UPLOAD_OVER_LIMIT")


def test_number_of_unfinished_uploads_is_limited(as_bob, as_alice):
    uids = [begin(as_bob, content=b"x") for _ in range(MAX_UNFINISHED)]
    assert_error(as_bob.post("uploads", {"name": "a", "size": 5}), 409, "UPLOADS_TOO_MANY")
    assert as_alice.post("uploads", {"name": "a", "size": 5}).status_code == 201
    put(as_bob, uids[0], 0, b"x")
    begin(as_bob)
    assert as_bob("DELETE", f"uploads/{uids[1]}").status_code == 204
    begin(as_bob)


@pytest.mark.parametrize(
    "change",
    [{"name": ""}, {"name": "a/"}, {"size": -1}, {"digest": "sha256:abc"}, {"key": "x" * 301}, {"more": 1}],
)
def test_invalid_request_begins_nothing(as_bob, change):
    answer = as_bob.post("uploads", {"name": "a", "size": 5, **change})
    assert answer.status_code == 422, answer.content
    assert not ResumableUpload.objects.exists()


def test_upload_is_its_owners_alone(as_bob, as_alice, as_charlie, anonymous, token_api, bob):
    uid = begin(as_bob, content=b"x" * 10)
    for api in (as_alice, as_charlie):
        assert_error(api.get(f"uploads/{uid}"), 404, "NOT_FOUND")
        assert_error(put(api, uid, 0, b"x" * 10), 404, "NOT_FOUND")
        assert_error(api("DELETE", f"uploads/{uid}"), 404, "NOT_FOUND")
        assert_error(api.post(f"inputs?upload={uid}"), 404, "NOT_FOUND")
    assert_error(anonymous.post("uploads", {"name": "a", "size": 5}), 401, "SIGN_IN_REQUIRED")
    assert_error(put(anonymous, uid, 0, b"x"), 401, "SIGN_IN_REQUIRED")
    assert token_api(bob, "read").post("uploads", {"name": "a", "size": 5}).status_code == 403
    for scope in ("run", "publish"):
        assert token_api(bob, scope).get(f"uploads/{uid}").json()["received"] == 0


def test_list_has_the_callers_current_uploads(as_bob, as_alice, anonymous):
    first, second, expired = (begin(as_bob) for _ in range(3))
    begin(as_alice)
    ResumableUpload.objects.filter(uid=expired).update(expires_at=timezone.now())
    page = as_bob.get("uploads?limit=1").json()
    rest = as_bob.get(f"uploads?limit=1&cursor={page['next_cursor']}").json()
    assert [each["id"] for each in (*page["items"], *rest["items"])] == [second, first]
    assert rest["next_cursor"] is None
    assert_error(anonymous.get("uploads"), 401, "SIGN_IN_REQUIRED")


# Expiry and erasure -----------------------------------------------------------------------------------
def test_sweep_deletes_expired_uploads_and_their_content(as_bob, settings):
    settings.SKILLQUAY_INPUT_HOURS = 1
    kept, expired = begin(as_bob), begin(as_bob)
    put(as_bob, kept, 0, CONTENT[:STEP])
    put(as_bob, expired, 0, CONTENT[STEP : 2 * STEP])
    ResumableUpload.objects.filter(uid=expired).update(expires_at=timezone.now())
    assert_error(as_bob.get(f"uploads/{expired}"), 404, "NOT_FOUND")
    reaper.sweep_once()
    assert [row.uid for row in ResumableUpload.objects.all()] == [kept]
    blobs.sweep(grace=timedelta(0))
    stored = set(blobs.digests())
    assert f"sha256:{hashlib.sha256(CONTENT[:STEP]).hexdigest()}" in stored
    assert f"sha256:{hashlib.sha256(CONTENT[STEP : 2 * STEP]).hexdigest()}" not in stored


def test_complete_content_survives_a_sweep(as_bob):
    upload(as_bob)
    blobs.sweep(grace=timedelta(0))
    assert blobs.read(DIGEST) == CONTENT


def test_each_chunk_extends_the_expiry(as_bob):
    uid = begin(as_bob)
    ResumableUpload.objects.update(expires_at=timezone.now() + timedelta(minutes=1))
    put(as_bob, uid, 0, CONTENT[:STEP])
    assert ResumableUpload.objects.get().expires_at > timezone.now() + timedelta(hours=1)


def test_erasure_deletes_the_uploads_of_a_person(as_bob, as_alice, bob):
    upload(as_bob)
    begun = begin(as_alice)
    put(as_bob, begin(as_bob), 0, CONTENT[:STEP])
    assert len([*hooks.export_person(bob)["uploads"]]) == 2
    digests = hooks.erase_person(bob)
    assert {DIGEST, f"sha256:{hashlib.sha256(CONTENT[:STEP]).hexdigest()}"} <= digests
    assert [row.uid for row in ResumableUpload.objects.all()] == [begun]


# Use --------------------------------------------------------------------------------------------------
def test_upload_becomes_an_input(as_bob):
    uid = upload(as_bob)
    document = as_bob.post(f"inputs?upload={uid}").json()
    assert (document["name"], document["digest"], document["size"]) == ("data.bin", DIGEST, len(CONTENT))
    named = as_bob.post(f"inputs?upload={uid}&name=b.txt", headers={"Idempotency-Key": "a"})
    assert (named.status_code, named.json()["name"]) == (201, "b.txt")
    assert (
        as_bob.post(f"inputs?upload={uid}&name=b.txt", headers={"Idempotency-Key": "a"}).json()
        == named.json()
    )
    assert InputFile.objects.count() == 2


def test_upload_is_published(as_bob, team):
    uid = upload(as_bob, archive(), name="summarise.zip")
    assert as_bob.post(f"packages?team=docs&upload={uid}&dry_run=1").json()["ok"] is True
    answer = as_bob.post(f"packages?team=docs&upload={uid}")
    assert (answer.status_code, answer.json()["skill"]) == (201, "docs/summarise")
    assert as_bob.post(f"packages/migrate?upload={uid}").json()["slug"] == "summarise"


def test_upload_is_imported(as_bob, team):
    uid = upload(as_bob, zip_tree({"a/SKILL.md": skill_md("a")}), name="skills.zip")
    answer = as_bob.post(f"imports?team=docs&upload={uid}")
    assert (answer.status_code, answer.json()["source"]["location"]) == (202, "skills.zip")
    assert_error(as_bob.post(f"imports?upload={uid}"), 422, "TEAM_REQUIRED")


def test_unfinished_upload_is_not_used(as_bob, team):
    uid = begin(as_bob)
    put(as_bob, uid, 0, CONTENT[:STEP])
    for path in (
        f"inputs?upload={uid}",
        f"packages?team=docs&upload={uid}",
        f"imports?team=docs&upload={uid}",
    ):
        assert_error(as_bob.post(path), 409, "UPLOAD_INCOMPLETE")


def test_use_has_its_own_limit(as_bob, team, settings):
    uid = upload(as_bob)
    settings.SKILLQUAY_MAX_ARCHIVE_BYTES = settings.SKILLQUAY_MAX_INPUT_BYTES = 1024
    assert_error(as_bob.post(f"packages?team=docs&upload={uid}"), 413, "UPLOAD_OVER_LIMIT")
    assert_error(as_bob.post(f"inputs?upload={uid}"), 413, "INPUT_TOO_LARGE")


def test_erased_upload_leaves_no_chunk(as_bob, django_capture_on_commit_callbacks):
    upload(as_bob)
    with django_capture_on_commit_callbacks(execute=True):
        uploads.erase_upload(ResumableUpload.objects.get())
    assert not [*blobs.digests()]


def test_upload_of_a_token_is_that_of_its_owner(token_api, bob):
    uid = upload(token_api(bob))
    assert session_api(bob).get(f"uploads/{uid}").json()["is_complete"] is True
