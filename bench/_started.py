"""Starts the measured script by ``subprocess``: without a sandbox, or in bubblewrap.

Bare loops and peers call the two functions, which need only the standard library because peers have their own
interpreter. The command is in a file, so that jobs of a queue carry only its path.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any


def plain(file: str) -> bytes:
    """Runs the script without a sandbox and returns its output."""
    return _run(*_read(file, "plain"))


def bwrapped(file: str) -> bytes:
    """Runs the script in bubblewrap with its own job folder, without limits, and returns its output."""
    order = _read(file, "bwrap")
    folder = tempfile.mkdtemp(dir=order["jobs"])
    for name in ("input", "output"):
        os.mkdir(f"{folder}/{name}")
    line, open_files = [order["program"]], []
    try:
        for option in order["options"]:
            if isinstance(option, dict):
                open_files.append(_readable_fd(option["bytes"].encode("latin-1")))
                option = str(open_files[-1])
            line.append(option.replace(order["template"], folder))
        return _run([*line, "--", *order["argv"]], folder, pass_fds=open_files)
    finally:
        for each in open_files:
            os.close(each)
        shutil.rmtree(folder)


def _read(file: str, kind: str) -> Any:
    return json.loads(Path(file).read_bytes())[kind]


def _readable_fd(content: bytes) -> int:
    file = os.memfd_create("option")
    os.write(file, content)
    os.lseek(file, 0, os.SEEK_SET)
    return file


def _run(argv: list[str], cwd: str, pass_fds: list[int] | tuple[()] = ()) -> bytes:
    ended = subprocess.run(argv, cwd=cwd, env={}, capture_output=True, check=True, pass_fds=pass_fds)
    return ended.stdout
