"""Runs made to be heavy: their pages stay small, whatever a script has left behind."""

from __future__ import annotations

import tracemalloc

import pytest

from portal.pages.runs.presenters import log
from portal.presenters import results
from portal.presenters.content import highlighting, markdown
from portal.presenters.content import text as texts
from tests.factories.runs import add_log, add_step, make_run
from worker.core import display_budget

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
        "tail": lambda: log.tail(empty_lines, 1, running=False),
        "since": lambda: log.since(empty_lines, 1, "0.1", running=False),
        "page": lambda: log.page(empty_lines, 1, 500_000, running=False),
    }[shown]
    lines, peak = peak_of(ask)
    assert lines.total == 16 * 65_536
    assert len(lines.lines) <= log.PAGE
    assert peak < 30_000_000


def test_what_came_since_is_shown_from_its_end_with_its_own_numbers(empty_lines):
    lines = log.since(empty_lines, 1, "15.983041", running=False)
    assert lines.lines[0].number == 16 * 65_536 - log.PAGE + 1
    assert lines.position == f"16.{16 * 65_536 + 1}"


def test_lines_of_two_streams_keep_their_order_and_numbers_on_every_page(public, bob, team):
    run = make_run(public.latest, bob, team)
    add_log(run, ("stdout", "a\nb"), ("stderr", "x\ny"), ("stdout", "b\nc\n"), ("stderr", "y\n"))
    lines = log.page(run, 1, 1, running=False).lines
    assert [(line.number, line.stream, line.text) for line in lines] == [
        (1, "stdout", "a"),
        (2, "stdout", "bb"),
        (3, "stderr", "x"),
        (4, "stderr", "yy"),
        (5, "stdout", "c"),
    ]


def test_deep_lists_are_drawn_without_being_indented_into_gigabytes():
    deep: list[object] = [[]] * 300_000
    for _ in range(100):
        deep = [deep]
    drawn, peak = peak_of(lambda: results.display_value(deep))
    assert drawn.json == ""
    assert peak < 50_000_000


def test_the_steps_of_a_page_share_its_values(browse, bob, public, team):
    run = make_run(public.latest, bob, team)
    for seq in range(200):
        add_step(run, seq, f"step {seq}", input=list(range(1000)), output=[{"a": n} for n in range(200)])
    page = browse(bob).get(f"/runs/{run.uid}/").content
    assert b"step 199" in page
    assert len(page) < 2_000_000


def test_a_list_of_runs_does_not_read_what_it_will_not_show(browse, bob, public, team):
    heavy = {"outputs": {"rows": [[]] * 50_000, "word": "buried"}}
    make_run(public.latest, bob, team, message="", result=heavy, request={"inputs": {"x": "y" * 50_000}})
    make_run(public.latest, bob, team, message="", result={"outputs": {"word": "shown"}})
    client = browse(bob)
    client.get("/runs/")
    page, peak = peak_of(lambda: client.get("/runs/").content.decode())
    assert "shown" in page
    assert "buried" not in page
    assert peak < 4_000_000


def test_hidden_characters_do_not_make_a_page_forty_times_longer():
    assert len(texts.mark_hidden("\x01" * 100_000)) < 200_000
    assert "\x01" not in texts.mark_hidden("\x01" * 100_000)


@pytest.mark.parametrize("language", ["css", "go", "html"])
def test_source_made_to_keep_its_lexer_busy_is_highlighted_until_its_time_is_spent(language, monkeypatch):
    monkeypatch.setattr(display_budget, "MAX_CPU_S", 0.05)
    text = "/*\n" * 33_000 if language != "html" else ("<!--" * 500 + "\n") * 50
    lines = highlighting.lines(text, language)
    assert len(lines) == text.count("\n")
    assert "<span" not in lines[-1]


def test_what_is_beyond_the_length_that_is_drawn_stands_as_it_was_written():
    text = "word\n" * 20_000 + "# <b>last</b>\n"
    html = markdown.render(text, paths=(), page=str, raw=str)
    assert html.count("word") == 20_000
    assert "# &lt;b&gt;last" in html
