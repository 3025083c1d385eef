"""Checks whether interpreters can read the scripts of a package. No script is run."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import PurePosixPath

from registry.packages.archive.paths import printable
from registry.packages.package import Package
from registry.packages.problems import Problem
from worker.protocols.entries import EXTENSIONS, SCRIPTS, ScriptEntry, entries_of
from worker.script_checks import javascript, modules, python, shell
from worker.script_checks.errors import SCRIPT_LINE_ENDS, SCRIPT_SYNTAX
from worker.script_checks.parsers import SyntaxFault

MAX_SECONDS = 3.0  # time for all scripts of a package
_MAX_SCRIPTS = 300
_MAX_BYTES = 256 * 1024  # bytes per script; larger scripts are not checked
_MAX_IMPORTS = 20  # number of problems reported per script
# Folders with code that is not the skill's own.
_TEMPLATES = frozenset({"templates", "template", "fixtures", "node_modules"})
_SHELL = (".sh",)


def check_scripts(package: Package) -> tuple[Problem, ...]:
    """A warning for each script that can't start because of its syntax, line endings, missing imports or
    missing ``execute``.

    Checks at most ``_MAX_SCRIPTS`` scripts of up to ``_MAX_BYTES`` each, and none after ``MAX_SECONDS``.
    Skips the syntax of scripts whose interpreter is not installed.
    """
    if package.manifest.type == "static":
        return ()
    files = {file.path: file.data for file in package.files}
    entries = entries_of(package)
    sources = {path: files[path] for path in _script_paths(entries, files) if len(files[path]) <= _MAX_BYTES}
    deadline = time.monotonic() + MAX_SECONDS
    problems: list[Problem] = []
    for path, data in sources.items():
        if time.monotonic() > deadline:
            break
        problems.extend(_problems(path, data, files))
        problems.extend(islice(modules.find_absent_imports(path, data, files.keys()), _MAX_IMPORTS))
    typescript = {path: data for path, data in sources.items() if path.endswith(".ts")}
    if typescript and time.monotonic() < deadline:
        faults = javascript.find_typescript_faults(typescript)
        problems.extend(_syntax(path, fault) for path, fault in faults.items())
    return (*problems, *modules.find_export_problems(package, entries, files))


def _problems(path: str, data: bytes, files: Mapping[str, bytes]) -> Iterator[Problem]:
    suffix = PurePosixPath(path).suffix
    if suffix in _SHELL and (crlf := re.search(rb"\r\n", data)):
        # a parser would report the same cause again as a command without an end
        yield SCRIPT_LINE_ENDS.problem().at(printable(path), data.count(b"\n", 0, crlf.start()) + 1)
        return
    fault: SyntaxFault | None = None
    if suffix == ".py":
        fault = python.find_fault(data)
    elif suffix in _SHELL:
        fault = shell.find_fault(data)
    elif suffix in javascript.SUFFIXES:
        fault = javascript.find_fault(data, javascript.module_kind(path, files))
    if fault:
        yield _syntax(path, fault)


def _syntax(path: str, fault: SyntaxFault) -> Problem:
    problem = SCRIPT_SYNTAX.problem(interpreter=fault.interpreter, reason=printable(fault.reason))
    return problem.at(printable(path), fault.line)


def _script_paths(entries: Iterable[ScriptEntry], files: Mapping[str, bytes]) -> list[str]:
    """The paths of code below scripts/ and of scripts offered elsewhere; omits templates."""
    code = {
        path
        for path in files
        if path.startswith(f"{SCRIPTS}/") and path.endswith(EXTENSIONS) and not path.endswith(".d.ts")
    }
    paths = code | {entry.path for entry in entries}
    return sorted(path for path in paths if not _TEMPLATES & set(path.split("/")[:-1]))[:_MAX_SCRIPTS]
