"""Deno: whether TypeScript names modules from elsewhere, by a look at its words; deno itself finds which."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from registry.packages.package import PackageFile
from registry.packages.problems import Problem, gettext_noop, problem

MOST = 50  # scripts that are started by deno
_FILE_BYTES, _LOCK_BYTES = 65_536, 2 << 20
_CODE = (".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx", ".json", ".jsonc", ".wasm")
_OTHERS = ("package.json", "package-lock.json", "tsconfig.json")  # of Node, never read here
_FOLDERS = ("", "scripts/")
_CONFIGS = ("deno.json", "deno.jsonc")
# After ``from``, ``import``, ``import(`` or in a comment for the compiler: a module, not some other text.
_IMPORT = re.compile(
    rb"""(?:\b(?:from|import)\b(?:\s|/\*[^*]*\*/|\()*["'`]|@(?:deno-types|ts-types|jsxImportSource)\s*=?\s*["']?"""
    rb"""|<reference\s+(?:types|path)\s*=\s*["'])((?:npm|jsr|https?):[^\s"'`<>\\]{1,500})""",
    re.IGNORECASE,
)
_MAPPED = re.compile(rb"""["'](?:imports|scopes|importMap)["']\s*:""")
_VALUE = re.compile(rb""":\s*["']((?:npm|jsr|https?):[^\s"'`<>\\]{1,500})["']""", re.IGNORECASE)
_SCHEMA = re.compile(rb"""["']\$schema["']\s*:\s*["'][^"']*["']""")


@dataclass(frozen=True)
class DenoModules:
    """What deno is to read to find what the scripts import; ``specifiers`` are only those that were seen."""

    scripts: tuple[str, ...]  # what deno is started with
    files: Mapping[str, bytes]  # by path: code, configuration and lock
    config: str  # the path of deno.json, empty where there is none
    lock: str
    specifiers: tuple[str, ...]


@dataclass(frozen=True)
class Deno:
    modules: DenoModules | None = None
    problems: tuple[Problem, ...] = ()


def matters(path: str) -> bool:
    """Whether deno could read this file of a package when it loads a script."""
    return path.endswith(_CODE) or path.rpartition("/")[2] == "deno.lock"


def read_deno(files: Sequence[PackageFile]) -> Deno:
    """Nothing where no script is TypeScript, or all that is imported lies in the package."""
    scripts = sorted(file.path for file in files if _is_script(file.path))
    if not scripts:
        return Deno()
    by_path = {file.path: file for file in files if _is_read(file.path)}
    config = _beside("", by_path, _CONFIGS)
    lock = _beside(config, by_path, ("deno.lock",))
    seen = [found for file in by_path.values() for found in _seen(file, config)]
    if not seen and not (config and _MAPPED.search(by_path[config].data)):
        return Deno()
    problems = list(_too_much(scripts, config, lock, by_path))
    if lock and (unread := _unread_lock(by_path[lock])):
        problems.append(unread)
    if problems:
        return Deno(problems=tuple(problems))
    content = {path: file.data for path, file in by_path.items()}
    return Deno(DenoModules(tuple(scripts), content, config, lock, tuple(sorted(set(seen)))))


def _is_script(path: str) -> bool:
    return path.startswith("scripts/") and path.endswith(".ts") and not path.endswith(".d.ts")


def _is_read(path: str) -> bool:
    return matters(path) and path.rpartition("/")[2] not in _OTHERS


def _beside(config: str, by_path: Mapping[str, PackageFile], names: Sequence[str]) -> str:
    """The first of these names, beside SKILL.md or in scripts/; a lock lies where its configuration does."""
    folders = (config.rpartition("/")[0] + "/" if "/" in config else "",) if config else _FOLDERS
    return next((path for folder in folders for name in names if (path := folder + name) in by_path), "")


def _seen(file: PackageFile, config: str) -> Iterator[str]:
    is_map = file.path == config or file.path.endswith("import_map.json")
    text = _SCHEMA.sub(b"", file.data) if is_map else file.data
    if is_map or not file.path.endswith((".json", ".jsonc", ".wasm", "deno.lock")):
        for match in (_VALUE if is_map else _IMPORT).finditer(text):
            yield match[1].decode("utf-8", "replace")


def _too_much(
    scripts: Sequence[str], config: str, lock: str, by_path: Mapping[str, PackageFile]
) -> Iterator[Problem]:
    if len(scripts) > MOST:
        yield problem("DEPENDENCIES_TOO_MANY", path=scripts[MOST], count=len(scripts), limit=MOST)
    for path, most in ((config, _FILE_BYTES), (lock, _LOCK_BYTES)):
        if path and len(by_path[path].data) > most:
            yield problem("DEPENDENCY_FILE_LARGE", path=path, limit=most)


def _unread_lock(lock: PackageFile) -> Problem | None:
    try:
        document = json.loads(lock.data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, dict) and document.get("version") in ("3", "4", "5"):
        return None
    reason = gettext_noop("it is no lock of deno")
    return problem("DEPENDENCY_INVALID", path=lock.path, text=lock.path, reason=reason)
