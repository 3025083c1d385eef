"""Why an attempt failed: its answer, its output or the platform."""

from __future__ import annotations

import pytest

from registry.packages.problems import code_named
from worker.executors.failure_cause import failure_cause
from worker.protocols.call import Call, Cause, Outcome, Request
from worker.protocols.outcome import interpret
from worker.run_views.cause import cause_of, cause_text
from worker.run_views.documents import run_document
from worker.sandbox.policy import SandboxResult
from worker.service.inline import execute_here

TRACE = b"""Traceback (most recent call last):
  File "/skill/scripts/a.py", line 7, in <module>
    raise ValueError("no column 'date'")
ValueError: no column 'date'
"""
pytestmark = pytest.mark.row("B3", "P5")


def result_of(stderr=b"", stdout=b"", *, exit_code=1, signal=None, ending="exited", channel=b"", detail=""):
    code = None if signal else exit_code
    return SandboxResult(ending, code, signal, stdout, stderr, channel, 1.0, "bwrap", {}, detail)


def cause_in(result, protocol="script"):
    call = Call(protocol, "scripts/a.py", ("python",), request=Request(action="read"))
    return failure_cause(interpret(call, result), result)


def test_success_has_no_cause():
    assert cause_in(result_of(TRACE, exit_code=0)) is None


@pytest.mark.parametrize("protocol", ["script", "stdin_json", "execute", "abp"])
def test_exception_in_stderr_is_the_cause(protocol):
    assert cause_in(result_of(TRACE), protocol) == Cause("ValueError", "no column 'date'", "scripts/a.py", 7)


def test_answered_error_is_the_cause():
    answer = b'{"success": false, "error": {"code": "DATA_NOT_FOUND", "message": "no such city"}}'
    cause = Cause("DATA_NOT_FOUND", "no such city")
    assert cause_in(result_of(b"looking up\nstopped\n", answer), "stdin_json") == cause


def test_answered_error_has_the_place_of_its_exception():
    answer = b'{"success": false, "error": "can\'t read: no column \'date\'"}'
    cause = Cause("ValueError", "can't read: no column 'date'", "scripts/a.py", 7)
    assert cause_in(result_of(TRACE, answer), "stdin_json") == cause


def test_error_in_the_last_line_of_stdout_is_the_cause():
    assert cause_in(result_of(b"stopped", b'{"error": "no such city"}')) == Cause("", "no such city")


def test_thrown_error_has_the_place_in_its_stack():
    channel = (
        b'{"thrown": {"name": "TypeError", "message": "rows is not iterable", "stack": '
        b'"TypeError: rows is not iterable\\n    at execute (file:///skill/scripts/a.mjs:3:9)"}}'
    )
    cause = Cause("TypeError", "rows is not iterable", "scripts/a.mjs", 3)
    assert cause_in(result_of(channel=channel), "execute") == cause


def test_limit_is_the_cause_in_spite_of_an_earlier_exception():
    cause = cause_in(result_of(TRACE, signal=9, ending="timed_out", detail="30 s"))
    assert cause == Cause("TIMEOUT", "the script was stopped at its time limit (30 s)")


def test_signal_is_the_cause_unless_stderr_has_an_error():
    signal = Cause("SCRIPT_FAILED", "the script was ended by signal 11")
    assert cause_in(result_of(b"step 3 of 9\n", signal=11)) == signal
    fatal = b"Fatal Python error: Segmentation fault\n"
    assert cause_in(result_of(fatal, signal=11)) == Cause("", "Fatal Python error: Segmentation fault")


def test_silent_failure_names_the_exit_code():
    assert cause_in(result_of(exit_code=3)) == Cause("SCRIPT_FAILED", "the script ended with exit code 3")


def test_refusal_without_sandbox_is_the_cause():
    outcome = Outcome(success=False, failure_code="WORKER_ERROR", message="the worker failed")
    assert failure_cause(outcome, None) == Cause("WORKER_ERROR", "the worker failed")


def test_long_message_is_cut():
    cause = cause_in(result_of(b"error: " + b"x" * 100_000))
    assert cause is not None
    assert len(cause.message) == 500
    assert cause.message.endswith("xx…")


BROKEN = """
    def load(path):
        raise ValueError("no column 'date'")
    load("data.csv")
"""


@pytest.mark.django_db
def test_run_stores_its_cause(publish_skill, queue_run, actor_of, alice):
    run = execute_here(queue_run(publish_skill("broken", BROKEN)))
    assert cause_of(run) == Cause("ValueError", "no column 'date'", "scripts/broken.py", 3)
    assert cause_text(run) == "ValueError: no column 'date'"
    document = run_document(run, actor=actor_of(alice))
    place = {"file": "scripts/broken.py", "line": 3}
    remedy = {"remedy": code_named("SCRIPT_FAILED").remedy}
    assert document["cause"] == {"type": "ValueError", "message": "no column 'date'", **place, **remedy}
    assert document["message"] == "the script ended with exit code 1"


@pytest.mark.django_db
def test_author_who_cannot_read_a_run_sees_no_cause(publish_skill, queue_run, actor_of, alice, charlie):
    version = publish_skill("broken", BROKEN, visibility="site")
    run = execute_here(queue_run(version, by=charlie))
    assert "cause" not in run_document(run, actor=actor_of(alice))


@pytest.mark.django_db
def test_succeeded_and_cancelled_runs_have_no_cause(hello, queue_run):
    run = execute_here(queue_run(hello))
    assert (run.cause, cause_of(run), cause_text(run)) == ({}, None, "")
    run.status, run.failure_code = "cancelled", "CANCELLED"
    assert cause_of(run) is None


@pytest.mark.django_db
def test_lost_run_has_the_message_of_its_code(hello, queue_run):
    run = queue_run(hello)
    run.status, run.failure_code = "lost", "WORKER_LOST"
    cause = cause_of(run)
    assert cause is not None
    assert cause.type == "WORKER_LOST"
    assert cause_text(run) == cause.message != ""
