"""Finds syntax errors of shell scripts with ``bash -n``, which parses a script without running it."""

from __future__ import annotations

import re
import tempfile
from functools import lru_cache
from pathlib import Path

from worker.sandbox.runtimes import installed
from worker.script_checks.parsers import SyntaxFault, interpreter_label, parse_with

_ERROR = re.compile(r"^script\.sh: line (\d+): (.*)$", re.MULTILINE)


@lru_cache(maxsize=16)  # each entry keeps a script of up to 256 kB
def find_fault(data: bytes) -> SyntaxFault | None:
    """The first syntax error; None if there is none, or if bash is not installed."""
    bash = installed().get("bash")
    if bash is None:
        return None
    with tempfile.TemporaryDirectory(prefix="skillquay-check-") as name:
        Path(name, "script.sh").write_bytes(data)
        command = (str(bash.program), "--norc", "--noprofile", "-n", "script.sh")
        _status, _output, errors = parse_with(command, Path(name))
    found = _ERROR.search(errors)
    return found and SyntaxFault(int(found[1]), found[2], interpreter_label("bash", "bash"))
