"""Parses a Python script, with limits, and finds its main part and its imports."""

from __future__ import annotations

import ast
import warnings

MAX_BYTES = 512 * 1024
_NODES = 120_000  # more of them take longer than half a second
_MAX_DOTS = 1_000  # per line: Python's parser needs quadratic time for a name with many parts


def parse_python(text: str) -> ast.Module | None:
    """The script's tree; None if it is not valid, or if parsing it would take too long."""
    if any(line.count(".") > _MAX_DOTS and "import" in line for line in text.splitlines()):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def imported_modules(tree: ast.Module) -> frozenset[str]:
    """The top names of the modules that the script imports anywhere; relative ones start with "."."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." if node.level else (node.module or "").partition(".")[0])
    return frozenset(found)


def reads_arguments(tree: ast.Module) -> bool:
    """Whether the script reads ``sys.argv``, or gives its arguments to a library that does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in ("argv", "orig_argv"):
            return True
        if isinstance(node, ast.ImportFrom) and any(each.name == "argv" for each in node.names):
            return True
    return False
