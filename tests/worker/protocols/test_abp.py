"""Tools of protocol abp: chosen by name, held to their parameters, answered as ``{id, tool, result}``."""

from __future__ import annotations

import json

import pytest

from registry.packages.problems import Refusal
from tests.checks import not_none
from tests.worker.protocols.running import call, package_of
from worker.protocols.call import Call, Request
from worker.protocols.formats.abp import input_schema, output_schema, resolve_tool
from worker.protocols.outcome import interpret
from worker.protocols.prepare import prepare
from worker.sandbox.policy import SandboxResult

pytestmark = pytest.mark.row("C9")

SKILL = """---
name: x
description: A skill of a test.
version: 1.0.0
type: service
protocol: abp
abp:
  kind: query
  tools:
%s
capabilities: [a]
tags: [a]
triggers: {phrases: [a]}
input_schema: {type: object}
output_schema: {type: object}
security: {timeout_ms: 20000}
resources: {}
---
"""
WEATHER = """\
    - name: getWeather
      description: 获取指定城市的天气信息
      parameters:
        location: {type: string, description: 城市名称, required: true}
        unit: {type: string, required: false, default: celsius, enum: [celsius, fahrenheit]}
        days: {type: integer}
      returns: {type: object, description: 天气信息}
"""
RECORD = "    - {name: PreferenceRecorder, parameters: {content: {required: true}}}\n"
ONE, TWO = SKILL % WEATHER, SKILL % (WEATHER + RECORD)


def manifest_of(skill):
    return package_of({"scripts/execute.ts": ""}, skill).manifest


def prepared(skill=ONE, files=("scripts/execute.ts",), **request):
    package = package_of(dict.fromkeys(files, ""), skill)
    return prepare(package.paths, package.manifest, package.profile, Request(**request), read=lambda _: b"")


def refusal(skill=ONE, files=("scripts/execute.ts",), **request):
    with pytest.raises(Refusal) as refused:
        prepared(skill, files, **request)
    return refused.value


def test_the_only_tool_needs_no_name_and_several_do():
    assert prepared().request.tool == "getWeather"
    assert prepared(TWO, tool="PreferenceRecorder").request.tool == "PreferenceRecorder"
    found = refusal(TWO)
    assert found.code == "TOOL_REQUIRED"
    assert "getWeather, PreferenceRecorder" in str(found)


@pytest.mark.parametrize("tool", ["getweather", "", "execute", "__proto__", "\n", "a" * 5000])
def test_an_unknown_tool_is_refused_with_the_names_there_are(tool):
    found = refusal(TWO, tool=tool)
    assert found.code == "TOOL_UNKNOWN"
    assert "getWeather, PreferenceRecorder" in str(found)


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"tool": "getWeather", "action": "a"}, "CHOICE_AMBIGUOUS"),
        ({"tool": "getWeather", "stdin": "a"}, "STDIN_UNUSED"),
        ({"tool": "getWeather", "script": "gone"}, "SCRIPT_NOT_FOUND"),
    ],
)
def test_what_else_is_named_is_refused(request_, code):
    assert refusal(**request_).code == code


def test_the_entry_is_the_usual_one_else_the_script_of_the_tools_name():
    files = ["scripts/getWeather.py", "scripts/other.py"]
    assert prepared(TWO, files, tool="getWeather").entry == "scripts/getWeather.py"
    assert refusal(TWO, files, tool="PreferenceRecorder").code == "ENTRY_REQUIRED"
    assert prepared(TWO, files, tool="PreferenceRecorder", script="other").entry == "scripts/other.py"
    assert prepared(TWO, [*files, "scripts/execute.ts"], tool="getWeather").entry == "scripts/execute.ts"


def test_a_tool_has_a_schema_of_its_own():
    manifest = manifest_of(TWO)
    weather = not_none(input_schema(manifest, resolve_tool(manifest, Request(tool="getWeather"))))
    assert weather["required"] == ["location"]
    assert weather["properties"]["unit"]["default"] == "celsius"
    recorder = not_none(input_schema(manifest, Request(tool="PreferenceRecorder")))
    assert recorder["properties"] == {"content": {"type": "string"}}  # a parameter without a type is text
    assert output_schema(manifest, Request(tool="PreferenceRecorder")) is None
    assert not_none(output_schema(manifest, Request(tool="getWeather")))["type"] == "object"
    assert output_schema(manifest_of(SKILL % RECORD), Request(tool="PreferenceRecorder")) == {
        "type": "object"
    }


def answered(value, *, channel=True, exit_code=0, ending="exited"):
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    stdout, written = (b"", data) if channel else (data, b"")
    ended = SandboxResult(ending, exit_code, None, stdout, b"", written, 0.1, "bwrap", {})
    request = Request(tool="getWeather", context={"request_id": "abp_call_123"})
    return interpret(Call("abp", "scripts/execute.ts", (), channel=channel, request=request), ended)


