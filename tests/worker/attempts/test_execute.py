"""A claimed run is executed for real, in a sandbox, and all that came of it is kept."""

from __future__ import annotations

import errno
import os
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from registry.core.errors import UNAVAILABLE
from registry.log_context import ContextFilter
from registry.models import Skill
from registry.packages.package import Manifest
from registry.storage import blobs as storage
from worker.attempts import script_request
from worker.attempts.recording import read_log
from worker.models import RunStatus
from worker.protocols.call import Request
from worker.run_views.documents import run_document
from worker.service.inline import execute_here

pytestmark = pytest.mark.django_db


@pytest.fixture
def run_of(queue_run):
    """``run_of(version, inputs…)``: asked for and executed here."""
    return lambda version, inputs=None, **more: execute_here(queue_run(version, inputs, **more))


@pytest.mark.row("A2", "A3", "C5")
def test_a_script_answers(hello, run_of, actor_of, alice):
    run = run_of(hello, {"who": "世界"})
    document = run_document(run, actor=actor_of(alice))
    assert (document["status"], document["success"]) == ("succeeded", True)
    assert document["outputs"]["greeting"] == "hello 世界"
    assert document["stderr"] == "50% complete\n"
    assert document["sandbox"]["tier"] in {"bwrap", "nsrun"}


@pytest.mark.row("A5")
def test_files_left_in_the_output_folder_become_artifacts(hello, run_of, actor_of, alice):
    run = run_of(hello, {"output_dir": "/anywhere"})
    artifact = run.artifacts.get()
    assert (artifact.path, storage.read(artifact.digest)) == ("deep/hello.txt", b"hello you")
    shown = run_document(run, actor=actor_of(alice))["artifacts"][0]
    assert shown["url"].endswith(f"/api/v1/runs/{run.uid}/artifacts/deep/hello.txt")


@pytest.mark.row("A5")
@pytest.mark.parametrize("value", ["", None, 0, False])
def test_output_folder_is_passed_whatever_its_value(value):
    package: Any = SimpleNamespace(manifest=Manifest(slug="a", name="a", display_name="", description="b"))
    document = asdict(Request(inputs={"output_dir": value}))
    request = script_request.request_for_script(document, [], package)
    assert request.inputs["output_dir"] == script_request.OUTPUT_DIR


@pytest.mark.row("P5")
def test_the_platforms_steps_are_timed_in_order(hello, run_of):
    steps = run_of(hello).attempts.get().steps
    assert [step["name"] for step in steps] == ["unpack", "sandbox", "execute", "collect", "record"]
    assert {step["status"] for step in steps} == {"succeeded"}
    assert all(step["duration_ms"] >= 0 and step["started_at"] > 0 for step in steps)


@pytest.mark.row("B6")
def test_progress_is_read_from_stderr(hello, run_of):
    assert run_of(hello).progress == 50


@pytest.mark.row("D9")
def test_a_run_counts_as_a_use_once_a_minute(hello, run_of):
    run_of(hello)
    run_of(hello)
    assert Skill.objects.get(pk=hello.skill_id).usage_count == 1


@pytest.mark.row("B4")
def test_a_run_past_its_limit_is_timed_out(publish_skill, run_of):
    version = publish_skill(
        "slow",
        "import time; print('begun', flush=True); time.sleep(60)",
        front="security:\n  timeout_ms: 1000\n",
    )
    run = run_of(version)
    assert (run.status, run.failure_code) == (RunStatus.TIMED_OUT, "TIMEOUT")
    assert "begun" in bytes(run.log_chunks.first().data).decode()
    assert next(s for s in run.attempts.get().steps if s["name"] == "execute")["status"] == "failed"


@pytest.mark.row("P5")
def test_a_running_script_stops_when_it_is_cancelled(publish_skill, queue_run, monkeypatch):
    from worker.attempts import monitor
    from worker.queue import states

    run = queue_run(publish_skill("slow", "import time; print('begun', flush=True); time.sleep(60)"))
    monkeypatch.setattr(monitor, "_HEARTBEAT_S", 0.0)
    write = monitor.AttemptMonitor._write

    def cancel_then_write(watch):
        write(watch)
        states.cancel(run.pk)

    monkeypatch.setattr(monitor.AttemptMonitor, "_write", cancel_then_write)
    run = execute_here(run)
    assert (run.status, run.failure_code) == (RunStatus.CANCELLED, "CANCELLED")
    assert run.log_bytes == len("begun\n")


