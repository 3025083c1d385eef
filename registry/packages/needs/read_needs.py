"""Reads the needs of a package's scripts, with limits on files, characters and time."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from registry.packages.needs.distributions import distribution_of
from registry.packages.needs.script_needs import ModuleNeed, ScriptNeeds, merge_modules

MAX_SCRIPTS = 300
MAX_CHARACTERS = 256 * 1024
MAX_ITEMS = 100  # modules, programs, hosts or keys of a script
MAX_NAME = 200
MAX_SECONDS = 3.0
_JAVASCRIPT = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx")
_SHELL = (".sh", ".bash")

_log = logging.getLogger(__name__)


def read_needs(files: Mapping[str, bytes], scripts: Iterable[str]) -> tuple[ScriptNeeds, ...]:
    """The needs of the scripts, which are paths of ``files``. Never raises.

    Reads at most MAX_SCRIPTS scripts in about MAX_SECONDS; a script that could not be read is incomplete.
    """
    deadline = time.monotonic() + MAX_SECONDS
    return tuple(_read(path, files, deadline) for path in sorted(set(scripts))[:MAX_SCRIPTS])


def _read(path: str, files: Mapping[str, bytes], deadline: float) -> ScriptNeeds:
    if time.monotonic() > deadline or len(files[path]) > MAX_CHARACTERS:
        return ScriptNeeds(path, complete=False)
    try:
        needs = _read_by_type(path, files, deadline)
    except Exception:  # a script that can't be read must not prevent its publication
        _log.exception("could not read the needs of %s", path)
        return ScriptNeeds(path, complete=False)
    return _limited(replace(needs, modules=merge_modules(map(_with_distribution, needs.modules))))


def _read_by_type(path: str, files: Mapping[str, bytes], deadline: float) -> ScriptNeeds:
    """The readers are imported when they are used: the parsers for syntax trees are large."""
    suffix = PurePosixPath(path).suffix
    if suffix == ".py":
        from registry.packages.needs.python.python_reader import read_python

        return read_python(path, files, deadline)
    if suffix in _JAVASCRIPT:
        from registry.packages.needs.javascript_reader import read_javascript

        return read_javascript(path, files, deadline)
    if suffix in _SHELL:
        from registry.packages.needs.shell_reader import read_shell

        return read_shell(path, files[path])
    return ScriptNeeds(path)


def _with_distribution(module: ModuleNeed) -> ModuleNeed:
    if module.ecosystem == "python":
        return replace(module, distribution=distribution_of(module.name))
    return replace(module, distribution=module.name)


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
