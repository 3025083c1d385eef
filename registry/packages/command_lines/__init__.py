"""Reads the command lines of scripts without running them, and builds the argument vectors of calls."""

from registry.packages.command_lines.build_arguments import build_arguments
from registry.packages.command_lines.calls.examples import example_values
from registry.packages.command_lines.calls.fitting import fits
from registry.packages.command_lines.calls.match_calls import match_calls
from registry.packages.command_lines.calls.read_arguments import ArgumentValues, read_arguments
from registry.packages.command_lines.command_line import (
    CommandLevel,
    CommandLine,
    ExclusiveGroup,
    Parameter,
    ReadingGap,
)
from registry.packages.command_lines.documents import from_document, to_document
from registry.packages.command_lines.file_use import may_be_file
from registry.packages.command_lines.read_command_line import read_command_line

__all__ = [
    "ArgumentValues",
    "CommandLevel",
    "CommandLine",
    "ExclusiveGroup",
    "Parameter",
    "ReadingGap",
    "build_arguments",
    "example_values",
    "fits",
    "from_document",
    "match_calls",
    "may_be_file",
    "read_arguments",
    "read_command_line",
    "to_document",
]
