"""Finds modules whose text shows that they can't be loaded: without ``execute``, or with an import of a
missing file.
"""

from __future__ import annotations

import ast
import posixpath
import re
import symtable
from collections.abc import Collection, Iterator, Mapping

from registry.packages.archive.paths import printable
from registry.packages.command_lines.python.source import is_too_costly, parse_python
from registry.packages.package import Package
from registry.packages.problems import Problem
from worker.protocols.entries import ScriptEntry, execute_modules
from worker.script_checks.errors import EXPORT_MISSING, IMPORTED_FILE_MISSING

_EXPORT = re.compile(
    r"\bexport\s+(?:default\b|(?:async\s+)?function\b[\s*]*execute\b|(?:const|let|var|class)\s+execute\b|\*)"
    r"|\bexport\s*\{[^}]*\bexecute\b[^}]*\}|\bexport\s+(?:const|let|var)\s*[{\[]"
    r"|\bexports\b"
)
_IMPORT = re.compile(
    r"^(?:(?:import|export)\b(?!\s+type\b)(?:[^'\"`;]*?\bfrom)?\s*|(?:const|let|var)\b[^'\"`;]*\brequire\(\s*)"
    r"[\"'](?P<name>\.{1,2}/[^\"'\n]+)[\"']",
    re.MULTILINE,
)
_ENDINGS = (
    "",
    ".js",
    ".mjs",
    ".cjs",
    ".json",
    ".ts",
    ".mts",
    ".node",
    "/index.js",
    "/index.ts",
    "/package.json",
)
_EXACT = (".ts", ".mjs")  # Deno and modules of Node try no other extensions
_JAVASCRIPT = (".js", ".mjs", ".cjs", ".ts")


def find_export_problems(
    package: Package, entries: tuple[ScriptEntry, ...], files: Mapping[str, bytes]
) -> Iterator[Problem]:
    """A warning for each ``execute`` module that exports no such function."""
    for entry in execute_modules(package.manifest, package.profile, entries):
        text = files[entry.path].decode("utf-8-sig", "replace")
        has_execute = _python_has_execute if entry.path.endswith(".py") else _EXPORT.search
        if not has_execute(text):
            yield EXPORT_MISSING.problem().at(printable(entry.path), 1)


def _python_has_execute(text: str) -> bool:
    """Whether the module defines ``execute``; True in case of doubt, such as ``from x import *`` or a syntax
    error.
    """
    if is_too_costly(text):
        return True
    try:
        names = symtable.symtable(text, "script", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    if "execute" in names.get_identifiers():
        symbol = names.lookup("execute")
        if symbol.is_assigned() or symbol.is_imported():
            return True
    return bool(re.search(r"\bimport\s*\*|__getattr__|globals\(\)", text))


def find_absent_imports(path: str, data: bytes, files: Collection[str]) -> Iterator[Problem]:
    """Yields a warning for each top-level relative import in the file whose target is not in the package."""
    text = data.decode("utf-8-sig", "replace")
    folder = posixpath.dirname(path)
    found = _python_imports(text) if path.endswith(".py") else ()
    for target, line in found:
        if not _has_module(posixpath.normpath(f"{folder}/{target}"), files):
            yield IMPORTED_FILE_MISSING.problem(name=printable(target)).at(printable(path), line)
    if not path.endswith(_JAVASCRIPT):
        return
    endings = ("",) if path.endswith(_EXACT) else _ENDINGS
    done = backticks = line_ends = 0  # lines are counted up to ``done``, so that each character is read once
    for match in _IMPORT.finditer(text):
        backticks += text.count("`", done, match.start())
        line_ends += text.count("\n", done, match.start())
        done = match.start()
        name = match["name"].partition("?")[0]
        target = posixpath.normpath(f"{folder}/{name}")
        if backticks % 2 == 0 and not any(target + ending in files for ending in endings):
            line = line_ends + text.count("\n", match.start(), match.start("name")) + 1
            yield IMPORTED_FILE_MISSING.problem(name=printable(name)).at(printable(path), line)


def _python_imports(text: str) -> Iterator[tuple[str, int]]:
    tree = parse_python(text)
    for node in tree.body if tree else ():
        if isinstance(node, ast.ImportFrom) and node.level and node.module:
            yield "../" * (node.level - 1) + node.module.replace(".", "/"), node.lineno


def _has_module(target: str, files: Collection[str]) -> bool:
    return f"{target}.py" in files or any(path.startswith(f"{target}/") for path in files)