@pytest.mark.row("P5")
def test_a_worker_that_lost_its_lease_while_the_script_ran_writes_nothing(
    publish_skill, queue_run, monkeypatch
):
    from worker.attempts import monitor
    from worker.models import Run

    run = queue_run(publish_skill("slow", "import time; print('begun', flush=True); time.sleep(60)"))
    monkeypatch.setattr(monitor, "_HEARTBEAT_S", 0.0)
    monkeypatch.setattr(
        monitor.AttemptMonitor, "_write", lambda watch: Run.objects.update(claim_token="another worker's")
    )
    run = execute_here(run)
    assert (run.status, run.result) == (RunStatus.RUNNING, None)
    assert not run.log_chunks.exists()


@pytest.mark.row("B2", "P5")
def test_what_no_database_could_hold_is_kept_readable(publish_skill, run_of):
    script = r"""
        import json, sys
        sys.stdout.buffer.write(b"\x00\xff binary\n")
        print(json.dumps({"nul": "a\x00b", "half": "\ud800"}))
    """
    run = run_of(publish_skill("odd", script))
    assert run.status == RunStatus.SUCCEEDED
    assert run.result["outputs"] == {"nul": "a\ufffdb", "half": "\ufffd"}
    assert bytes(run.log_chunks.first().data).startswith(b"\x00\xff")


@pytest.mark.row("P1")
def test_a_package_whose_bytes_are_gone_fails_with_its_reason(hello, queue_run):
    from datetime import timedelta

    from registry.storage import blobs as storage
    from worker.attempts import unpacking
    from worker.sandbox.cleanup import remove_tree

    run = queue_run(hello)
    remove_tree(unpacking._root())
    blobs = storage.backend()
    for key, _ in list(blobs.older_than(timedelta(0))):
        blobs.remove(key, timedelta(0))
    run = execute_here(run)
    assert (run.status, run.failure_code) == (RunStatus.FAILED, "BLOB_MISSING")
    assert run.attempts.get().steps[0]["error"]["name"] == "BLOB_MISSING"


@pytest.mark.row("P5")
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (ZeroDivisionError(), "ZeroDivisionError"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "No space left on device"),
    ],
)
def test_a_fault_of_the_portal_ends_the_run_and_says_so(queued, monkeypatch, caplog, fault, said):
    monkeypatch.setattr("worker.executors.conductor.open_package", Mock(side_effect=fault))
    caplog.handler.addFilter(ContextFilter())
    run = execute_here(queued)
    contexts = {record.context for record in caplog.records if record.levelname == "ERROR"}
    assert contexts == {f"run={run.uid} team={run.team_id}"}
    assert (run.status, run.failure_code) == (RunStatus.FAILED, "WORKER_ERROR")
    assert said in run.message


@pytest.mark.row("P5", "P9")
def test_a_storage_that_goes_away_under_a_run_leaves_its_log_and_says_so(hello, run_of, monkeypatch):
    def away(chunks, *, limit):
        raise UNAVAILABLE.refusal()

    monkeypatch.setattr("worker.files.artifacts.blobs.store_stream", away)
    monkeypatch.setattr("worker.executors.collect.STORAGE_WAIT_S", 0)
    run = run_of(hello, {"output_dir": ""})
    assert (run.status, run.failure_code) == (RunStatus.FAILED, "UNAVAILABLE")
    assert "50% complete" in read_log(run, 1).text
    assert not run.artifacts.exists()


@pytest.mark.row("P5")
def test_nothing_of_a_run_is_left_on_disk(hello, run_of, settings):
    run_of(hello, {"output_dir": ""})
    assert list((settings.SKILLQUAY_VAR / "jobs").iterdir()) == []


@pytest.mark.row("P9")
def test_a_package_is_unpacked_once_and_read_only(hello, run_of):
    from worker.attempts.unpacking import open_package

    run_of(hello)
    first = open_package(hello.digest)
    assert open_package(hello.digest) is first
    assert (first.folder / "scripts/hello.py").stat().st_mode & 0o222 == 0
    assert [path.name for path in first.folder.parent.iterdir()] == [first.folder.name]


@pytest.mark.row("P5", "P9")
def test_ten_wake_ups_are_one_execution(queued):
    from worker.service.tasks import on_wake

    for _ in range(10):
        on_wake()
    queued.refresh_from_db()
    assert (queued.status, queued.attempt, queued.attempts.count()) == (RunStatus.SUCCEEDED, 1, 1)
