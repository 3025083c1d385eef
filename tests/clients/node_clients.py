"""Installs clients from npm, each in a folder of its own next to the virtual environment's packages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

NODE_22 = "node@22.23.3"  # for clients that need a newer Node.js than Debian's
_FOLDER = Path(sys.prefix, "clients")


@dataclass(frozen=True)
class NodeClient:
    """A client's program and the interpreter that starts it."""

    interpreter: Path
    program: Path

    def run(self, *arguments: str, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs it in ``home/project`` without a terminal, with a home folder of its own."""
        return subprocess.run(
            [self.interpreter, self.program, *arguments],
            cwd=_project(home),
            env=_environment(home, environment),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=90,
        )

    def start(self, *arguments: str, home: Path, **environment: str) -> subprocess.Popen[str]:
        """Starts it like ``run``, and returns at once. Its output, errors included, is ``stdout``."""
        return subprocess.Popen(
            [self.interpreter, self.program, *arguments],
            cwd=_project(home),
            env=_environment(home, environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


def _project(home: Path) -> Path:
    project = home / "project"
    project.mkdir(parents=True, exist_ok=True)
    return project


def _environment(home: Path, more: Mapping[str, str]) -> dict[str, str]:
    quiet = {"CI": "1", "NO_COLOR": "1", "DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}
    return {**os.environ, **quiet, "HOME": str(home), **more}


def install(package: str, program: str, *, needs: str = "") -> NodeClient:
    """The client ``name@version``, installed at the first call. ``needs`` is another package, such as its own
    Node.js. Skips if the machine has no npm.
    """
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("npm and Node.js are not installed")
    folder = _FOLDER / package.replace("/", "+")
    if not (folder / "installed").exists():
        folder.mkdir(parents=True, exist_ok=True)
        argv = [npm, "install", "--prefix", str(folder), "--no-fund", "--no-audit", package, *needs.split()]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-2000:]
        (folder / "installed").touch()
    modules = folder / "node_modules"
    interpreter = modules / ".bin/node" if needs.startswith("node@") else Path(node)
    return NodeClient(interpreter, modules / package.rpartition("@")[0] / program)
