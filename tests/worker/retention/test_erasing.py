from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from registry.erasure import people
from registry.erasure.export import export_person
from registry.identity.actors import Actor
from registry.models import AuditEntry, Membership, Role, Token, Tombstone, User, UserSession
from registry.packages.problems import Refusal
from registry.storage import blobs
from registry.versions.lifecycle import purge
from registry.versions.lifecycle import yank as publishing_yank
from tests.shell import api
from worker.attempts import unpacking
from worker.models import Artifact, Attempt, LogChunk, Run, RunStatus, Step
from worker.queue import claims
from worker.retention import erase
from worker.run_views.documents import run_document
from worker.runs.cache import find_answer

pytestmark = [pytest.mark.django_db, pytest.mark.row("P12")]


def code(call, *args, **kwargs):
    with pytest.raises(Refusal) as error:
        call(*args, **kwargs)
    return error.value.code


@pytest.fixture
def commit(django_capture_on_commit_callbacks):
    """``commit(deed, …)``: the deed with what it does once its rows are down."""

    def do(deed, *args, **kwargs):
        with django_capture_on_commit_callbacks(execute=True):
            return deed(*args, **kwargs)

    return do


@pytest.fixture
def finished(queue_run, hello):
    """A run of Alice's that has ended, with log, step, artifact, answer and a cache entry."""

    def make(version=hello, *, by=None, status=RunStatus.SUCCEEDED):
        run = queue_run(version, {"who": "the secret guest"}, by=by)
        digest = blobs.store(b"secret artifact " + run.uid.encode())
        Artifact.objects.create(run=run, path="out.txt", size=1, digest=digest)
        LogChunk.objects.create(run=run, attempt=1, seq=0, stream="stdout", offset=0, data=b"secret log")
        Step.objects.create(run=run, attempt=1, seq=0, name="secret step")
        step = {"name": "secret step", "status": "succeeded", "duration_ms": 1, "error": None}
        host = {"host": "secret.example", "port": 443, "allowed": True, "code": "", "count": 1}
        Attempt.objects.create(
            run=run, number=1, worker="w", started_at=run.created_at, steps=[step], network=[host]
        )
        Run.objects.filter(pk=run.pk).update(
            status=status, result={"output": "secret answer"}, message="secret message", attempt=1,
            cause={"type": "E", "message": "secret cause", "file": "", "line": None},
            cache_key=f"key-{run.pk}", cache_until=timezone.now() + timedelta(days=1), log_bytes=10,
        )  # fmt: skip
        run.refresh_from_db()
        return run

    return make


def assert_empty(run):
    run.refresh_from_db()
    assert run.erased_at
    assert (run.skill_label, run.version_number) == ("docs/hello", "1.0.0")
    kept = [run.request, run.result, run.message, run.cause, run.files, run.request_id]
    attempts = list(Attempt.objects.filter(run=run).values("steps", "network"))
    assert "secret" not in json.dumps([*kept, attempts])
    assert (run.cache_key, run.idempotency_key) == ("", "")
    for rows in (run.artifacts, run.log_chunks, run.steps):
        assert not rows.exists()
    assert find_answer(f"key-{run.pk}") is None


def test_the_content_of_a_run_goes_and_its_row_stays(finished, alice, commit, actor_of):
    run = finished()
    digest = run.artifacts.get().digest
    commit(erase.erase_run, run, actor=actor_of(alice))
    assert_empty(run)
    assert not blobs.exists(digest)
    document = run_document(run, actor=actor_of(alice))
    assert (document["status"], document["output"], document["stdout"]) == ("succeeded", None, "")
    assert document["erased_at"]
    erase.erase_run(run, actor=actor_of(alice))
    assert AuditEntry.objects.filter(action="run.erase").count() == 1


def test_bytes_that_a_run_under_way_may_have_stored_too_are_left_to_the_sweep(
    finished, queue_run, hello, alice, commit, actor_of
):
    run = finished()
    digest = run.artifacts.get().digest
    assert claims.claim_next("w", run_id=queue_run(hello).pk)
    commit(erase.erase_run, run, actor=actor_of(alice))
    assert_empty(run)
    assert blobs.exists(digest)
    blobs.sweep(grace=timedelta(0))
    assert not blobs.exists(digest)


def test_erasing_is_for_who_may_read_a_run_that_has_ended(
    finished, queue_run, hello, alice, bob, charlie, actor_of
):
    run, under_way = finished(), queue_run(hello)
    assert code(erase.erase_run, run, actor=actor_of(bob)) == "FORBIDDEN"
    assert code(erase.erase_run, run, actor=actor_of(charlie)) == "NOT_FOUND"
    assert code(erase.erase_run, under_way, actor=actor_of(alice)) == "RUN_UNFINISHED"
    run.refresh_from_db()
    assert run.erased_at is None


