"""Answers made to be heavy: what no page could show is not kept, and the run says so."""

from __future__ import annotations

import pytest

from tests.run_samples import add_log
from worker.documents import run_document
from worker.recording import STREAM_BYTES
from worker.runs import run_here
from worker.storable import MOST_VALUES, is_heavy

pytestmark = [pytest.mark.django_db, pytest.mark.row("B4", "C11")]


def test_an_answer_of_too_many_values_is_left_in_the_log(published, ask, actor_of, alice):
    version = published(script=f"print('{{\"rows\": [' + ','.join(['[]'] * {MOST_VALUES}) + ']}}')")
    document = run_document(run_here(ask(version)), actor=actor_of(alice))
    assert document["status"] == "succeeded"
    assert document["outputs"] == {}
    assert "write such an amount to a file" in document["warnings"][0]


def test_values_are_counted_wherever_they_lie():
    assert not is_heavy({"a": [1] * (MOST_VALUES - 10)})
    assert is_heavy([{"a": ({"b": list(range(MOST_VALUES // 2))},)}, [0] * (MOST_VALUES // 2)])


def test_the_document_holds_the_end_of_a_long_log_without_half_a_character(hello, ask, actor_of, alice):
    run = run_here(ask(hello))
    add_log(run, *(("stdout", "日" * 20_000) for _ in range(STREAM_BYTES // 60_000 + 2)))
    document = run_document(run, actor=actor_of(alice))
    assert STREAM_BYTES - 3 < len(document["stdout"].encode()) <= STREAM_BYTES
    assert set(document["stdout"]) == {"日"}
    assert document["stderr"] == "50% complete\n"
    assert "the log has all of them" in document["warnings"][-1]
