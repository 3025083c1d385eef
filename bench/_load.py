"""Measures servers with ``wrk``: requests per second, and CPU time of the server per request."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

_TIMEOUT_S = 60
_SUMMARY = re.compile(r"(\d+) requests in ([\d.]+)(m?s)")
_FAILED = re.compile(r"Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)")
_SCRIPT = """
local paths, at = {}, 0
for path in io.lines("%s") do paths[#paths + 1] = path end
function request() at = at %% #paths + 1; return wrk.format("GET", paths[at]) end
"""


@dataclass(frozen=True)
class Read:
    """One kind of request. Several ``paths`` are requested in turn."""

    name: str
    server: str
    paths: tuple[str, ...]
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 200


class Server:
    """A server process with its children on the given processors; ``close`` stops them."""

    def __init__(self, command, *, port, cores, log, environment=None, cwd=None):
        self.port, self.log = port, Path(log)
        with self.log.open("wb") as file:
            self.process = subprocess.Popen(
                command,
                cwd=cwd,
                env={**os.environ, **(environment or {})},
                stdout=file,
                stderr=file,
                start_new_session=True,
                preexec_fn=lambda: os.sched_setaffinity(0, cores),
            )

    def wait(self, answers):
        """Waits until ``answers()`` is true. Raises RuntimeError if the server ends or does not answer."""
        deadline = time.monotonic() + _TIMEOUT_S
        while not _succeeds(answers):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server does not answer: {self.log.read_text()[-2000:]}")
            time.sleep(0.1)
        return self

    def cpu_s(self):
        return sum(_cpu_s(pid) for pid in _family(self.process.pid))

    def rss_mb(self):
        pages = sum(
            int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in _family(self.process.pid)
        )
        return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def has_wrk():
    return shutil.which("wrk") is not None


def measure(read, server, *, seconds, connections, cores, folder):
    """The requests per second, the CPU milliseconds per request, and the number of responses that are not 2xx
    or 3xx.
    """
    used = server.cpu_s()
    ended = subprocess.run(
        _command(read, server.port, seconds, connections, folder),
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )
    used = server.cpu_s() - used
    found = _SUMMARY.search(ended.stdout)
    count, took = int(found[1]), float(found[2]) / (1000 if found[3] == "ms" else 1)
    failed = sum(int(number or 1) for number, _ in _FAILED.findall(ended.stdout))
    return {"rate": count / took, "cpu_ms": used * 1000 / max(count, 1), "failed": failed}


def _command(read, port, seconds, connections, folder):
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s"]
    command += [part for name, value in read.headers.items() for part in ("-H", f"{name}: {value}")]
    if len(read.paths) > 1:
        paths = Path(folder, "paths.txt")
        paths.write_text("\n".join(read.paths))
        script = Path(folder, "paths.lua")
        script.write_text(_SCRIPT % paths)
        command += ["-s", str(script)]
    return [*command, f"http://127.0.0.1:{port}{read.paths[0]}"]


def spread(values):
    """The median, minimum and maximum."""
    ordered = sorted(values)
    return {"median": ordered[len(ordered) // 2], "min": ordered[0], "max": ordered[-1]}


def _succeeds(answers):
    try:
        return answers()
    except (OSError, json.JSONDecodeError):
        return False


def _family(pid):
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(each for child in children for each in _family(int(child)))]


def _cpu_s(pid):
    """CPU time of the process in all threads, in seconds, with nanosecond resolution."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            total += int((task / "schedstat").read_text().split()[0])
        except FileNotFoundError:  # the thread has ended
            continue
    return total / 1e9
