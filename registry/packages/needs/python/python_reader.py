"""Reads the needs of a Python script and of the package files that it imports."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from registry.packages.command_lines.python.source import parse_python
from registry.packages.needs.python.calls import PythonCalls
from registry.packages.needs.python.imports import ImportedModule, TooManyNodesError, find_imports
from registry.packages.needs.python.local_modules import LocalModules
from registry.packages.needs.script_needs import ModuleNeed, ScriptNeeds

_MAX_FILES = 60  # of the package, that one script imports
_MAX_BYTES = 256 * 1024
_STANDARD = frozenset(sys.stdlib_module_names) | {
    "__main__",
    "distutils",
    "imp",
    "asyncore",
    "asynchat",
    "cgi",
}
_SHARED = frozenset({"google", "google.cloud", "azure"})  # packages of several distributions
_MAX_NAME = 200  # characters
_NETWORK = frozenset(
    [
        "aiohttp",
        "boto3",
        "ftplib",
        "http",
        "httpx",
        "openai",
        "requests",
        "socket",
        "ssl",
        "tweepy",
        "urllib",
        "urllib3",
        "websocket",
        "websockets",
    ]
)


def read_python(path: str, files: Mapping[str, bytes], deadline: float) -> ScriptNeeds:
    """The needs of the script and of the files of the package that it imports.

    Omits the hosts if the script imports neither foreign modules nor a standard module that connects to
    hosts.
    """
    reader = _PythonReader(path, files, deadline)
    reader.read()
    modules = tuple(
        ModuleNeed(name, "python", required) for name, required in reader.modules.items() if _is_foreign(name)
    )
    calls = reader.calls
    connects = any(name.partition(".")[0] in _NETWORK for name in reader.modules)
    return ScriptNeeds(
        path,
        modules=modules,
        programs=tuple(calls.programs),
        hosts=tuple(calls.hosts) if connects or modules else (),
        keys=tuple(calls.keys),
        complete=reader.complete,
    )


class _PythonReader:
    def __init__(self, path: str, files: Mapping[str, bytes], deadline: float) -> None:
        self.path, self.files, self.deadline = path, files, deadline
        self.local = LocalModules(files)
        self.modules: dict[str, bool] = {}  # required by name
        self.calls = PythonCalls()
        self.complete = True
        self.changes_path = False

    def read(self) -> None:
        waiting: list[tuple[str, bool]] = [(self.path, True)]
        done: dict[str, bool] = {}
        while waiting:
            path, required = waiting.pop(0)
            if done.get(path) or (path in done and not required):
                continue
            if len(done) >= _MAX_FILES or time.thread_time() > self.deadline:
                self.complete = False
                return
            done[path] = required
            waiting += [
                (found, required and need) for found, need in self._read_file(path, required=required)
            ]

    def _read_file(self, path: str, *, required: bool) -> Iterator[tuple[str, bool]]:
        """Adds the needs of a file; yields the files that it imports, and whether it requires them."""
        data = self.files[path]
        tree = parse_python(data.decode("utf-8-sig", "replace")) if len(data) <= _MAX_BYTES else None
        if tree is None:
            self.complete = False
            return
        try:
            imports = find_imports(tree)
        except (TooManyNodesError, RecursionError):
            self.complete = False
            return
        self.changes_path |= b"sys.path" in data
        self.calls.read(tree)
        for each in (each for each in imports if len(each.name) <= _MAX_NAME):
            if each.level:
                found: tuple[str, ...] | None = self._relative(path, each)
            else:
                found = self._absolute(path, each)
            if found is None:
                for name in _module_names(each):
                    self.modules[name] = self.modules.get(name, False) or (required and each.required)
            for file in found or ():
                yield file, each.required

    def _absolute(self, path: str, each: ImportedModule) -> tuple[str, ...] | None:
        """The files of the package that an absolute import loads; None if the package does not have the
        module.
        """
        own = str(PurePosixPath(self.path).parent).removeprefix(".")
        folders = [own]
        if each.name.partition(".")[0] == "scripts" and self.path.startswith("scripts/"):
            folders.append("")  # the run starts the script as a module
        if self.changes_path:
            folders += sorted(self.local.folders)
        names = [each.name, *(f"{each.name}.{member}" for member in each.members)]
        found = [self.local.find(name, tuple(folders)) for name in names]
        if found[0] is None:
            return None
        return tuple(file for files in found if files for file in files if file != path)

    def _relative(self, path: str, each: ImportedModule) -> tuple[str, ...]:
        folder = PurePosixPath(path).parent
        for _level in range(each.level - 1):
            folder = folder.parent
        base = str(folder).removeprefix(".")
        names = [each.name, *(f"{each.name}.{member}".lstrip(".") for member in each.members)]
        found = [self.local.loaded_below(base, name) for name in names]
        return tuple(file for files in found for file in files if file != path)


def _module_names(each: ImportedModule) -> list[str]:
    """The module names to map to distributions. A namespace shared by several distributions, such as
    ``google.cloud``, becomes one name per imported member.
    """
    if each.name in _SHARED and each.members:
        return [f"{each.name}.{member}" for member in each.members]
    return [each.name]


def _is_foreign(name: str) -> bool:
    return bool(name) and name.partition(".")[0] not in _STANDARD
