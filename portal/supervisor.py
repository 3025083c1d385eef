"""Supervises the site's processes: starts them, restarts them with back-off, and stops them cleanly.

Writes their output line by line to one log, with control characters escaped.
"""

import contextlib
import ctypes
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import IO

FIRST_PAUSE_S = 1.0
MAX_PAUSE_S = 30.0
HEALTHY_AFTER_S = 60.0
MAX_LINE_BYTES = 16_384  # longer lines are split
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Program:
    name: str
    argv: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Child:
    program: Program
    running: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    pause_s: float = FIRST_PAUSE_S
    start_at: float = 0.0
    tail: bytes = b""


def escape(line: bytes) -> str:
    """One log line with control characters escaped, so that scripts can't control the operator's terminal."""
    return "".join(
        c if c.isprintable() or c == "\t" else c.encode("unicode_escape").decode("ascii")
        for c in line.decode("utf-8", "backslashreplace")
    )


class Supervisor:
    """Starts, restarts and stops programs. With ``json_lines``, each line of the log is a JSON object."""

    def __init__(
        self,
        programs: Sequence[Program],
        *,
        folder: Path,
        grace_s: float,
        log: IO[str] = sys.stderr,
        json_lines: bool = False,
    ) -> None:
        self.json_lines = json_lines
        self.children = [Child(program) for program in programs]
        self.folder = folder
        self.grace_s = grace_s
        self.log = log
        self.stopping = False
        self.selector = selectors.DefaultSelector()

    def run(self) -> None:
        """Runs the programs until SIGTERM, SIGINT or SIGHUP; then stops them and returns.

        Processes that are alive after ``grace_s`` seconds are killed. Further signals have no effect.
        """
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)
        while not self.stopping:
            self._start_due()
            self._relay(timeout=0.5)
            self._reap()
        self._stop_all()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True

    def write_log(self, name: str, line: str) -> None:
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        text = _json_line(stamp, name, line) if self.json_lines else f"{stamp} {name:<7} {line}"
        with contextlib.suppress(OSError):  # the site keeps running with a full disk or a closed terminal
            print(text, file=self.log, flush=True)

    def _start_due(self) -> None:
        now = time.monotonic()
        for child in self.children:
            if child.running is None and now >= child.start_at and not self.stopping:
                self._start(child, now)

    def _start(self, child: Child, now: float) -> None:
        child.running = subprocess.Popen(
            child.program.argv,
            cwd=self.folder,
            env={**os.environ, **child.program.environment, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=terminate_with_parent(os.getpid()),
        )
        child.started_at = now
        assert child.running.stdout is not None
        os.set_blocking(child.running.stdout.fileno(), False)
        self.selector.register(child.running.stdout, selectors.EVENT_READ, child)
        self.write_log("up", f"{child.program.name} started, pid {child.running.pid}")

    def _relay(self, timeout: float) -> None:
        for key, _ in self.selector.select(timeout):
            child: Child = key.data
            if data := os.read(key.fd, 65_536):
                self._print_lines(child, data)
            else:
                self.selector.unregister(key.fileobj)

    def _print_lines(self, child: Child, data: bytes) -> None:
        *lines, child.tail = (child.tail + data).split(b"\n")
        while len(child.tail) > MAX_LINE_BYTES:
            lines.append(child.tail[:MAX_LINE_BYTES])
            child.tail = child.tail[MAX_LINE_BYTES:]
        for line in lines:
            self.write_log(child.program.name, escape(line.rstrip(b"\r")))

    def _reap(self) -> None:
        now = time.monotonic()
        for child in self.children:
            if child.running is None or child.running.poll() is None:
                continue
            healthy = child.running.returncode == 0 or now - child.started_at >= HEALTHY_AFTER_S
            child.pause_s = FIRST_PAUSE_S if healthy else child.pause_s
            child.start_at = now + child.pause_s
            ending = f"{child.program.name} {_describe_exit(child.running)}; back in {child.pause_s:.0f} s"
            child.pause_s = min(child.pause_s * 2, MAX_PAUSE_S)
            self._close(child)
            self.write_log("up", ending)

    def _close(self, child: Child) -> None:
        """Logs the remaining output, which often contains the reason of the exit, and closes the stream."""
        assert child.running is not None
        stream = child.running.stdout
        assert stream is not None
        with contextlib.suppress(BlockingIOError):  # its children may keep the other end open
            while data := os.read(stream.fileno(), 65_536):
                self._print_lines(child, data)
        if child.tail:
            self.write_log(child.program.name, escape(child.tail))
        if stream in (key.fileobj for key in self.selector.get_map().values()):
            self.selector.unregister(stream)
        stream.close()
        child.running = None
        child.tail = b""

    def _stop_all(self) -> None:
        self.write_log("up", "ending")
        alive = [child.running for child in self.children if child.running]
        for process in alive:
            process.terminate()
        deadline = time.monotonic() + self.grace_s
        while any(process.poll() is None for process in alive) and time.monotonic() < deadline:
            self._relay(timeout=0.1)
        for process in alive:
            with contextlib.suppress(ProcessLookupError):  # kills the process group, with all descendants
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.write_log("up", "ended")


def _json_line(stamp: str, name: str, line: str) -> str:
    """The program's JSON line with the program's name added; another line becomes ``message``."""
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    fields = found if isinstance(found, dict) else {"time": stamp, "message": line}
    return json.dumps({**fields, "program": name}, ensure_ascii=False)


def _describe_exit(process: subprocess.Popen[bytes]) -> str:
    code = process.returncode
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"


def terminate_with_parent(parent: int) -> Callable[[], None]:
    """A function for ``preexec_fn`` that makes the kernel send SIGTERM to the child if the supervisor
    dies.
    """
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def prepare() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)

    return prepare
