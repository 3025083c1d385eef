"""The values of an argument vector, for prefilled forms."""

from __future__ import annotations

import pytest

from registry.packages.command_lines import (
    build_arguments,
    example_values,
    read_arguments,
    read_command_line,
)
from tests.registry.packages.command_lines.test_build_arguments import COMMAND_LINE, FILE

pytestmark = pytest.mark.row("A7")


@pytest.mark.parametrize(
    ("words", "commands", "values"),
    [
        ([], (), {}),
        (["-vv", "--no-cache"], (), {"verbose": 2, "cache": False}),
        (["-v", "a", FILE, "b", "3"], ("add",), {"verbose": 1, "add/file": FILE, "add/rest": ["b", "3"]}),
        (["add", "-tx", "--tag=-y", "f"], ("add",), {"add/tag": ["x", "-y"], "add/file": "f"}),
        (
            ["add", "--size", "1", "-2", "f", "-l"],
            ("add",),
            {"add/size": ["1", "-2"], "add/file": "f", "add/level": True},
        ),
        (["add", "-l1", "--", "-f"], ("add",), {"add/level": "1", "add/file": "-f"}),
    ],
)
def test_read_arguments_gives_the_values_that_build_the_same_call(words, commands, values):
    found = read_arguments(COMMAND_LINE, words)
    assert found is not None
    assert (found.commands, dict(found.values)) == (commands, values)
    assert read_arguments(COMMAND_LINE, build_arguments(COMMAND_LINE, found.values, commands)) == found


@pytest.mark.parametrize("words", [["remove"], ["--lost"], ["add", "--size", "1"], ["-x"], ["add", "-vz"]])
def test_read_arguments_gives_none_for_words_without_a_parameter(words):
    assert read_arguments(COMMAND_LINE, words) is None


def test_example_values_fill_what_is_required():
    source = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("input_file")
parser.add_argument("--mode", choices=["fast", "slow"], required=True)
parser.add_argument("--pair", nargs=2, type=int, required=True)
parser.add_argument("--rare")
group = parser.add_mutually_exclusive_group(required=True)
group.add_argument("--json", action="store_true")
group.add_argument("--csv", action="store_true")
parser.parse_args()
"""
    line = read_command_line("scripts/x.py", source)
    words = build_arguments(line, example_values(line, (), file=FILE))
    assert words == [FILE, "--mode", "fast", "--pair", "1", "1", "--json"]
