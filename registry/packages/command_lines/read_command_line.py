"""Reads the command line of a script without running the script."""

from __future__ import annotations

from pathlib import PurePosixPath

from registry.packages.command_lines.command_line import CommandLine, ReadingGap
from registry.packages.command_lines.javascript.dialects import JAVASCRIPT_SUFFIXES, SHELL_SUFFIXES
from registry.packages.command_lines.main_part import has_main_part

MAX_CHARACTERS = 256 * 1024


def read_command_line(path: str, text: str) -> CommandLine:
    """The script's command line. Never raises: parts that can't be read become gaps.

    ``is_program`` is False for a file without a main part, whose kind is "none".
    """
    suffix = PurePosixPath(path).suffix
    if len(text) > MAX_CHARACTERS:
        return CommandLine(path, "line", gaps=(ReadingGap("size"),))
    if not has_main_part(suffix, text.encode("utf-8", "replace")):
        return CommandLine(path, "none", is_program=False)
    try:
        return _read(path, suffix, text)
    except RecursionError:
        return CommandLine(path, "line", gaps=(ReadingGap("syntax"),))


def _read(path: str, suffix: str, text: str) -> CommandLine:
    """The command line as read by the reader for the suffix. Imports each reader at its first use, because
    syntax tree parsers are large.
    """
    if suffix == ".py":
        from registry.packages.command_lines.python.python_reader import read_python

        return read_python(path, text)
    if suffix in JAVASCRIPT_SUFFIXES:
        from registry.packages.command_lines.javascript.javascript_reader import read_javascript

        return read_javascript(path, text)
    if suffix in SHELL_SUFFIXES:
        from registry.packages.command_lines.shell_reader import read_shell

        return read_shell(path, text)
    return CommandLine(path, "line")
