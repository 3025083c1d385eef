"""execute() modules: TypeScript on deno, JavaScript on node, Python."""

from __future__ import annotations

import json

import pytest

from tests.worker.protocols.running import call
from worker.protocols.call import Call
from worker.protocols.outcome import interpret
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import SandboxResult


def returned(value, **more):
    channel = value if isinstance(value, bytes) else json.dumps({"returned": value}).encode()
    ended = SandboxResult("exited", more.pop("exit_code", 0), None, b"", b"", channel, 0.1, "bwrap", {})
    return interpret(Call("execute", "scripts/execute.ts", (), channel=True), ended, **more)


ECHO = {
    "ts": """
import { tag, Kind } from "./helpers/tag.ts";
console.log('{"success": false}');
export async function execute(parameters: unknown, context?: any, config?: unknown) {
  return { output: { parameters, context, config, tag: tag(Kind.B) }, format: "object", status: "success" };
}
""",
    "js": """
const { tag } = require("./helpers/tag.js");
console.log('{"success": false}');
exports.execute = (parameters, context, config) =>
  ({ output: { parameters, context, config, tag: tag(1) }, format: "object", status: "success" });
""",
    "py": """
from helpers.tag import tag
print('{"success": false}')
def execute(parameters, context=None, config=None):
    output = {"parameters": parameters, "context": context, "config": config, "tag": tag(1)}
    return {"output": output, "format": "object", "status": "success"}
""",
}
HELPERS = {
    "ts": "export enum Kind { A, B }\nexport const tag = (kind: Kind): string => `tag ${kind}`;\n",
    "js": "exports.tag = (kind) => `tag ${kind}`;\n",
    "py": "def tag(kind):\n    return f'tag {kind}'\n",
}


@pytest.mark.row("C8")
@pytest.mark.parametrize("language", ECHO)
def test_parameters_context_and_config_arrive_and_prints_are_log(language, tmp_path):
    files = {
        f"scripts/execute.{language}": ECHO[language],
        f"scripts/helpers/tag.{language}": HELPERS[language],
    }
    context = {"user_id": "u", "household_id": "h", "session_id": "s", "request_id": "r"}
    ran = call(files, tmp_path, inputs={"键": [1, None]}, context=context, config={"ttl": 1})
    camel = {"userId": "u", "householdId": "h", "sessionId": "s", "requestId": "r"}
    assert ran.outcome.output == {
        "parameters": {"键": [1, None]},
        "context": context | camel,
        "config": {"ttl": 1},
        "tag": "tag 1",
    }, ran.ended
    assert ran.outcome.success
    assert ran.ended.stdout == b'{"success": false}\n'


THROWS = {
    "ts": """
export async function execute() {
  const error = new RangeError("off");
  const step = { stepId: "1", stepName: "first", input: 1, output: null, duration: 2, error };
  throw Object.assign(new TypeError("no good"), { intermediateSteps: [step] });
}
""",
    "js": """
export function execute() {
  const error = new RangeError("off");
  const step = { stepId: "1", stepName: "first", input: 1, output: null, duration: 2, error };
  throw Object.assign(new TypeError("no good"), { steps: [step] });
}
""",
    "py": """
class TypeError(Exception): pass
class RangeError(Exception): pass
async def execute(parameters):
    error = TypeError("no good")
    step = {"stepId": "1", "stepName": "first", "input": 1, "output": None, "duration": 2}
    step["error"] = RangeError("off")
    error.intermediate_steps = [step]
    raise error
""",
}


@pytest.mark.row("C8", "C11")
@pytest.mark.parametrize("language", THROWS)
def test_what_is_thrown_fails_the_run_and_keeps_its_steps(language, tmp_path):
    found = call({f"scripts/execute.{language}": THROWS[language]}, tmp_path).outcome
    assert (found.success, found.failure_code, found.message) == (False, "INTERNAL_ERROR", "no good")
    assert found.error["details"]["name"] == "TypeError"
    assert "execute" in found.error["details"]["stack"]
    [step] = found.steps
    assert (step.step_id, step.name, step.input, step.duration_ms) == ("1", "first", 1, 2.0)
    assert (step.error["name"], step.error["message"]) == ("RangeError", "off")


