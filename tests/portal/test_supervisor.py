"""The supervisor: dead children return, the log is harmless, TERM ends all."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from portal.supervisor import Supervisor, escape

pytestmark = pytest.mark.row("P9", "B6")

SITE = """
import sys
from pathlib import Path
from portal.supervisor import Program, Supervisor
programs = [Program("a", [sys.executable, "-c", {a!r}]), Program("b", [sys.executable, "-c", {b!r}])]
Supervisor(programs, folder=Path("."), grace_s={grace}).run()
"""
SLEEP = "import time; print('awake', flush=True); time.sleep(60)"


def _start(tmp_path, a=SLEEP, b=SLEEP, grace=5):
    log = open(tmp_path / "log", "wb")  # noqa: SIM115 - the process writes to it
    process = subprocess.Popen([sys.executable, "-c", SITE.format(a=a, b=b, grace=grace)], stderr=log)
    log.close()
    return process, tmp_path / "log"


def _wait_for(condition, seconds=15):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def _pids(log, name):
    return [int(pid) for pid in re.findall(rf"{name} started, pid (\d+)", log.read_text())]


def _alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_control_characters_of_a_script_are_escaped():
    assert escape(b"\x1b[2Jred\x07 \xff \xe4\xb8\xad\tx") == "\\x1b[2Jred\\x07 \\\\xff 中\tx".replace(
        "\\\\", "\\"
    )
    assert escape("a\u202eb".encode()) == "a\\u202eb"


def test_a_dead_child_comes_back_and_its_last_words_are_kept(tmp_path):
    process, log = _start(tmp_path, b="print('it is all', end=' over')")
    try:
        first = _wait_for(lambda: _pids(log, "a"))[0]
        os.kill(first, signal.SIGKILL)
        assert _wait_for(lambda: _pids(log, "a")[1:])[0] != first
        assert "a was ended by SIGKILL; back in 1 s" in log.read_text()
        ended = r" b +it is all over\n\S+ up +b ended with status 0; back in 1 s\n"
        _wait_for(lambda: re.search(ended, log.read_text()))
    finally:
        for told in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            process.send_signal(told)
        assert process.wait(10) == 0
    assert log.read_text().count("ending") == 1


def test_a_log_that_cannot_be_written_ends_nothing():
    full = open("/dev/full", "w")  # noqa: SIM115 - it cannot be closed well either
    supervisor = Supervisor([], folder=Path("."), grace_s=0, log=full)
    for _ in range(2):
        supervisor.write_log("up", "still here")
    with pytest.raises(OSError):
        full.close()


def test_term_ends_every_child_even_a_stubborn_one(tmp_path):
    stubborn = (
        "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
    )
    process, log = _start(tmp_path, b=stubborn, grace=1)
    _wait_for(lambda: "deaf" in log.read_text() and "awake" in log.read_text())
    process.terminate()
    assert process.wait(10) == 0
    assert not any(_alive(pid) for name in "ab" for pid in _pids(log, name))


def test_a_killed_supervisor_takes_its_children_along(tmp_path):
    process, log = _start(tmp_path)
    pids = _wait_for(lambda: _pids(log, "a") and _pids(log, "b") and _pids(log, "a") + _pids(log, "b"))
    process.kill()
    process.wait(10)
    _wait_for(lambda: not any(_alive(pid) for pid in pids))
