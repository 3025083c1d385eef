"""Installs clients from PyPI, each in a virtual environment of its own next to the clients from npm."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path


def install(package: str) -> Path:
    """The folder of the programs of ``name==version``, installed at the first call."""
    folder = Path(sys.prefix, "clients", package)
    if not (folder / "installed").exists():
        venv.create(folder, with_pip=True, clear=True)
        argv = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", package]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr[-2000:]
        (folder / "installed").touch()
    return folder / "bin"
