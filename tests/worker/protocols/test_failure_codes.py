"""Each code with which a script can end, and a case that reaches it; the nine of document B by real runs."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from importlib import import_module

import pytest

import worker.apps
from registry.packages.problems import Code, code_named
from tests.conftest import ROOT
from tests.worker.protocols.running import PLAIN, SINGLE, call
from worker.executors import run_status
from worker.executors.run_status import status_of
from worker.protocols.call import Call, Request
from worker.protocols.errors import ENDINGS, STANDARD
from worker.protocols.outcome import interpret
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import SandboxResult

pytestmark = pytest.mark.row("B3")
ASKED = Request(action="go", tool="t", inputs={"n": 1})


def outcome(protocol="script", answer=b"", *, ending="exited", exit_code=0, schema=None):
    data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    channel = protocol in ("execute", "abp")
    stdout, written = (b"", data) if channel else (data, b"")
    ended = SandboxResult(ending, exit_code, None, stdout, b"", written, 0.1, "bwrap", {})
    return interpret(
        Call(protocol, "scripts/x", (), channel=channel, request=ASKED), ended, output_schema=schema
    )


def said(code):
    return outcome("stdin_json", {"success": False, "error": {"code": code, "message": "why"}})


CASES = {
    "INVALID_JSON": lambda: outcome("stdin_json", b"no JSON"),
    "UNKNOWN_ACTION": lambda: said("UNKNOWN_ACTION"),
    "MISSING_PARAM": lambda: said("MISSING_PARAM"),
    "INVALID_PARAM": lambda: said("INVALID_PARAM"),
    "TIMEOUT": lambda: outcome(ending="timed_out", exit_code=None),
    "PERMISSION_DENIED": lambda: said("PERMISSION_DENIED"),
    "DATA_NOT_FOUND": lambda: outcome(
        "execute", {"thrown": {"name": "Error", "message": "m", "code": "DATA_NOT_FOUND"}}
    ),
    "EXTERNAL_SERVICE_ERROR": lambda: said("EXTERNAL_SERVICE_ERROR"),
    "INTERNAL_ERROR": lambda: outcome("stdin_json", b"", exit_code=1),
    "SCRIPT_FAILED": lambda: outcome(exit_code=3),
    "OUTPUT_INVALID": lambda: outcome(answer={"n": "1"}, schema={"properties": {"n": {"type": "integer"}}}),
    "OUTPUT_LIMIT": lambda: outcome(ending="output_limit", exit_code=None),
    "MEMORY_LIMIT": lambda: outcome(ending="memory_limit", exit_code=None),
    "DISK_LIMIT": lambda: outcome(ending="disk_limit", exit_code=None),
    "START_FAILED": lambda: outcome(ending="start_failed", exit_code=None),
    "EXECUTE_MISSING": lambda: outcome("execute", {"missing": ["a"]}),
    "TOOL_MISSING": lambda: outcome("abp", {"missing": ["a"]}),
}


def test_every_code_that_a_script_can_end_with_has_a_case():
    assert {code.name for code in (*STANDARD, *ENDINGS)} == set(CASES)


@pytest.mark.parametrize("code", CASES)
def test_each_code_is_reached_with_a_message_and_has_an_explanation(code):
    found = CASES[code]()
    assert (found.success, found.failure_code, found.error["code"]) == (False, code, code)
    assert found.message
    assert status_of(code) == ("timed_out" if code == "TIMEOUT" else "failed")
    assert code_named(code).message
    assert code_named(code).remedy


# Why a run ended, or was refused, comes of the floor itself; pages show it of rows that a test has written.
SHOWN_ALONE = ("portal", "browser", "protocols/test_failure_codes.py")


def declared():
    """Every code of this floor and the module that declares it."""
    for module in worker.apps._ERRORS:
        for code in vars(import_module(module)).values():
            if isinstance(code, Code):
                yield code.name, module


@cache
def named_by_tests():
    """The words in capitals that tests of what a run comes to hold, outside comments and docstrings."""
    tests = ROOT / "tests"
    found = set()
    for path in tests.rglob("test_*.py"):
        if not str(path.relative_to(tests)).startswith(SHOWN_ALONE):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.update(re.findall(r"\b[A-Z]+(?:_[A-Z]+)*\b", node.value))
    return found


def test_every_code_of_the_floor_is_reached_by_a_test_and_explained():
    documented = (ROOT / "docs/reference/errors.md").read_text()
    unreached = [(code, path) for code, path in declared() if code not in {*CASES, *named_by_tests()}]
    assert unreached == []
    assert [code for code, _path in declared() if f"| `{code}` |" not in documented] == []


def test_only_codes_that_there_are_have_a_status_of_their_own():
    assert set(run_status._STATUS) <= {code for code, _path in declared()}


SPEAKS = """import json, sys
asked = json.load(sys.stdin)
action, params = asked["action"], asked["params"]
def no(code):
    print(json.dumps({"success": False, "error": {"code": code, "message": "why"}}, indent=2))
    sys.exit(0)
if action == "silent": sys.exit(0)
if action == "break": raise RuntimeError("broken")
if action == "sleep":
    import time; time.sleep(60)
if action != "go": no("UNKNOWN_ACTION")
if "days" not in params: no("MISSING_PARAM")
if params["days"] < 0: no("INVALID_PARAM")
no(params["code"])
"""
REAL = [
    ("INVALID_JSON", "silent", {}),
    ("INTERNAL_ERROR", "break", {}),
    ("TIMEOUT", "sleep", {}),
    ("UNKNOWN_ACTION", "other", {}),
    ("MISSING_PARAM", "go", {}),
    ("INVALID_PARAM", "go", {"days": -1}),
    *((code, "go", {"days": 1, "code": code})
      for code in ("PERMISSION_DENIED", "DATA_NOT_FOUND", "EXTERNAL_SERVICE_ERROR")),
]  # fmt: skip


def test_the_real_runs_reach_all_nine():
    assert {code for code, _action, _inputs in REAL} == {code.name for code in STANDARD}


@pytest.mark.parametrize(("code", "action", "inputs"), REAL)
def test_a_real_run_reaches_it(code, action, inputs, tmp_path):
    limits = Limits(timeout_s=1 if code == "TIMEOUT" else 30)
    ran = call({"scripts/x.py": SPEAKS}, tmp_path, skill=SINGLE, action=action, inputs=inputs, limits=limits)
    assert (ran.outcome.failure_code, ran.outcome.answer["action"]) == (code, action)


@pytest.mark.row("B6")
def test_the_debug_switch_reaches_every_kind_of_script(tmp_path):
    scripts = {
        "a.sh": 'echo "{\\"debug\\": \\"$SKILL_DEBUG\\"}"',
        "b.py": "import json, os\nprint(json.dumps({'debug': os.environ.get('SKILL_DEBUG', '')}))",
        "c.js": "console.log(JSON.stringify({ debug: process.env.SKILL_DEBUG ?? '' }))",
    }
    files = {f"scripts/{name}": text for name, text in scripts.items()}
    for number, script in enumerate("abc"):
        for debug in (True, False):
            at = tmp_path / f"{number}{debug}"
            at.mkdir(mode=0o755)
            tmp_path.chmod(0o755)
            ran = call(files, at, skill=PLAIN, script=script, debug=debug)
            assert ran.outcome.outputs == {"debug": "1" if debug else ""}
