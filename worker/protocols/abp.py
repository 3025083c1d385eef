"""Protocol ABP: one tool called by name; its answer is ``{id, tool, result{output, memoryWrites}}``.

A module exports a function of the tool's name, else ``execute``; any other script reads the call on stdin.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from registry.packages.package import Manifest
from registry.packages.problems import refuse
from registry.packages.tools import Tool, tools_of
from worker.protocols import execute_module
from worker.protocols.answers import answer_of
from worker.protocols.call import Call, Outcome, Request
from worker.protocols.entries import speaks_abp
from worker.protocols.execute_module import FAILING, failed, format_of, returned
from worker.protocols.stdin_json import how
from worker.sandbox.policy import Ended


def with_tool(manifest: Manifest, request: Request) -> Request:
    """The request with the tool that it means: the named one, else the only one that there is."""
    if request.tool is None and not speaks_abp(manifest):
        return request
    names = [tool.name for tool in tools_of(manifest.abp)]
    if request.tool is None and not names:
        raise refuse("TOOLS_UNDECLARED", path="tool")
    if request.tool is None and len(names) > 1:
        raise refuse("TOOL_REQUIRED", path="tool", names=", ".join(names))
    if request.tool is not None and request.tool not in names:
        raise refuse(
            "TOOL_UNKNOWN", path="tool", tool=ascii(request.tool[:80]), names=", ".join(names) or "-"
        )
    return replace(request, tool=request.tool or names[0])


def input_schema(manifest: Manifest, request: Request) -> Mapping[str, Any] | None:
    """What the inputs of this call are held to: the tool's parameters, else the manifest's schema."""
    tool = _tool(manifest, request)
    return tool.schema if tool else manifest.input_schema


def output_schema(manifest: Manifest, request: Request) -> Mapping[str, Any] | None:
    """What the output is held to; the manifest's schema speaks for a tool only where there is one alone."""
    tool = _tool(manifest, request)
    if tool is None:
        return manifest.output_schema
    return tool.returns or (manifest.output_schema if len(tools_of(manifest.abp)) == 1 else None)


def _tool(manifest: Manifest, request: Request) -> Tool | None:
    return next((tool for tool in tools_of(manifest.abp) if tool.name == request.tool), None)


def request_bytes(request: Request) -> bytes:
    """The call as a script reads it that is no module."""
    document = {
        "id": request.context.get("request_id", ""),
        "tool": request.tool,
        "parameters": dict(request.inputs),
        "context": execute_module.context_of(request),
        "config": dict(request.config),
    }
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")


def interpret(call: Call, ended: Ended) -> Outcome:
    """What the tool answered, with the whole answer in the protocol's shape."""
    outcome = (
        execute_module.interpret(ended, read=_read, missing="TOOL_MISSING") if call.channel else _said(ended)
    )
    return replace(outcome, answer=_answer(call.request, outcome))


def _said(ended: Ended) -> Outcome:
    answer = answer_of(ended.stdout.decode("utf-8", "replace"))
    if answer is None:
        code = "INVALID_JSON" if ended.exit_code == 0 else "INTERNAL_ERROR"
        return failed(code, f"{how(ended)} and no JSON answer", {})
    outcome = _read(answer, ())
    if outcome.success and ended.exit_code != 0:
        told = failed("INTERNAL_ERROR", f"a result was answered, but {how(ended)}", {"answer": answer})
        return replace(outcome, success=False, failure_code="INTERNAL_ERROR", **_words(told))
    return outcome


def _words(outcome: Outcome) -> dict[str, Any]:
    return {"message": outcome.message, "error": outcome.error}


def _read(value: Any, notes: tuple[str, ...]) -> Outcome:
    """A whole answer, its ``result`` alone, a SkillExecutionOutcome, or the output itself."""
    if isinstance(value, Mapping) and "tool" in value and {"result", "error"} & value.keys():
        result = value.get("result")
        if error := value.get("error"):
            rest = result if isinstance(result, Mapping) else {"output": result}
            return returned({**rest, "status": "error", "error": error}, notes, abp=True)
        value = result
    if isinstance(value, Mapping) and ("output" in value or _says_failure(value)):
        return returned(value, notes, abp=True)
    return Outcome(success=True, output=value, format=format_of(value), warnings=notes)


def _says_failure(value: Mapping[str, Any]) -> bool:
    return str(value.get("status")).lower() in FAILING and bool({"error", "message"} & value.keys())


def _answer(request: Request, outcome: Outcome) -> dict[str, Any]:
    answer: dict[str, Any] = {"id": request.context.get("request_id", ""), "tool": request.tool}
    if not outcome.success:
        return {**answer, "error": outcome.error}
    written = {"memoryWrites": list(outcome.memory_writes)} if outcome.memory_writes else {}
    return {**answer, "result": {"output": outcome.output, **written}}
