"""Finds the remote imports of a package's TypeScript scripts by a text search. Deno resolves them later."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from registry.packages.dependencies import errors
from registry.packages.package import PackageFile
from registry.packages.problems import Problem, gettext_noop

MAX_SCRIPTS = 50  # scripts that run with Deno
_FILE_BYTES, _LOCK_BYTES = 65_536, 2 << 20
_CODE = (".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx", ".json", ".jsonc", ".wasm")
_OTHERS = ("package.json", "package-lock.json", "tsconfig.json")  # files for Node, which Deno never reads
_FOLDERS = ("", "scripts/")
_CONFIGS = ("deno.json", "deno.jsonc")
# A URL is a module only after ``from``, ``import`` or ``import(``, or in a compiler directive.
_IMPORT = re.compile(
    rb"""(?:\b(?:from|import)\b(?:\s|/\*[^*]*\*/|\()*["'`]|@(?:deno-types|ts-types|jsxImportSource)\s*=?\s*["']?"""
    rb"""|<reference\s+(?:types|path)\s*=\s*["'])((?:npm|jsr|https?):[^\s"'`<>\\]{1,500})""",
    re.IGNORECASE,
)
_IMPORT_MAP_KEY = re.compile(rb"""["'](?:imports|scopes|importMap)["']\s*:""")
_VALUE = re.compile(rb""":\s*["']((?:npm|jsr|https?):[^\s"'`<>\\]{1,500})["']""", re.IGNORECASE)
_SCHEMA = re.compile(rb"""["']\$schema["']\s*:\s*["'][^"']*["']""")


@dataclass(frozen=True)
class DenoModules:
    """The scripts that Deno starts, and the files from which Deno resolves their imports.

    ``specifiers`` has the remote imports found in the files, sorted.
    """

    scripts: tuple[str, ...]
    files: Mapping[str, bytes]  # contents by path: code, configuration and lock file
    config: str  # the path of deno.json, or ""
    lock: str  # the path of deno.lock, or ""
    specifiers: tuple[str, ...]


@dataclass(frozen=True)
class DenoResult:
    modules: DenoModules | None = None
    problems: tuple[Problem, ...] = ()


def is_deno_input(path: str) -> bool:
    """Whether Deno may read this file of a package when it loads a script."""
    return path.endswith(_CODE) or path.rpartition("/")[2] == "deno.lock"


def read_deno(files: Sequence[PackageFile], programs: Set[str] = frozenset()) -> DenoResult:
    """The modules to resolve, or problems. ``programs`` are the paths of scripts outside ``scripts/``.

    ``modules`` is None if there are no TypeScript scripts, if they have neither remote imports nor an import
    map, or if there is any problem.
    """
    scripts = sorted(file.path for file in files if _is_script(file.path, programs))
    if not scripts:
        return DenoResult()
    by_path = {file.path: file for file in files if _is_read(file.path)}
    config = _find_file("", by_path, _CONFIGS)
    lock = _find_file(config, by_path, ("deno.lock",))
    specifiers = [specifier for file in by_path.values() for specifier in _find_specifiers(file, config)]
    if not specifiers and not (config and _IMPORT_MAP_KEY.search(by_path[config].data)):
        return DenoResult()
    problems = list(_size_problems(scripts, config, lock, by_path))
    if lock and (unread := _lock_problem(by_path[lock])):
        problems.append(unread)
    if problems:
        return DenoResult(problems=tuple(problems))
    content = {path: file.data for path, file in by_path.items()}
    return DenoResult(DenoModules(tuple(scripts), content, config, lock, tuple(sorted(set(specifiers)))))


def _is_script(path: str, programs: Set[str]) -> bool:
    is_placed = path.startswith("scripts/") or path in programs
    return is_placed and path.endswith(".ts") and not path.endswith(".d.ts")


def _is_read(path: str) -> bool:
    return is_deno_input(path) and path.rpartition("/")[2] not in _OTHERS


def _find_file(config: str, by_path: Mapping[str, PackageFile], names: Sequence[str]) -> str:
    """The path of the first existing file with one of the names, or "".

    Searches the folder of ``config``. Without ``config``, searches the folder of SKILL.md, then ``scripts/``.
    """
    folders = (config.rpartition("/")[0] + "/" if "/" in config else "",) if config else _FOLDERS
    return next((path for folder in folders for name in names if (path := folder + name) in by_path), "")


def _find_specifiers(file: PackageFile, config: str) -> Iterator[str]:
    is_map = file.path == config or file.path.endswith("import_map.json")
    text = _SCHEMA.sub(b"", file.data) if is_map else file.data
    if is_map or not file.path.endswith((".json", ".jsonc", ".wasm", "deno.lock")):
        for match in (_VALUE if is_map else _IMPORT).finditer(text):
            yield match[1].decode("utf-8", "replace")


def _size_problems(
    scripts: Sequence[str], config: str, lock: str, by_path: Mapping[str, PackageFile]
) -> Iterator[Problem]:
    if len(scripts) > MAX_SCRIPTS:
        yield errors.DENO_SCRIPTS_TOO_MANY.problem(count=len(scripts), limit=MAX_SCRIPTS).at(
            scripts[MAX_SCRIPTS]
        )
    for path, limit in ((config, _FILE_BYTES), (lock, _LOCK_BYTES)):
        if path and len(by_path[path].data) > limit:
            yield errors.DEPENDENCY_FILE_LARGE.problem(limit=limit).at(path)


def _lock_problem(lock: PackageFile) -> Problem | None:
    try:
        document = json.loads(lock.data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, dict) and document.get("version") in ("3", "4", "5"):
        return None
    reason = gettext_noop("it is not a Deno lock file")
    return errors.DEPENDENCY_INVALID.problem(text=lock.path, reason=reason).at(lock.path)