@pytest.mark.row("B3", "C8")
def test_a_standard_code_on_what_is_thrown_is_the_failure_code(tmp_path):
    source = 'exports.execute = () => { throw Object.assign(new Error("x"), { code: "DATA_NOT_FOUND" }) }'
    assert call({"scripts/execute.js": source}, tmp_path).outcome.failure_code == "DATA_NOT_FOUND"


ODD_JS = """
export function execute() {
  const ring = { name: "ring" }; ring.self = ring;
  const shared = { n: 1 };
  return { output: {
    big: 12n, nan: NaN, inf: [-Infinity], date: new Date(0), map: new Map([["a", new Set([1])]]),
    none: undefined, list: [undefined, () => 1], bytes: new Uint8Array([1, 2]), ring,
    twice: [shared, shared], error: new Error("e"),
    proto: JSON.parse('{"__proto__": 1}'), own: { toJSON: () => "json" },
  } };
}
"""
ODD = {
    "big": "12", "nan": None, "inf": [None], "date": "1970-01-01T00:00:00.000Z", "map": {"a": [1]},
    "list": [None, None], "bytes": "AQI=", "ring": {"name": "ring", "self": "[circular]"},
    "twice": [{"n": 1}, {"n": 1}], "proto": {"__proto__": 1}, "own": "json",
}  # fmt: skip


@pytest.mark.row("C8")
@pytest.mark.parametrize("language", ["ts", "js"])
def test_what_json_cannot_say_follows_the_rules_in_javascript(language, tmp_path):
    found = call({f"scripts/execute.{language}": ODD_JS}, tmp_path).outcome
    error = found.output.pop("error")
    assert (error["name"], error["message"]) == ("Error", "e")
    assert found.output == ODD
    assert "/output/nan: NaN became null" in found.warnings


ODD_PY = """
import datetime, decimal, enum, pathlib, dataclasses
class Kind(enum.Enum):
    A = "a"
@dataclasses.dataclass
class Point:
    x: int
def execute(parameters):
    ring = {}; ring["self"] = ring
    return {"output": {"nan": float("nan"), "date": datetime.date(2026, 1, 2), "set": {3},
        "bytes": b"\\x01\\x02", "kind": Kind.A, "point": Point(1), "path": pathlib.Path("/a"),
        "decimal": decimal.Decimal("1.10"),
        "ring": ring, 5: object}, "memory_writes": [], "token_usage": 3}
"""


@pytest.mark.row("C8")
def test_what_json_cannot_say_follows_the_rules_in_python(tmp_path):
    found = call({"scripts/execute.py": ODD_PY}, tmp_path).outcome
    assert found.output == {
        "nan": None, "date": "2026-01-02", "set": [3], "bytes": "AQI=", "kind": "a",
        "point": {"x": 1}, "path": "/a",
        "decimal": "1.10", "ring": {"self": "[circular]"}, "5": "<class 'object'>",
    }  # fmt: skip
    assert found.token_usage == 3


@pytest.mark.row("C8")
@pytest.mark.parametrize(
    ("name", "source", "code"),
    [
        ("execute.ts", "export const other = 1;", "EXECUTE_MISSING"),
        ("execute.py", "other = 1", "EXECUTE_MISSING"),
        ("execute.js", "exports.other = 1", "EXECUTE_MISSING"),
        ("execute.ts", "export function execute( {", "INTERNAL_ERROR"),
        ("execute.py", "def execute(:", "INTERNAL_ERROR"),
        ("execute.js", 'import "./gone.js"; export const execute = 1', "INTERNAL_ERROR"),
        ("execute.ts", "export function execute() { Deno.exit(0) }", "INVALID_JSON"),
        ("execute.py", "import sys\ndef execute(): sys.exit(3)", "INTERNAL_ERROR"),
        ("execute.js", "exports.execute = () => new Promise(() => {})", "INTERNAL_ERROR"),
        ("execute.js", "exports.execute = () => { throw null }", "INTERNAL_ERROR"),
        ("execute.ts", 'import "npm:left-pad"; export const execute = () => 1', "INTERNAL_ERROR"),
        ("execute.ts", 'import "https://example.com/x.ts"; export const execute = () => 1', "INTERNAL_ERROR"),
    ],
)
def test_a_module_that_does_not_answer_fails_with_a_code(name, source, code, tmp_path):
    found = call({f"scripts/{name}": source}, tmp_path).outcome
    assert (found.failure_code, found.success) == (code, False)
    assert found.message


