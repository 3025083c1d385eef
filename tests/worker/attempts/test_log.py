"""The log is kept in chunks that cut no character, and read back from any offset."""

from __future__ import annotations

from itertools import pairwise

import pytest
from django.db import OperationalError
from hypothesis import given
from hypothesis import strategies as st

from tests.checks import not_none
from worker.attempts import recording
from worker.attempts.monitor import AttemptMonitor
from worker.attempts.recording import CHUNK_BYTES, LogBuffer, read_log
from worker.protocols.call import StepTrace
from worker.queue import claims, states

pytestmark = pytest.mark.row("B6", "P5")


def test_neighbours_of_one_stream_are_one_piece():
    buffer = LogBuffer()
    for part in (b"a", b"b"):
        buffer.add("stdout", part)
    buffer.add("stderr", b"c")
    assert [(p.stream, p.data, p.offset) for p in buffer.take(final=True)] == [
        ("stdout", b"ab", 0),
        ("stderr", b"c", 2),
    ]


def test_streams_that_take_turns_byte_by_byte_are_not_a_row_for_each():
    buffer, pieces = LogBuffer(), []
    for number in range(40_000):
        buffer.add("stdout", b"o")
        buffer.add("stderr", b"e")
        if number % 1000 == 999:
            pieces += buffer.take(final=False)
    pieces += buffer.take(final=True)
    assert 5_000 <= len(pieces) < 5_200
    assert [p.offset for p in pieces] == [0, *(p.end for p in pieces[:-1])]
    for stream, letter in (("stdout", b"o"), ("stderr", b"e")):
        assert b"".join(p.data for p in pieces if p.stream == stream) == letter * 40_000


def test_half_a_character_waits_for_its_rest():
    buffer = LogBuffer()
    buffer.add("stdout", "好".encode()[:2])
    assert buffer.take(final=False) == []
    buffer.add("stdout", "好".encode()[2:])
    assert [piece.text for piece in buffer.take(final=False)] == ["好"]


@given(st.text(max_size=300), st.lists(st.integers(0, 900), max_size=6), st.booleans())
def test_no_cut_breaks_a_character_and_nothing_is_lost(text, cuts, final):
    data = text.encode("utf-8", "replace")
    buffer = LogBuffer()
    pieces = []
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    for start, end in pairwise(edges):
        buffer.add("stdout", data[start:end])
        pieces += buffer.take(final=False)
    pieces += buffer.take(final=True)
    assert b"".join(piece.data for piece in pieces) == data
    assert "".join(piece.text for piece in pieces) == data.decode()
    assert buffer.size == len(data)


def test_bytes_that_are_no_text_are_kept():
    buffer = LogBuffer()
    buffer.add("stdout", b"\xff\xfe\x80" * 9)
    assert b"".join(piece.data for piece in buffer.take(final=True)) == b"\xff\xfe\x80" * 9


def test_a_large_output_is_cut_into_chunks():
    buffer = LogBuffer()
    buffer.add("stdout", "好".encode() * CHUNK_BYTES)
    pieces = buffer.take(final=True)
    assert max(len(piece.data) for piece in pieces) <= CHUNK_BYTES
    assert {piece.data.decode()[0] for piece in pieces} == {"好"}


@pytest.fixture
def logged(queued):
    claim = not_none(claims.claim_next("w"))
    buffer = LogBuffer()
    buffer.add("stdout", b"one\n")
    buffer.add("stderr", b"two\n")
    buffer.add("stdout", b"three\n")
    recording.write_live(claim, buffer.take(final=False), progress=40, size=buffer.size, steps=[])
    queued.refresh_from_db()
    return queued


@pytest.mark.django_db
@pytest.mark.parametrize("offset", range(15))
def test_the_log_is_read_from_any_offset(logged, offset):
    part = read_log(logged, 1, offset)
    assert part.text == "one\ntwo\nthree\n"[offset:]
    assert part.next_offset == 14
    assert not part.ended  # it is still running


@pytest.mark.django_db
def test_a_limit_ends_after_the_chunk_that_meets_it(logged):
    part = read_log(logged, 1, 0, limit=4)
    assert (part.text, part.next_offset) == ("one\n", 4)


@pytest.mark.django_db
def test_a_live_write_shows_progress(logged):
    assert (logged.progress, logged.log_bytes) == (40, 14)


@pytest.mark.django_db
def test_a_worker_that_was_fenced_off_adds_nothing_to_the_log(queued):
    claim = not_none(claims.claim_next("w"))
    states.cancel(queued.pk)
    type(queued).objects.update(claim_token="another")
    buffer = LogBuffer()
    buffer.add("stdout", b"late")
    assert not recording.write_live(claim, buffer.take(final=True), progress=None, size=4, steps=[])
    assert not queued.log_chunks.exists()


@pytest.mark.django_db
def test_the_log_of_an_attempt_that_never_was_has_ended_with_its_run(logged):
    assert not read_log(logged, 2).ended
    type(logged).objects.filter(pk=logged.pk).update(status="succeeded")
    assert read_log(logged, 2).ended


@pytest.mark.django_db
def test_what_was_written_by_a_commit_that_nobody_heard_of_stands_there_once(queued, monkeypatch):
    def write_and_lose(*arguments, **more):
        written(*arguments, **more)
        raise OperationalError("the connection was lost while it committed")

    monkeypatch.setattr("worker.attempts.monitor.close_old_connections", lambda: None)  # the test is in one
    monitor = AttemptMonitor(not_none(claims.claim_next("w")))
    written = recording.write_live
    for line, write in ((b"one\n", write_and_lose), (b"two\n", written)):
        monkeypatch.setattr(recording, "write_live", write)
        monitor.on_output("stderr", line)
        monitor.add_step(StepTrace(line.decode(), "step"))
        monitor._written_at = 0.0
        assert monitor.check_stop() is None
    assert read_log(queued, 1).text == "one\ntwo\n"
    assert [step.step_id for step in queued.steps.order_by("seq")] == ["one\n", "two\n"]
