"""Measures other queues (the peers) through drivers in another interpreter that read requests line by
line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_DRIVERS = {"rq": "bench._peer_rq", "prefect": "bench._peer_prefect"}
_SLOW = 10  # Prefect gets a tenth of the runs, because a round would otherwise take minutes
_IS_INSTALLED = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"


class Peers:
    """The drivers of the peers that the interpreter can import, warmed up; none if ``interpreter`` is ""."""

    def __init__(self, interpreter: str, options: Mapping[str, Any]) -> None:
        self.drivers: dict[str, subprocess.Popen[str]] = {}
        self.kinds: dict[str, str] = {}
        self.versions: dict[str, str] = {}
        for name, module in _DRIVERS.items() if interpreter else ():
            if subprocess.run([interpreter, "-c", _IS_INSTALLED, name], check=False).returncode:
                print(f"  {name} is not importable by {interpreter}: left out", file=sys.stderr)
                continue
            self._start(name, [interpreter, "-m", module, json.dumps(options)])

    def _start(self, name: str, command: list[str]) -> None:
        kept = {key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR", "LANG") if key in os.environ}
        self.drivers[name] = subprocess.Popen(
            command,
            cwd=ROOT,
            env=kept | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        ready = self._answer(name)
        self.versions[name] = ready["version"]
        self.kinds |= dict.fromkeys(ready["kinds"], name)

    def count(self, kind: str, burst: int, processes: int) -> int:
        return max(burst // _SLOW, processes) if self.kinds[kind] == "prefect" else burst

    def rate(self, kind: str, count: int) -> float:
        """Makes the driver start ``count`` runs of a kind; returns the runs per second."""
        name = self.kinds[kind]
        stdin = self.drivers[name].stdin
        assert stdin
        stdin.write(json.dumps([kind, count]) + "\n")
        stdin.flush()
        return count / float(self._answer(name))

    def _answer(self, name: str) -> Any:
        stdout = self.drivers[name].stdout
        assert stdout
        line = stdout.readline()
        if not line:
            raise SystemExit(f"{name} has ended; what it said is above")
        return json.loads(line)

    def close(self) -> None:
        for driver in self.drivers.values():
            assert driver.stdin
            driver.stdin.close()
        for driver in self.drivers.values():
            driver.wait()
