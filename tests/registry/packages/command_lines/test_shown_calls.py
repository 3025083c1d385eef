"""Calls that documents show are found, checked against the script's parser and offered in the form."""

from __future__ import annotations

import time

import pytest

from registry.packages.command_lines import match_calls, read_command_line
from registry.packages.command_lines.calls.shell_words import simple_commands
from registry.packages.command_lines.calls.shown_calls import MAX_CALLS, find_shown_calls

pytestmark = pytest.mark.row("A7")

SCRIPTS = ("scripts/count.py", "scripts/office/unpack.py", "tools/greet.sh")
PARSER = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("file")
parser.add_argument("--top", type=int)
parser.add_argument("--mode", choices=["fast", "slow"])
parser.add_argument("--output-folder")
group = parser.add_mutually_exclusive_group()
group.add_argument("--json", action="store_true")
group.add_argument("--csv", action="store_true")
parser.parse_args()
"""


def _fenced(*lines, language="bash"):
    return "\n".join((f"```{language}", *lines, "```"))


def _words(text):
    return [(call.path, call.words) for call in find_shown_calls({"SKILL.md": text}, SCRIPTS)]


@pytest.mark.parametrize(
    ("line", "path", "words"),
    [
        ("python scripts/count.py a.txt --top 3", 0, ("a.txt", "--top", "3")),
        ("python3.12 -u {baseDir}/scripts/count.py 'a b.txt'", 0, ("a b.txt",)),
        ("uv run --with pypdf scripts/count.py a", 0, ("a",)),
        ("python -m scripts.office.unpack in.docx out/", 1, ("in.docx", "out/")),
        ("$ KEY=x sudo python count.py a # it's counted", 0, ("a",)),
        ("python scripts/count a", 0, ("a",)),
        ('for f in *; do ./tools/greet.sh "$f" 2>&1; done', 2, ("$f",)),
        ("cd x && bash tools/greet.sh Anna > out.txt | head", 2, ("Anna",)),
        ("tools/greet.sh <name> --loud", 2, ("<name>", "--loud")),
        ("tools/greet.sh <name> [--loud] [a|b [c]]...", 2, ("<name>",)),
    ],
)
def test_calls_in_code_blocks_are_found(line, path, words):
    assert _words(_fenced(line)) == [(SCRIPTS[path], words)]


@pytest.mark.parametrize(
    "line",
    [
        "python scripts/count.py --help",
        "python scripts/count.py add|remove",
        "python scripts/other.py a",
        "python -c 'scripts/count.py' a",
        "echo scripts/count.py a",
        "python scripts/count.py 'not closed",
        "├── scripts/count.py  counts",
    ],
)
def test_synopses_and_other_commands_are_no_calls(line):
    assert _words(_fenced(line)) == []


def test_code_in_sentences_and_continued_lines_are_read():
    text = "Run `python scripts/count.py a`.\n\n" + _fenced(
        "python scripts/count.py \\", "  b \\", "  --json"
    )
    found = find_shown_calls({"SKILL.md": text}, SCRIPTS)
    assert [(call.words, call.line, call.is_inline) for call in found] == [
        (("a",), 1, True),
        (("b", "--json"), 4, False),
    ]
    assert _words("scripts/count.py a") == []


def test_calls_that_the_parser_refuses_are_not_offered():
    command_line = read_command_line("scripts/count.py", PARSER)
    calls = {
        "<file> --mode MODE": True,
        "a.txt --top 3 --mode slow": True,
        "a.txt --output x": True,  # argparse accepts the beginning of a flag
        "a.txt --top 1 --top 2": True,
        "a.txt b.txt": False,
        "a.txt --upper": False,
        "a.txt --top many": False,
        "a.txt --mode other": False,
        "a.txt --json --csv": False,
        "--json": False,
    }
    text = _fenced(*(f"python scripts/count.py {words}" for words in calls))
    found = match_calls({"scripts/count.py": command_line}, {"SKILL.md": text})
    offered = [" ".join(words) for words in found.samples["scripts/count.py"]]
    assert offered == [
        "a.txt --top 3 --mode slow",
        "a.txt --output x",
        "a.txt --top 1 --top 2",
        "<file> --mode MODE",
    ]
    assert [" ".join(call.words) for call in found.refused] == [
        words for words, is_offered in calls.items() if not is_offered
    ]
    assert [call.line for call in found.refused] == [6, 7, 8, 9, 10, 11]


def test_calls_of_a_hand_written_script_are_offered_and_its_usage_otherwise():
    source = '"""Usage: greet.py <name> --loud\n"""\nimport sys\nprint(sys.argv)\n'
    scripts = {"scripts/greet.py": read_command_line("scripts/greet.py", source)}
    shown = match_calls(scripts, {"SKILL.md": _fenced("python scripts/greet.py Anna")})
    assert shown.samples == {"scripts/greet.py": (("Anna",),)}
    assert match_calls(scripts, {}).samples == {"scripts/greet.py": (("<name>", "--loud"),)}


def test_synopsis_is_offered_last_and_never_a_notice():
    scripts = {"scripts/count.py": read_command_line("scripts/count.py", PARSER)}
    lines = ("<file> [--top N]", "[--top N]", "<a> <b> [--top N]", "a.txt --json")
    text = _fenced(*(f"python scripts/count.py {words}" for words in lines))
    found = match_calls(scripts, {"SKILL.md": text})
    assert found.samples == {"scripts/count.py": (("a.txt", "--json"), ("<file>",))}
    assert found.refused == ()


def test_words_are_split_as_a_shell_splits_them():
    line = r"""a "b \"c\" $x" d\ e 'f"g' h#i {k} <m n> 3>&1 <in >out # end"""
    assert [[(word.text, word.is_template) for word in each] for each in simple_commands(line)] == [
        [
            ("a", False),
            ('b "c" $x', True),
            ("d e", False),
            ('f"g', False),
            ("h#i", False),
            ("{k}", True),
            ("<m n>", True),
        ]
    ]


@pytest.mark.parametrize(
    "text",
    [
        _fenced("python scripts/count.py " + "<a" * 900),
        _fenced("python scripts/count.py " + "$(" * 900 + "`" * 9),
        _fenced("python scripts/count.py " + '"\\' * 900),
        "\n".join(["    python scripts/count.py a \\"] * 20_000),
        "`python scripts/count.py a` " * 40_000,
        "```\n" * 200_000,
        _fenced(*["python scripts/count.py a" for _ in range(20_000)]),
        "count.py\0\ud800" * 50_000,
    ],
    ids=["placeholder", "substitution", "quote", "continued", "inline", "fences", "many", "characters"],
)
def test_hostile_documents_are_read_with_bounded_work(text):
    began = time.process_time()
    found = find_shown_calls({"SKILL.md": text}, SCRIPTS)
    assert len(found) <= MAX_CALLS
    assert time.process_time() - began < 2
