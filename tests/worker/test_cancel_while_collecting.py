"""A run that is cancelled while its files are collected ends at once and keeps none of them."""

from __future__ import annotations

import time

import pytest

from registry import storage
from worker import artifacts, supervision
from worker.masking import Mask
from worker.models import Artifact, Run, Status
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


def test_a_cancel_is_felt_between_two_files(published, ask, monkeypatch):
    run, store, stored = ask(published("files", FILES)), storage.store_stream, []

    def slow(blocks, **more):
        stored.append(store(blocks, **more))
        Run.objects.filter(pk=run.pk).update(cancel_requested_at=run.created_at)
        time.sleep(0.05)
        return stored[-1]

    monkeypatch.setattr(storage, "store_stream", slow)
    monkeypatch.setattr(supervision, "_HEARTBEAT_S", 0.01)
    run_here(run)
    assert (run.status, run.failure_code) == (Status.CANCELLED, "CANCELLED")
    assert len(stored) == 1
    assert not Artifact.objects.filter(run=run).exists()
    assert run.sandbox["tier"], "what held it is told all the same"


def test_a_large_file_is_left_in_the_middle(tmp_path):
    (tmp_path / "output").mkdir()
    (tmp_path / "output" / "large").write_bytes(bytes(5 << 20))
    words = iter([None, None, "cancelled"])
    assert artifacts.keep(tmp_path, Limits(), mask=Mask(()), tick=lambda: next(words)) is None
    assert next(words, "none left") == "none left"
