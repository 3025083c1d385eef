"""Reads the needs of a package's scripts, with limits on files, characters and time."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from registry.packages.command_lines.javascript.dialects import JAVASCRIPT_SUFFIXES, SHELL_SUFFIXES
from registry.packages.dependencies.read import Dependencies, read_dependencies
from registry.packages.needs.distributions import distribution_of
from registry.packages.needs.script_needs import ModuleNeed, ScriptNeeds, merge_modules
from registry.packages.package import PackageFile

MAX_SCRIPTS = 300
MAX_CHARACTERS = 256 * 1024
MAX_ITEMS = 100  # modules, programs, hosts or keys of a script
MAX_NAME = 200
MAX_SECONDS = 3.0  # of CPU time, so that other work on the machine changes no result

_log = logging.getLogger(__name__)


def read_needs(files: Sequence[PackageFile], scripts: Iterable[str]) -> tuple[ScriptNeeds, ...]:
    """The needs of the scripts, which are paths of ``files``. Never raises.

    Reads at most MAX_SCRIPTS scripts in about MAX_SECONDS of CPU time. If a script can't be read in time, its
    needs are marked as incomplete.
    """
    paths = sorted(set(scripts))[:MAX_SCRIPTS]
    if not paths:
        return ()
    deadline = time.thread_time() + MAX_SECONDS
    data = {file.path: file.data for file in files}
    declared = _Declared(read_dependencies(files))
    return tuple(_read(path, data, declared, deadline) for path in paths)


class _Declared:
    def __init__(self, dependencies: Dependencies) -> None:
        self.python = {str(canonicalize_name(Requirement(each.text).name)) for each in dependencies.python}
        self.node = {each.name for each in dependencies.node.packages} if dependencies.node else set()
        self.deno = set(dependencies.deno.scripts) if dependencies.deno else set()

    def complete(self, module: ModuleNeed, path: str) -> ModuleNeed:
        """The module with its distribution, and whether the package declares it.

        A script imports ``npm:`` and ``jsr:`` modules by a name that is also their declaration.
        """
        if module.ecosystem == "python":
            name = distribution_of(module.name)
            own = str(canonicalize_name(module.name.partition(".")[0]))
            is_declared = name in self.python or own in self.python
            return replace(module, distribution=name, declared=is_declared)
        is_declared = path in self.deno if module.ecosystem == "deno" else module.name in self.node
        return replace(module, distribution=module.name, declared=is_declared)


def _read(path: str, files: Mapping[str, bytes], declared: _Declared, deadline: float) -> ScriptNeeds:
    if time.thread_time() > deadline or len(files[path]) > MAX_CHARACTERS:
        return ScriptNeeds(path, complete=False)
    try:
        needs = _read_by_type(path, files, deadline)
    except Exception:  # a script that can't be read must not prevent its publication
        _log.exception("could not read the needs of %s", path)
        return ScriptNeeds(path, complete=False)
    modules = merge_modules(declared.complete(each, path) for each in needs.modules)
    return _limited(replace(needs, modules=modules))


def _read_by_type(path: str, files: Mapping[str, bytes], deadline: float) -> ScriptNeeds:
    """The needs as read by the reader for the file type. Imports each reader at its first use, because syntax
    tree parsers are large.
    """
    suffix = PurePosixPath(path).suffix
    if suffix == ".py":
        from registry.packages.needs.python.python_reader import read_python

        return read_python(path, files, deadline)
    if suffix in JAVASCRIPT_SUFFIXES:
        from registry.packages.needs.javascript_reader import read_javascript

        return read_javascript(path, files, deadline)
    if suffix in SHELL_SUFFIXES:
        from registry.packages.needs.shell_reader import read_shell

        return read_shell(path, files[path])
    return ScriptNeeds(path)


def _limited(needs: ScriptNeeds) -> ScriptNeeds:
    modules = tuple(each for each in needs.modules if len(each.name) <= MAX_NAME)
    return replace(
        needs,
        modules=modules[:MAX_ITEMS],
        programs=_sorted(needs.programs),
        first_programs=_sorted(needs.first_programs),
        hosts=_sorted(needs.hosts),
        keys=_sorted(needs.keys),
    )


def _sorted(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({each for each in values if len(each) <= MAX_NAME}))[:MAX_ITEMS]
