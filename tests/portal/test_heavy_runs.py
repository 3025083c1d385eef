"""Runs made to be heavy: their pages stay small, whatever a script has left behind."""

from __future__ import annotations

import tracemalloc

import pytest

from portal import run_log
from tests.run_samples import add_log, make_run

pytestmark = [pytest.mark.django_db, pytest.mark.row("B4", "P5")]


def peak_of(act):
    tracemalloc.start()
    try:
        answer = act()
        return answer, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture
def empty_lines(public, bob, team):
    run = make_run(public.latest, bob, team)
    add_log(run, *(("stdout", "\n" * 65_536) for _ in range(16)))
    return run


@pytest.mark.parametrize("shown", ["tail", "since", "page"])
def test_a_log_of_a_million_empty_lines_is_counted_without_being_made(empty_lines, shown):
    ask = {
        "tail": lambda: run_log.tail(empty_lines, 1, running=False),
        "since": lambda: run_log.since(empty_lines, 1, "0.1", running=False),
        "page": lambda: run_log.page(empty_lines, 1, 500_000, running=False),
    }[shown]
    lines, peak = peak_of(ask)
    assert lines.total == 16 * 65_536
    assert len(lines.lines) <= run_log.PAGE
    assert peak < 30_000_000


def test_what_came_since_is_shown_from_its_end_with_its_own_numbers(empty_lines):
    lines = run_log.since(empty_lines, 1, "15.983041", running=False)
    assert lines.lines[0].number == 16 * 65_536 - run_log.PAGE + 1
    assert lines.position == f"16.{16 * 65_536 + 1}"


def test_lines_of_two_streams_keep_their_order_and_numbers_on_every_page(public, bob, team):
    run = make_run(public.latest, bob, team)
    add_log(run, ("stdout", "a\nb"), ("stderr", "x\ny"), ("stdout", "b\nc\n"), ("stderr", "y\n"))
    lines = run_log.page(run, 1, 1, running=False).lines
    assert [(line.number, line.stream, line.text) for line in lines] == [
        (1, "stdout", "a"),
        (2, "stdout", "bb"),
        (3, "stderr", "x"),
        (4, "stderr", "yy"),
        (5, "stdout", "c"),
    ]