def test_a_purge_takes_what_runs_of_the_version_made_and_stops_those_that_wait(
    finished, queue_run, hello, publish_skill, alice, commit, actor_of
):
    other = publish_skill("other")
    run, waiting, elsewhere = finished(), queue_run(hello), finished(other)
    folder = unpacking.open_package(hello.digest).folder
    commit(purge.purge_version, hello, actor_of(alice), reason="It held a password.")
    assert_empty(run)
    assert_empty(waiting)
    assert (waiting.status, run.digest) == (RunStatus.CANCELLED, hello.digest)
    assert not folder.exists()
    assert code(unpacking.open_package, hello.digest) == "PACKAGE_MISSING"
    elsewhere.refresh_from_db()
    assert elsewhere.erased_at is None


def test_a_run_that_ended_after_the_purge_is_swept(finished, hello):
    run = finished(status=RunStatus.RUNNING)
    Tombstone.objects.create(skill=run.skill, number="1.0.0", digest=run.digest, reason="x")
    erase.sweep()
    run.refresh_from_db()
    assert run.erased_at is None
    Run.objects.update(status=RunStatus.SUCCEEDED)
    erase.sweep()
    assert_empty(run)


def test_a_package_of_which_no_version_is_left_is_swept_from_every_machine(hello):
    folder = unpacking.open_package(hello.digest).folder
    unpacking.sweep_purged()
    assert folder.exists()
    hello.delete()
    unpacking.sweep_purged()
    assert not folder.exists()


def test_a_persons_export_holds_what_is_kept_of_them(finished, alice, bob, actor_of, charlie):
    run = finished(by=bob)
    found = export_person(bob, actor_of(bob))
    assert found["account"]["username"] == "bob"
    assert found["memberships"][0]["team__slug"] == "docs"
    assert "the secret guest" in json.dumps(found["runs"])
    assert found["runs"][0]["id"] == run.uid
    assert json.loads(json.dumps(export_person(alice, actor_of(alice))))["versions"]
    assert code(export_person, bob, actor_of(alice)) == "FORBIDDEN"
    assert code(people.find_person, "bob", actor_of(charlie)) == "NOT_FOUND"


def test_a_person_is_erased_and_what_they_did_stays_as_an_opaque_names(
    finished, bob, hello, commit, client, actor_of
):
    from registry.identity import tokens

    client.force_login(bob, backend="django.contrib.auth.backends.ModelBackend")
    run = finished(by=bob)
    in_a_day = timezone.now() + timedelta(days=1)
    _, secret = tokens.issue(bob, name="t", scopes=["read"], expires_at=in_a_day, by=actor_of(bob))
    erased = commit(people.erase_person, bob, actor_of(bob))
    assert_empty(run)
    assert run.caller == erased
    assert erased.username == f"erased-{bob.uid}"
    assert not User.objects.filter(username="bob").exists()
    assert code(tokens.actor_of, secret) == "TOKEN_INVALID"
    for rows in (Membership, UserSession):
        assert not rows.objects.filter(user=erased).exists()
    assert not Token.objects.filter(owner=erased).exists()
    assert client.get("/api/v1/me").status_code == 401


def test_a_team_and_a_site_are_not_left_without_anybody(alice, bob, administrator, actor_of, team):
    assert code(people.erase_person, alice, actor_of(alice)) == "LAST_OWNER"
    assert code(people.erase_person, administrator, actor_of(administrator)) == "LAST_ADMINISTRATOR"
    Membership.objects.filter(user=bob).update(role=Role.OWNER)
    assert people.erase_person(alice, actor_of(administrator)).is_active is False


def test_the_commands_do_the_same(finished, administrator, bob, capsys):
    run = finished(by=bob)
    call_command("export_person", "bob", "--json")
    assert json.loads(capsys.readouterr().out)["account"]["username"] == "bob"
    assert api("POST", f"runs/{run.uid}/erase")[0] == 0
    assert_empty(run)
    call_command("erase_person", "bob", "--json")
    assert json.loads(capsys.readouterr().out) == {"ok": True, "erased": f"erased-{bob.uid}", "problems": []}
    with pytest.raises(SystemExit):
        call_command("export_person", "bob", "--json")
    assert json.loads(capsys.readouterr().out)["problems"][0]["code"] == "NOT_FOUND"


def test_a_runs_answer_warns_of_a_yanked_version(finished, hello, alice, actor_of):
    run = finished()
    publishing_yank.yank(hello, Actor(user=alice), reason="Loses rows.")
    assert "Loses rows." in " ".join(run_document(run, actor=actor_of(alice))["warnings"])
