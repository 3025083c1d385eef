"""Starts interpreters that only parse a script, with limits."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from worker.sandbox.runtimes import version

_SECONDS = 5.0
_MAX_CPU_S = 3
_LIMITED = ("/bin/sh", "-c", f'ulimit -t {_MAX_CPU_S}; exec "$@"', "sh")


@dataclass(frozen=True)
class SyntaxFault:
    """The first syntax error of a script, and the interpreter that found it, such as "Python 3.11.7"."""

    line: int | None
    reason: str
    interpreter: str


def interpreter_label(name: str, label: str) -> str:
    return f"{label} {version(name)}".strip()


def parse_with(command: Sequence[str], folder: Path, **environment: str) -> tuple[int, str, str]:
    """The exit status, stdout and stderr of an interpreter that parses files in ``folder``.

    Returns ``(0, "", "")`` if the interpreter could not start or did not end in time.
    """
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C", "NO_COLOR": "1", **environment}
    try:
        ended = subprocess.run(
            [*_LIMITED, *command],
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (subprocess.TimeoutExpired, OSError):
        return 0, "", ""
    return ended.returncode, ended.stdout.decode("utf-8", "replace"), ended.stderr.decode("utf-8", "replace")
