"""Finds a module that a Python script always imports but that is not available to its run."""

from __future__ import annotations

import re
from pathlib import Path

from registry.models import EntryNeeds
from registry.packages.problems import Problem
from worker.attempts.context import RuntimeEnvironment
from worker.attempts.unpacking import UnpackedPackage
from worker.core.sandbox_settings import sandbox_settings
from worker.protocols.call import Call
from worker.protocols.errors import MODULE_MISSING

_WORD = re.compile(r"[\w.]+")
_MAX_LINE = 500  # characters
_LIBRARIES, _PROGRAMS = "/deps", "/runtime"


def missing_module(
    package: UnpackedPackage, digest: str, call: Call, runtime: RuntimeEnvironment
) -> Problem | None:
    """MODULE_MISSING if the script is called with arguments but can't import a module; None if it may start.

    Checks only the required imports that were stored for the version. Returns None if other libraries may be
    importable: without a sandbox, or with a runtime.
    """
    if call.protocol != "script" or not call.entry.endswith(".py"):
        return None
    if _PROGRAMS in runtime.mounts or sandbox_settings().choice == "unsafe":
        return None
    row = EntryNeeds.objects.filter(version__digest=digest, path=call.entry).order_by("pk").first()
    for module in row.needs.modules if row else ():
        if module.required and module.ecosystem == "python" and not _has(module.name, package, runtime):
            problem = MODULE_MISSING.problem(module=module.name)
            return problem.at(call.entry, _line_of(module.name, package.read(call.entry)))
    return None


def _has(name: str, package: UnpackedPackage, runtime: RuntimeEnvironment) -> bool:
    """Whether the package or its dependencies contain the top-level module of ``name``."""
    top = name.partition(".")[0]
    if any(part.partition(".")[0] == top for path in package.paths for part in path.split("/")):
        return True
    libraries = runtime.mounts.get(_LIBRARIES)
    return libraries is not None and _is_installed(libraries, top)


def _is_installed(libraries: Path, top: str) -> bool:
    return (libraries / top).is_dir() or any(libraries.glob(f"{top}.*"))


def _line_of(name: str, source: bytes) -> int | None:
    """The line of the script that imports the module; None if another file of the package imports it."""
    top = name.partition(".")[0]
    for number, line in enumerate(source.decode("utf-8", "replace").splitlines(), 1):
        first, *words = _WORD.findall(line[:_MAX_LINE]) or [""]
        if first in ("import", "from") and any(word.partition(".")[0] == top for word in words):
            return number
    return None
