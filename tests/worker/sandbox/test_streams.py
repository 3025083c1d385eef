"""The result of a run from the statuses that its init process sent."""

from __future__ import annotations

import socket
import time

import pytest

from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import Job
from worker.sandbox.streams import ProcessIO

pytestmark = pytest.mark.row("C6")


@pytest.fixture
def process_io(tmp_path):
    ours, theirs = socket.socketpair()
    job = Job(("true",), tmp_path, tmp_path, limits=Limits())
    with ours, theirs:
        yield ProcessIO(job, ours, [0], None, time.monotonic(), 5.0, 0)


def test_start_that_failed_has_no_signal(process_io):
    process_io.status = {"failed": "no such file"}
    result = process_io.result("nsrun", {})
    assert (result.ending, result.exit_code, result.signal) == ("start_failed", None, None)
    assert result.detail == "no such file"


def test_killed_run_without_status_has_signal_9(process_io):
    process_io.reason = "timed_out"
    result = process_io.result("nsrun", {})
    assert (result.ending, result.exit_code, result.signal) == ("timed_out", None, 9)
