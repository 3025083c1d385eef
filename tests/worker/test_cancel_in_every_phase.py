"""A run that is cancelled ends at once, whatever is done for it; what was begun is not waited for."""

from __future__ import annotations

import threading

import pytest

from registry import storage
from registry.actors import Actor
from registry.packages.problems import Refused
from worker import artifacts, execution, inputs, protocols, states, supervision, unpacking
from worker.dependencies import keeping
from worker.masking import Mask
from worker.models import Artifact, Attempt, Run, Status
from worker.runs import run_here
from worker.sandbox.policy import Limits

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
        heartbeat = states.heartbeat

        def heard(claim):
            if event.is_set():
                states.cancel(run.pk)
            return heartbeat(claim)

        monkeypatch.setattr(supervision, "heartbeat", heard)
        monkeypatch.setattr(supervision, "_HEARTBEAT_S", 0.01)

    return arrange


def is_cancelled(run):
    assert (run.status, run.failure_code, run.finished_at is None) == (Status.CANCELLED, "CANCELLED", False)
    assert not (execution.Path(execution.settings.SKILLQUAY_VAR) / "jobs" / f"{run.uid}-1").exists()
    return True


def test_while_its_package_is_fetched(hello, ask, slow, cancel_once, monkeypatch):
    run = ask(hello)
    unpacking.forget(hello.digest)
    monkeypatch.setattr(storage, "read", slow)
    cancel_once(run, slow.began)
    assert is_cancelled(run_here(run))


def test_while_another_unpacks_there(hello, ask, cancel_once, monkeypatch):
    run, waits = ask(hello), threading.Event()
    unpacking.forget(hello.digest)
    unpack = unpacking._unpack
    monkeypatch.setattr(unpacking, "_unpack", lambda *given: (waits.set(), unpack(*given)))
    cancel_once(run, waits)
    with unpacking._alone(unpacking._root()):
        assert is_cancelled(run_here(run))


def test_while_its_files_are_fetched(hello, ask, alice, slow, cancel_once, monkeypatch):
    file = inputs.store_input([b"words"], "words.txt", Actor(user=alice))
    run = ask(hello, {"input_path": {"input": file.uid}})
    monkeypatch.setattr(storage, "open_blob", slow)
    cancel_once(run, slow.began)
    assert is_cancelled(run_here(run))


def test_between_two_of_its_files(hello, ask, alice, cancel_once, monkeypatch):
    files = [inputs.store_input([name.encode()], name, Actor(user=alice)).uid for name in ("a", "b")]
    run, opened, first = ask(hello, {"input_path": [{"input": uid} for uid in files]}), [], threading.Event()
    fetch = storage.open_blob

    def counted(digest):
        opened.append(digest)
        first.set()
        unheard.wait(10)
        return fetch(digest)

    unheard = threading.Event()
    monkeypatch.setattr(storage, "open_blob", counted)
    cancel_once(run, first)
    tell = supervision.heartbeat
    monkeypatch.setattr(supervision, "heartbeat", lambda claim: (tell(claim), unheard.set())[0])
    assert is_cancelled(run_here(run))
    assert len(opened) == 1


def test_while_its_dependencies_are_fetched(slow, monkeypatch):
    monkeypatch.setattr(storage, "open_blob", slow)
    with pytest.raises(Refused, match="was cancelled"):
        keeping.folder_of(f"sha256:{'0' * 64}", tick=_cancelled_once(slow.began))


def test_while_what_was_made_for_it_is_stored(slow, monkeypatch, tmp_path):
    (tmp_path / "deps").mkdir()
    monkeypatch.setattr(storage, "store_stream", slow)
    with pytest.raises(Refused, match="was cancelled"):
        keeping.store_tree(tmp_path, "deps", tick=_cancelled_once(slow.began))


def _cancelled_once(event):
    return lambda: "cancelled" if event.is_set() else None


def test_while_its_answer_is_read(hello, ask, cancel_once, monkeypatch):
    run, reads = ask(hello), threading.Event()
    interpret = protocols.interpret

    def read(*given, **more):
        reads.set()
        return interpret(*given, **more)

    monkeypatch.setattr(protocols, "interpret", read)
    cancel_once(run, reads)
    assert is_cancelled(run_here(run))
    assert run.sandbox["tier"], "what held it is told all the same"


def test_while_a_file_of_its_output_is_stored(published, ask, slow, cancel_once, monkeypatch):
    run = ask(published("files", FILES))
    monkeypatch.setattr(storage, "store_stream", slow)
    cancel_once(run, slow.began)
    assert is_cancelled(run_here(run))
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

    monkeypatch.setattr(storage, "store_stream", store)
    cancel = lambda: asked.set() or "cancelled"  # noqa: E731
    assert artifacts.keep(tmp_path, Limits(), mask=Mask(()), tick=cancel) is None
    assert len(taken) == 1


def test_while_it_is_put_back_to_wait_for_its_dependencies(queued):
    claim = states.claim_next("host:1")
    states.cancel(queued.pk)
    assert states.put_off(claim, 5.0)
    queued.refresh_from_db()
    assert is_cancelled(queued)
    assert not Attempt.objects.filter(run=queued).exists()
    assert not Run.objects.filter(status=Status.QUEUED).exists()
