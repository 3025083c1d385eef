"""Parses a Python script, with limits, and finds its main part and its imports."""

from __future__ import annotations

import ast
import re
import warnings

MAX_BYTES = 512 * 1024
_MAX_TOKENS = 45_000  # Python's parser needs up to 450 bytes for each
_MAX_DOTS = 1_000  # Python's parser needs quadratic time for an imported name with many parts
_TOKEN = re.compile(r"\w+|[^\w\s]")
_CONTINUATION = re.compile(r"\\(?:\r\n|\n|\r)")


def parse_python(text: str) -> ast.Module | None:
    """The script's syntax tree. None if the script is invalid, or if parsing it would take too much time or
    memory.
    """
    if is_too_costly(text):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def is_too_costly(text: str) -> bool:
    """Whether Python's parser would need more than 20 MB of memory or more than a second."""
    return _imports_endless_name(text) or _has_many_tokens(text)


def _has_many_tokens(text: str) -> bool:
    return len(text) > _MAX_TOKENS and sum(1 for _ in _TOKEN.finditer(text)) > _MAX_TOKENS


def _imports_endless_name(text: str) -> bool:
    if text.count(".") <= _MAX_DOTS:
        return False
    lines = re.split(r"[\r\n]", _CONTINUATION.sub("", text))
    return any(line.count(".") > _MAX_DOTS and "import" in line for line in lines)


def imported_modules(tree: ast.Module) -> frozenset[str]:
    """The top-level names of all modules that the script imports; relative ones start with "."."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." if node.level else (node.module or "").partition(".")[0])
    return frozenset(found)


def reads_arguments(tree: ast.Module) -> bool:
    """Whether the script uses ``sys.argv`` or ``sys.orig_argv``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in ("argv", "orig_argv"):
            return True
        if isinstance(node, ast.ImportFrom) and any(each.name == "argv" for each in node.names):
            return True
    return False