@pytest.mark.row("C8")
def test_open_timers_do_not_hold_a_finished_run(tmp_path):
    source = (
        "export function execute() { setInterval(() => {}, 1000); return { output: 'x'.repeat(300000) } }"
    )
    found = call({"scripts/execute.ts": source}, tmp_path, limits=Limits(timeout_s=10)).outcome
    assert (found.failure_code, len(found.output or "")) == ("", 300_000)


@pytest.mark.row("C8")
def test_every_field_of_the_outcome_is_taken():
    found = returned(
        {
            "output": "hi", "format": "markdown", "status": "success", "message": "m", "tokenUsage": 12,
            "warnings": ["w"],
            "memoryWrites": [
                {"ownerType": "user", "ownerId": "u", "type": "fact", "importance": 5, "content": "c"}
            ],
            "intermediateSteps": [{"stepId": "a", "stepName": "A", "duration": 1.5, "timestamp": 1e12}],
        }
    )  # fmt: skip
    assert (found.output, found.format, found.message, found.token_usage) == ("hi", "markdown", "m", 12)
    assert found.warnings == ("w",)
    assert found.memory_writes[0]["metadata"] == {}
    assert (found.steps[0].duration_ms, found.steps[0].timestamp) == (1.5, 1e12)


@pytest.mark.row("C8")
@pytest.mark.parametrize("value", [None, 1, "text", [1], {"answer": 1}])
def test_a_bare_value_is_the_output_with_a_warning(value):
    found = returned(value)
    assert (found.success, found.output) == (True, value)
    assert len(found.warnings) == 1


@pytest.mark.row("C8")
@pytest.mark.parametrize("status", ["error", "failed", "Failure"])
def test_a_status_of_failure_fails_the_run(status):
    assert returned({"output": 1, "status": status}).failure_code == "SCRIPT_FAILED"
    named = returned({"output": {"error": {"code": "DATA_NOT_FOUND", "message": "m"}}, "status": status})
    assert (named.failure_code, named.message) == ("DATA_NOT_FOUND", "m")
    assert returned({"output": 1, "status": "partial"}).metadata == {"status": "partial"}


@pytest.mark.row("C10")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("ownerType", "world"), ("ownerId", 7), ("ownerId", "x" * 201), ("type", "rumour"),
        ("importance", 0), ("importance", 6), ("importance", True), ("importance", "3"),
        ("importance", None), ("content", ""), ("content", "x" * 4_001),
    ],
)  # fmt: skip
def test_a_memory_write_that_is_not_whole_is_dropped_with_a_warning(field, value):
    write = {"ownerType": "task", "ownerId": "t", "type": "event", "importance": 1, "content": "c"}
    found = returned({"output": 1, "memoryWrites": [write, {**write, field: value}, 7]})
    assert [one["ownerType"] for one in found.memory_writes] == ["task"]
    assert len(found.warnings) == 2


@pytest.mark.row("C5")
def test_the_output_is_held_to_its_schema():
    assert returned({"output": 1}, output_schema={"type": "integer"}).success
    assert returned({"output": "1"}, output_schema={"type": "integer"}).failure_code == "OUTPUT_INVALID"


@pytest.mark.row("C8")
@pytest.mark.parametrize("channel", [b"", b"\xff\xfe", b"[]", b'{"returned": NaN}', b'{"returned": 1'])
def test_a_broken_channel_is_no_answer(channel):
    assert returned(channel).failure_code == "INVALID_JSON"
    assert returned(channel, exit_code=1).failure_code == "INTERNAL_ERROR"


@pytest.mark.row("C8")
@pytest.mark.parametrize(
    "forged", [{"thrown": 1}, {"missing": 1}, {"notes": 1, "returned": 1}, {"thrown": {}, "steps": 5}]
)
def test_a_forged_channel_harms_nobody(forged):
    returned(json.dumps(forged).encode())


@pytest.mark.row("C11")
def test_steps_keep_the_error_stack_and_the_timestamp():
    error = {"name": "TypeError", "message": "no", "stack": "at main.ts:3"}
    step = {
        "stepId": "s-7",
        "stepName": "Read",
        "duration": 3,
        "timestamp": 1_700_000_000_000,
        "error": error,
    }
    (kept,) = returned({"output": 1, "status": "success", "intermediateSteps": [step]}).steps
    assert (kept.step_id, kept.timestamp, kept.error) == ("s-7", 1_700_000_000_000.0, error)
