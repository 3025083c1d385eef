"""The words of a call, for each kind of parameter, and command lines as JSON documents."""

from __future__ import annotations

import json

import pytest

from registry.packages.command_lines import (
    CommandLevel,
    CommandLine,
    ExclusiveGroup,
    Parameter,
    ReadingGap,
    build_arguments,
    from_document,
    to_document,
)

pytestmark = pytest.mark.row("A7")

ADD = CommandLevel(
    "add",
    aliases=("a",),
    parameters=(
        Parameter("add/file", "file", file="input"),
        Parameter("add/rest", "rest", min_values=0, max_values=None),
        Parameter("add/tag", "tag", ("-t", "--tag"), repeated=True),
        Parameter("add/size", "size", ("--size",), min_values=2, max_values=2, type="integer"),
        Parameter("add/level", "level", ("-l",), min_values=0, choices=("1", "2"), default="1"),
    ),
)
COMMAND_LINE = CommandLine(
    "scripts/x.py",
    "fields",
    "argparse",
    root=CommandLevel(
        parameters=(
            Parameter("verbose", "verbose", ("-v",), max_values=0, min_values=0, repeated=True),
            Parameter("cache", "cache", ("--cache",), ("--no-cache",), max_values=0, min_values=0),
        ),
        groups=(ExclusiveGroup(("verbose", "cache")),),
        subcommands=(ADD,),
        subcommand_required=True,
    ),
    gaps=(ReadingGap("computed_name", 3, "x"),),
)
FILE = {"input": "0123"}


@pytest.mark.parametrize(
    ("values", "commands", "words"),
    [
        ({}, (), []),
        ({"verbose": 2, "cache": False}, (), ["-v", "-v", "--no-cache"]),
        ({"cache": True, "verbose": 0, "add/file": "not of this command"}, (), ["--cache"]),
        ({"add/file": FILE, "add/rest": ["b", 3]}, ("a",), ["add", FILE, "b", "3"]),
        ({"add/tag": ["x", "-y"]}, ("add",), ["add", "--tag", "x", "--tag=-y"]),
        ({"add/level": True, "add/file": "-f", "add/rest": None}, ("add",), ["add", "-l", "--", "-f"]),
        ({"add/level": "-1", "add/size": [1, 2]}, ("add",), ["add", "--size", "1", "2", "-l-1"]),
    ],
)
def test_build_arguments_gives_the_words_of_each_kind_of_parameter(values, commands, words):
    assert build_arguments(COMMAND_LINE, values, commands) == words


def test_build_arguments_refuses_unknown_subcommand():
    with pytest.raises(KeyError):
        build_arguments(COMMAND_LINE, {}, ("remove",))


def test_document_gives_the_same_command_line_again():
    document = json.loads(json.dumps(to_document(COMMAND_LINE)))
    assert from_document({**document, "later": 1}) == COMMAND_LINE
    assert "repeated" not in document["root"]["subcommands"][0]["parameters"][0]
