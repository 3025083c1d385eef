"""The rendering of a prompt's arguments: row D4's inline use, as far as the page of row P11 needs it."""

from __future__ import annotations

import pytest

from worker.protocols.prompts.render import render, split_arguments

pytestmark = pytest.mark.row("D4", "P11")


@pytest.mark.parametrize(
    ("body", "arguments", "text"),
    [
        ("Do $ARGUMENTS.", "a b", "Do a b."),
        ("First $ARGUMENTS[0], second $ARGUMENTS[1].", "a 'b c'", "First a, second b c."),
        ("From one: $1 and $2", "a b", "From one: a and b"),
        ("From zero: $0 and $1", "a b", "From zero: a and b"),
        ("Out of range: [$9] [$ARGUMENTS[7]]", "a", "Out of range: [] []"),
        ("查看$1的代码", "main.py", "查看main.py的代码"),
        ("It costs $5x and $foo", "", "It costs $5x and $foo"),
    ],
)
def test_placeholders_take_the_words_of_the_line(body, arguments, text):
    assert render(body, arguments=arguments).text == text


def test_arguments_without_a_placeholder_are_appended():
    assert render("Review.", arguments="main.py").text == "Review.\n\nARGUMENTS: main.py"
    assert render("Review.").text == "Review."


def test_named_arguments_take_their_words_and_longer_names_win():
    text = render("$path then $path_out", arguments="a b", names=("path", "path_out")).text
    assert text == "a then b"
    assert render("Look at $topic。", names=("topic",), values={"topic": "x y"}).text == "Look at x y。"


def test_what_an_argument_holds_is_never_expanded_again():
    assert (
        render("$ARGUMENTS", arguments="$1 ${CLAUDE_SKILL_DIR}", skill_dir="/s").text
        == "$1 ${CLAUDE_SKILL_DIR}"
    )


def test_the_folder_is_put_in_and_an_unknown_session_stands():
    body = "Read ${CLAUDE_SKILL_DIR}/a.md in ${CLAUDE_SESSION_ID}"
    assert render(body, skill_dir="/skills/x").text == "Read /skills/x/a.md in ${CLAUDE_SESSION_ID}"


def test_before_anything_is_given_the_placeholders_stand():
    assert render("Do $1 in ${CLAUDE_SKILL_DIR}", arguments=None, skill_dir="/s").text == "Do $1 in /s"


def test_commands_are_named_and_never_run():
    rendered = render("State: !`git status`\nand !`rm -rf /`")
    assert rendered.commands == ("git status", "rm -rf /")
    assert "!`git status`" in rendered.text


def test_an_open_quote_is_split_at_spaces():
    assert split_arguments("it's here") == ("it's", "here")


def test_code_spans_are_text():
    body = "Write ``!`x` `` or `foo`!`bar`; state: !`git status`"
    prompt = render(body, arguments="")
    assert prompt.commands == ("git status",)
    assert next(piece for piece in prompt.pieces if not isinstance(piece, str)).written == "git status"
    assert prompt.text == body
