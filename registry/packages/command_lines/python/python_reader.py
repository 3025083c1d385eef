"""Reads how a Python script is called."""

from __future__ import annotations

import ast

from registry.packages.command_lines.command_line import CommandLine, ReadingGap
from registry.packages.command_lines.python.argparse_reader import read_argparse
from registry.packages.command_lines.python.source import imported_modules, parse_python, reads_arguments

_ARGPARSE = {"argparse", "configargparse", "rich_argparse"}
_OTHER_PARSERS = {
    "click",
    "typer",
    "fire",
    "docopt",
    "getopt",
    "optparse",
    "absl",
    "tyro",
    "simple_parsing",
    "cyclopts",
    "tap",
}


def read_python(path: str, text: str) -> CommandLine:
    """The command line of a Python program."""
    tree = parse_python(text)
    if tree is None:
        return CommandLine(path, "line", gaps=(ReadingGap("syntax"),))
    modules = imported_modules(tree)
    found = read_argparse(path, tree, text.splitlines()) if modules & _ARGPARSE else None
    if found is not None:
        return found
    description = (_docstring(tree) or "")[:1000]
    if modules & (_ARGPARSE | _OTHER_PARSERS):
        return CommandLine(path, "line", usage=description, gaps=(ReadingGap("no_parser"),))
    return CommandLine(path, "line" if reads_arguments(tree) else "none", usage=description)


def _docstring(tree: ast.Module) -> str:
    return ast.get_docstring(tree) or ""
