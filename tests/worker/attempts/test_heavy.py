"""Answers made to be heavy: what no page could show is not kept, and the run says so."""

from __future__ import annotations

import pytest

from tests.factories.runs import add_log
from worker.attempts.recording import STREAM_BYTES
from worker.core.display_budget import MAX_MEMORY
from worker.run_views.documents import run_document
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("B4", "C11")]


def test_an_answer_of_too_many_values_is_left_in_the_log(publish_skill, queue_run, actor_of, alice):
    count = MAX_MEMORY // 50
    version = publish_skill(script=f"print('{{\"rows\": [' + ','.join(['[]'] * {count}) + ']}}')")
    document = run_document(execute_here(queue_run(version)), actor=actor_of(alice))
    assert document["status"] == "succeeded"
    assert document["outputs"] == {}
    assert "11 MB" in document["warnings"][0]
    assert "output_dir" in document["warnings"][0]


def test_the_document_holds_the_end_of_a_long_log_without_half_a_character(hello, queue_run, actor_of, alice):
    run = execute_here(queue_run(hello))
    add_log(run, *(("stdout", "日" * 20_000) for _ in range(STREAM_BYTES // 60_000 + 2)))
    document = run_document(run, actor=actor_of(alice))
    assert STREAM_BYTES - 3 < len(document["stdout"].encode()) <= STREAM_BYTES
    assert set(document["stdout"]) == {"日"}
    assert document["stderr"] == "50% complete\n"
    assert str(STREAM_BYTES) in document["warnings"][-1]
