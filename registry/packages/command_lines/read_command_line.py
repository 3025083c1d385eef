"""Reads how a script is called, without running it."""

from __future__ import annotations

from pathlib import PurePosixPath

from registry.packages.command_lines.command_line import CommandLine, ReadingGap
from registry.packages.command_lines.main_part import has_main_part
from registry.packages.command_lines.python.python_reader import read_python

MAX_BYTES = 512 * 1024


def read_command_line(path: str, text: str) -> CommandLine:
    """How the script is called. Never raises: what can't be read is a gap.

    ``is_program`` is False for a file without a main part, whose kind is "none".
    """
    suffix = PurePosixPath(path).suffix
    if len(text) > MAX_BYTES:
        return CommandLine(path, "line", gaps=(ReadingGap("size"),))
    if not has_main_part(suffix, text.encode("utf-8", "replace")):
        return CommandLine(path, "none", is_program=False)
    try:
        return read_python(path, text) if suffix == ".py" else CommandLine(path, "line")
    except RecursionError:
        return CommandLine(path, "line", gaps=(ReadingGap("syntax"),))
