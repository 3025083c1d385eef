"""A worker that can't reach the storage gives runs back and claims none; what a script made waits for it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from django.utils import timezone

from registry.core.errors import UNAVAILABLE
from tests.checks import not_none
from worker.attempts import storage_gate
from worker.attempts.unpacking import remove_package
from worker.dependencies import build
from worker.dependencies.queue import claim
from worker.executors.conductor import execute
from worker.models import DependencyBuild, DependencyBuildState, RunStatus
from worker.queue import claims
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5", "P9"), pytest.mark.usefixtures("local_storage")]


class BlobFolder:
    """The folder of the storage, which the test takes away and puts back."""

    def __init__(self, var: Path) -> None:
        self.folder, self.away = var / "blobs", var / "away"

    def take(self, kind: str) -> None:
        """A lost mount is an empty folder, or one whose every use fails."""
        self.folder.rename(self.away)
        self.folder.mkdir() if kind == "empty" else self.folder.write_text("")

    def put_back(self) -> None:
        self.folder.rmdir() if self.folder.is_dir() else self.folder.unlink()
        self.away.rename(self.folder)


@pytest.fixture
def blob_folder(hello, var_folder, monkeypatch):
    monkeypatch.setattr(storage_gate, "_lost", False)
    remove_package(hello.digest)  # it was unpacked when it was published
    return BlobFolder(var_folder)


def _is_open():
    return storage_gate.wait_until_open(lambda: False, seconds=0)


@pytest.mark.parametrize("kind", ["empty", "failing"])
def test_run_without_storage_is_given_back_and_its_attempt_does_not_count(queued, blob_folder, kind):
    blob_folder.take(kind)
    execute(not_none(claims.claim_next("host:1")))
    queued.refresh_from_db()
    assert (queued.status, queued.attempt, queued.attempts.count()) == (RunStatus.QUEUED, 0, 0)
    assert not _is_open(), "this process claims no more"
    blob_folder.put_back()
    assert _is_open()
    execute(not_none(claims.claim_next("host:1")))
    queued.refresh_from_db()
    assert (queued.status, queued.attempt) == (RunStatus.SUCCEEDED, 1)


def test_gate_does_not_wait_while_the_worker_stops(queued, blob_folder):
    blob_folder.take("empty")
    execute(not_none(claims.claim_next("host:1")))
    assert not storage_gate.wait_until_open(lambda: True, seconds=3600)


@pytest.mark.django_db(transaction=True)
def test_files_of_an_ended_script_wait_for_the_storage(hello, queue_run, blob_folder):
    execute_here(queue_run(hello))  # the package is unpacked, so the next run needs no storage to start
    run = queue_run(hello, {"output_dir": "here"})
    blob_folder.take("failing")
    back = threading.Timer(1.5, blob_folder.put_back)
    back.start()
    execute(not_none(claims.claim_next("host:1")))
    back.join()
    run.refresh_from_db()
    assert (run.status, run.attempt) == (RunStatus.SUCCEEDED, 1)
    assert [file.path for file in run.artifacts.all()] != []


def test_build_without_storage_is_given_back(blob_folder, monkeypatch):
    row = DependencyBuild.objects.create(key="k", kind="python", platform="here", spec="{}")

    def fail(*args):
        raise UNAVAILABLE.refusal()

    monkeypatch.setattr(build, "build", fail)
    monkeypatch.setattr("worker.dependencies.queue.wake_builder", lambda: True)
    with pytest.raises(type(UNAVAILABLE.refusal())):
        build.run_build(not_none(claim("k", timezone.now())))
    row.refresh_from_db()
    assert (row.state, row.attempt) == (DependencyBuildState.WAITING, 0)
