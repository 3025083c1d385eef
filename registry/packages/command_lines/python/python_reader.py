"""Reads the command line of a Python script."""

from __future__ import annotations

import ast

from registry.packages.command_lines.command_line import CommandLine, ReadingGap
from registry.packages.command_lines.python.argparse_reader import read_argparse
from registry.packages.command_lines.python.commands.click_reader import read_click
from registry.packages.command_lines.python.commands.typer_reader import read_typer
from registry.packages.command_lines.python.source import imported_modules, parse_python, reads_arguments
from registry.packages.command_lines.usage_text import usage_text

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
    """The command line of a Python script. Parts that can't be read become gaps."""
    tree = parse_python(text)
    if tree is None:
        return CommandLine(path, "line", gaps=(ReadingGap("syntax"),))
    modules = imported_modules(tree)
    found = read_argparse(path, tree, text.splitlines()) if modules & _ARGPARSE else None
    if found is None and "click" in modules:
        found = read_click(path, tree)
    if found is None and "typer" in modules:
        found = read_typer(path, tree)
    if found is not None:
        return found
    usage = _usage(_docstring(tree)[:1000], text)
    if modules & (_ARGPARSE | _OTHER_PARSERS):
        return CommandLine(path, "line", usage=usage, gaps=(ReadingGap("no_parser"),))
    return CommandLine(path, "line" if reads_arguments(tree) else "none", usage=usage)


def _usage(docstring: str, text: str) -> str:
    """The docstring if it contains a usage, otherwise the usage in the script's text; without both, the
    docstring.
    """
    return docstring if usage_text(docstring) else usage_text(text) or docstring


def _docstring(tree: ast.Module) -> str:
    return ast.get_docstring(tree) or ""