def returned(value):
    return answered({"returned": value})


WHOLE = {"id": "abp_call_123", "tool": "getWeather", "result": {"output": "已记录用户偏好"}}


@pytest.mark.parametrize(
    "value",
    [
        WHOLE,
        {"tool": "getWeather", "result": {"output": "已记录用户偏好", "format": "text"}},
        {"tool": "getWeather", "result": "已记录用户偏好"},
        {"output": "已记录用户偏好", "status": "success"},
        "已记录用户偏好",
    ],
)
def test_every_way_to_answer_means_the_same(value):
    for outcome in (returned(value), answered(value, channel=False) if isinstance(value, dict) else None):
        if outcome:
            assert (outcome.success, outcome.output, outcome.answer) == (True, "已记录用户偏好", WHOLE)
            assert outcome.warnings == ()


def test_memory_writes_are_part_of_the_result():
    write = {
        "ownerType": "user",
        "ownerId": "u",
        "type": "fact",
        "importance": 3,
        "content": "c",
        "metadata": {},
    }
    result = {"output": "noted", "memoryWrites": [write]}
    outcome = returned({"tool": "getWeather", "result": result})
    assert (outcome.memory_writes, outcome.answer["result"]) == ((write,), result)


@pytest.mark.parametrize("value", [None, 0, [], {}, {"status": "open"}, {"result": 1}, {"error": None}])
def test_whatever_else_a_tool_returns_is_its_output(value):
    outcome = returned(value)
    assert (outcome.success, outcome.output) == (True, value)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({"tool": "t", "error": {"code": "DATA_NOT_FOUND", "message": "none"}}, "DATA_NOT_FOUND"),
        ({"tool": "t", "error": "none"}, "SCRIPT_FAILED"),
        ({"output": None, "status": "error", "message": "none"}, "SCRIPT_FAILED"),
        ({"status": "error", "error": {"code": "INVALID_PARAM", "message": "none"}}, "INVALID_PARAM"),
    ],
)
def test_a_tool_says_that_it_failed(value, code):
    for outcome in (returned(value), answered(value, channel=False)):
        assert (outcome.success, outcome.failure_code, outcome.message) == (False, code, "none")
        assert outcome.answer["error"]["code"] == code


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (answered(b""), "INVALID_JSON"),
        (answered(b"", exit_code=1), "INTERNAL_ERROR"),
        (answered(b"nothing", channel=False), "INVALID_JSON"),
        (answered(b"", channel=False, exit_code=3), "INTERNAL_ERROR"),
        (answered(WHOLE, channel=False, exit_code=3), "INTERNAL_ERROR"),
        (answered({"missing": ["a"]}), "TOOL_MISSING"),
        (answered({"thrown": {"name": "Error", "message": "m", "code": "DATA_NOT_FOUND"}}), "DATA_NOT_FOUND"),
        (answered({"thrown": {"name": "Error", "message": "m", "code": "EX"}}), "INTERNAL_ERROR"),
        (answered(b"", ending="timed_out"), "TIMEOUT"),
    ],
)
def test_a_tool_that_gives_no_answer_has_a_code(answer, code):
    assert (answer.success, answer.failure_code) == (False, code)


TOOLS = {
    "ts": "export function getWeather(p: any, context: any) "
    "{ return { given: p, tool: context.tool, id: context.id }; }\n",
    "js": "exports.execute = (p, context) => "
    "({ output: { given: p, tool: context.tool, id: context.id } });\n",
    "py": "def getWeather(p, context):\n"
    "    return {'given': p, 'tool': context['tool'], 'id': context['id']}\n",
    "sh": 'read -r asked\nprintf \'{"tool": "getWeather", "result": {"output": {"asked": %s}}}\' "$asked"\n',
}


@pytest.mark.parametrize("language", TOOLS)
def test_a_tool_is_a_function_an_execute_or_a_script(language, tmp_path):
    hostile = "\"'$(id) \\ \n🙂"
    path = f"scripts/main.{language}"
    ran = call(
        {path: TOOLS[language]},
        tmp_path,
        skill=ONE,
        tool="getWeather",
        inputs={"location": hostile},
        context={"request_id": "abp_call_123"},
    )
    assert ran.outcome.success, (ran.outcome, ran.ended.stderr.decode())
    given = ran.outcome.output.get("asked") or ran.outcome.output
    assert (given["tool"], given["id"]) == ("getWeather", "abp_call_123")
    assert (given.get("parameters") or given["given"]) == {"location": hostile, "unit": "celsius"}
