"""Finds modules that can't be loaded, from their text: no ``execute``, or an import of an absent file."""

from __future__ import annotations

import ast
import posixpath
import re
import symtable
from collections.abc import Collection, Iterator, Mapping

from registry.packages.archive.paths import printable
from registry.packages.command_lines.python.source import imports_endless_name, parse_python
from registry.packages.package import Package
from registry.packages.problems import Problem
from worker.protocols.call import Request
from worker.protocols.entries import choose_protocol, default_entry, find_entries
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
_EXACT = (".ts", ".mjs")  # Deno and modules of Node try no other endings
_JAVASCRIPT = (".js", ".mjs", ".cjs", ".ts")


def find_export_problems(package: Package, files: Mapping[str, bytes]) -> Iterator[Problem]:
    """A warning for each ``execute`` module that exports no such function.

    These are the default entry point and files with the name ``execute``. Other modules of an ApexBridge
    package may be libraries.
    """
    manifest, profile = package.manifest, package.profile
    entries = find_entries(package.paths, manifest, profile, files.__getitem__)
    default = default_entry(entries, manifest)
    for entry in entries:
        is_called = entry == default or entry.id == "execute"
        if is_called and choose_protocol(entry, manifest, profile, Request()) == "execute":
            text = files[entry.path].decode("utf-8-sig", "replace")
            has_execute = _python_has_execute if entry.path.endswith(".py") else _EXPORT.search
            if not has_execute(text):
                yield EXPORT_MISSING.problem().at(printable(entry.path), 1)


def _python_has_execute(text: str) -> bool:
    """True in case of doubt, such as for ``from x import *`` or a syntax error."""
    if imports_endless_name(text):
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
    """A warning for each relative import at the top level of a file that the package does not contain."""
    text = data.decode("utf-8-sig", "replace")
    folder = posixpath.dirname(path)
    found = _python_imports(text) if path.endswith(".py") else ()
    for target, line in found:
        if not _has_module(posixpath.normpath(f"{folder}/{target}"), files):
            yield IMPORTED_FILE_MISSING.problem(name=printable(target)).at(printable(path), line)
    if not path.endswith(_JAVASCRIPT):
        return
    endings = ("",) if path.endswith(_EXACT) else _ENDINGS
    for match in _IMPORT.finditer(text):
        name, before = match["name"].partition("?")[0], text[: match.start()]
        target = posixpath.normpath(f"{folder}/{name}")
        if before.count("`") % 2 == 0 and not any(target + ending in files for ending in endings):
            line = text.count("\n", 0, match.start("name")) + 1
            yield IMPORTED_FILE_MISSING.problem(name=printable(name)).at(printable(path), line)


def _python_imports(text: str) -> Iterator[tuple[str, int]]:
    """The relative imports at the top level, as paths without extension, with their lines."""
    tree = parse_python(text)
    for node in tree.body if tree else ():
        if isinstance(node, ast.ImportFrom) and node.level and node.module:
            yield "../" * (node.level - 1) + node.module.replace(".", "/"), node.lineno


def _has_module(target: str, files: Collection[str]) -> bool:
    return f"{target}.py" in files or any(path.startswith(f"{target}/") for path in files)
