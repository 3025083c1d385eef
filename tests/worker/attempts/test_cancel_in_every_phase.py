"""A run that is cancelled ends at once, whatever is done for it; what was begun is not waited for."""

from __future__ import annotations

import threading
import time
from typing import Literal

import pytest

from registry.identity.actors import Actor
from registry.packages.problems import Refusal
from registry.storage import blobs
from tests.checks import not_none
from worker.attempts import monitor, unpacking
from worker.core.masking import Mask
from worker.dependencies import store as keeping
from worker.executors import conductor
from worker.files import artifacts, inputs
from worker.models import Artifact, Attempt, Run, RunStatus
from worker.protocols import outcome
from worker.queue import claims, retries, states
from worker.sandbox.limits.limits import Limits
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("P9")]
FILES = """
    import json, os
    os.makedirs("output", exist_ok=True)
    for number in range(5):
        with open(f"output/{number}.txt", "w") as file:
            file.write(str(number) * 1000)
    print(json.dumps({}))
"""


class Slow:
    """Work that begins, and goes on until the test is over."""

    def __init__(self):
        self.began, self.over = threading.Event(), threading.Event()

    def __call__(self, *given, **more):
        self.began.set()
        self.over.wait(30)
        raise RuntimeError("nobody waits for this any more")


@pytest.fixture
def slow():
    slow = Slow()
    yield slow
    assert not slow.over.is_set(), "nobody waited for its end"
    slow.over.set()


@pytest.fixture
def cancel_once(monkeypatch):
    """``cancel_once(run, event)``: by somebody else, when that has happened."""

    def arrange(run, event):
        heartbeat = claims.heartbeat

        def heard(claim):
            if event.is_set():
                states.cancel(run.pk)
            return heartbeat(claim)

        monkeypatch.setattr(monitor, "heartbeat", heard)
        monkeypatch.setattr(monitor, "_HEARTBEAT_S", 0.01)

    return arrange


def is_cancelled(run):
    assert (run.status, run.failure_code, run.finished_at is None) == (
        RunStatus.CANCELLED,
        "CANCELLED",
        False,
    )
    assert not (conductor.jobs_folder() / f"{run.uid}-1").exists()
    return True


def test_while_its_package_is_fetched(hello, queue_run, slow, cancel_once, monkeypatch):
    run = queue_run(hello)
    unpacking.remove_package(hello.digest)
    monkeypatch.setattr(blobs, "read", slow)
    cancel_once(run, slow.began)
    assert is_cancelled(execute_here(run))


def test_while_another_unpacks_there(hello, queue_run, cancel_once, monkeypatch):
    run, waits = queue_run(hello), threading.Event()
    unpacking.remove_package(hello.digest)
    unpack = unpacking._unpack
    monkeypatch.setattr(unpacking, "_unpack", lambda *given: (waits.set(), unpack(*given)))
    cancel_once(run, waits)
    with unpacking._folder_lock(unpacking._root()):
        assert is_cancelled(execute_here(run))


def test_while_its_files_are_fetched(hello, queue_run, alice, slow, cancel_once, monkeypatch):
    file = inputs.store_input([b"words"], "words.txt", Actor(user=alice))
    run = queue_run(hello, {"input_path": {"input": file.uid}})
    monkeypatch.setattr(blobs, "open_blob", slow)
    cancel_once(run, slow.began)
    assert is_cancelled(execute_here(run))


def test_between_two_of_its_files(hello, queue_run, alice, cancel_once, monkeypatch):
    files = [inputs.store_input([name.encode()], name, Actor(user=alice)).uid for name in ("a", "b")]
    run, opened, first = (
        queue_run(hello, {"input_path": [{"input": uid} for uid in files]}),
        [],
        threading.Event(),
    )
    fetch = blobs.open_blob

    def counted(digest):
        opened.append(digest)
        first.set()
        unheard.wait(10)
        return fetch(digest)

    unheard = threading.Event()
    monkeypatch.setattr(blobs, "open_blob", counted)
    cancel_once(run, first)
    tell = monitor.heartbeat
    monkeypatch.setattr(monitor, "heartbeat", lambda claim: (tell(claim), unheard.set())[0])
    assert is_cancelled(execute_here(run))
    assert len(opened) == 1


def test_while_its_dependencies_are_fetched(slow, monkeypatch):
    monkeypatch.setattr(blobs, "open_blob", slow)
    with pytest.raises(Refusal) as refused:
        keeping.unpack_archive(f"sha256:{'0' * 64}", check_stop=_cancelled_once(slow.began))
    assert refused.value.code == "CANCELLED"


def test_while_what_was_made_for_it_is_stored(slow, monkeypatch, tmp_path):
    (tmp_path / "deps").mkdir()
    monkeypatch.setattr(blobs, "store_stream", slow)
    with pytest.raises(Refusal) as refused:
        keeping.store_tree(tmp_path, "deps", check_stop=_cancelled_once(slow.began))
    assert refused.value.code == "CANCELLED"


def _cancelled_once(event):
    return lambda: "cancelled" if event.is_set() else None


def test_while_its_answer_is_read(hello, queue_run, cancel_once, monkeypatch):
    run, reads = queue_run(hello), threading.Event()
    interpret = outcome.interpret

    def read(*given, **more):
        reads.set()
        time.sleep(0.02)  # longer than the pause between two heartbeats
        return interpret(*given, **more)

    monkeypatch.setattr(outcome, "interpret", read)
    cancel_once(run, reads)
    assert is_cancelled(execute_here(run))
    assert run.sandbox["tier"], "what held it is told all the same"


def test_while_a_file_of_its_output_is_stored(publish_skill, queue_run, slow, cancel_once, monkeypatch):
    run = queue_run(publish_skill("files", FILES))
    monkeypatch.setattr(blobs, "store_stream", slow)
    cancel_once(run, slow.began)
    assert is_cancelled(execute_here(run))
    assert not Artifact.objects.filter(run=run).exists()
    assert run.sandbox["tier"], "what held it is told all the same"


def test_a_large_file_is_left_in_the_middle(tmp_path, monkeypatch):
    (tmp_path / "output").mkdir()
    (tmp_path / "output" / "large").write_bytes(bytes(5 << 20))
    taken, asked = [], threading.Event()

    def store(blocks, **more):
        for block in blocks:
            taken.append(len(block))
            asked.wait(10)

    monkeypatch.setattr(blobs, "store_stream", store)

    def cancel() -> Literal["cancelled"]:
        asked.set()
        return "cancelled"

    folders = artifacts.WrittenFolders(tmp_path)
    assert artifacts.store_artifacts(folders, Limits(), mask=Mask(()), check_stop=cancel) is None
    assert len(taken) == 1


def test_while_it_is_put_back_to_wait_for_its_dependencies(queued):
    claim = not_none(claims.claim_next("host:1"))
    states.cancel(queued.pk)
    assert retries.defer(claim, 5.0)
    queued.refresh_from_db()
    assert is_cancelled(queued)
    assert not Attempt.objects.filter(run=queued).exists()
    assert not Run.objects.filter(status=RunStatus.QUEUED).exists()
