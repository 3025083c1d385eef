from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.presenters.content.text import json_text, log_line, visible, without_ansi

pytestmark = pytest.mark.row("B6", "P8")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;javascript:alert(1)\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("10%\r20%\r30%\r", "30%"),
        ("\x1b(B\x1b[?25lok", "ok"),
        ("plain [31m text", "plain [31m text"),
    ],
)
def test_terminal_commands_are_taken_out(raw, text):
    assert log_line(raw) == text


@given(st.text())
def test_no_escape_sequence_survives_as_one(text):
    assert "\x1b[" not in without_ansi("\x1b[1m" + text) or "\x1b" in text


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda s: st.lists(s) | st.dictionaries(st.text(), s),
    )
)
def test_json_for_people_reads_back_the_same(value):
    assert json.loads(json_text(value)) == value


def test_json_for_people_shows_what_turns_text_around():
    assert json_text("a\u202eb") == '"a\\u202eb"'
    assert json_text("天气") == '"天气"'


@given(st.text())
def test_what_a_page_shows_as_hidden_is_hidden_in_json_too(text):
    shown = json.loads(json_text(text).replace("\\u", "\\\\u"))
    assert visible(shown) == shown or set(text) & set(map(chr, range(32)))
