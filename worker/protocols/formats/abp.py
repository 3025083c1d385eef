"""Protocol ``abp``: calls a tool by name; the answer is ``{id, tool, result: {output, memoryWrites}}``.

A module exports a function with the tool's name or ``execute``; any other script reads the call on stdin.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from registry.packages.manifest.tools import Tool, tools_of
from registry.packages.package import Manifest
from worker.protocols import errors
from worker.protocols.call import Call, Outcome, Request
from worker.protocols.entries import uses_abp
from worker.protocols.formats import execute_module
from worker.protocols.formats.execute_module import (
    FAILURE_STATUSES,
    failed_outcome,
    format_of,
    outcome_of_result,
)
from worker.protocols.formats.json_answer import find_answer
from worker.protocols.formats.stdin_json import describe_exit
from worker.sandbox.policy import SandboxResult


def resolve_tool(manifest: Manifest, request: Request) -> Request:
    """The request with its tool, which defaults to the skill's only tool.

    A request without a tool is unchanged if the package does not use ``abp``. Raises TOOLS_UNDECLARED if the
    package declares no tools, TOOL_REQUIRED if the request must choose one, and TOOL_UNKNOWN if its tool is
    not declared.
    """
    if request.tool is None and not uses_abp(manifest):
        return request
    names = [tool.name for tool in tools_of(manifest.abp)]
    if request.tool is None and not names:
        raise errors.TOOLS_UNDECLARED.refusal().at("tool")
    if request.tool is None and len(names) > 1:
        raise errors.TOOL_REQUIRED.refusal(names=names).at("tool")
    if request.tool is not None and request.tool not in names:
        raise errors.TOOL_UNKNOWN.refusal(tool=ascii(request.tool[:80]), names=names or "-").at("tool")
    return replace(request, tool=request.tool or names[0])


def input_schema(manifest: Manifest, request: Request) -> Mapping[str, Any] | None:
    """The schema of this call's inputs: the tool's parameters, otherwise the manifest's schema or None."""
    tool = _tool(manifest, request)
    return tool.schema if tool else manifest.input_schema


def output_schema(manifest: Manifest, request: Request) -> Mapping[str, Any] | None:
    """The schema of this call's output, or None. If the call names no tool, this is the manifest's schema.

    A tool without its own schema uses the manifest's if it is the only tool.
    """
    tool = _tool(manifest, request)
    if tool is None:
        return manifest.output_schema
    return tool.returns or (manifest.output_schema if len(tools_of(manifest.abp)) == 1 else None)


def _tool(manifest: Manifest, request: Request) -> Tool | None:
    return next((tool for tool in tools_of(manifest.abp) if tool.name == request.tool), None)


def request_bytes(request: Request) -> bytes:
    """The JSON document that a script reads on stdin; for modules, see ``execute_module.request_bytes``."""
    document = {
        "id": request.context.get("request_id", ""),
        "tool": request.tool,
        "parameters": dict(request.inputs),
        "context": execute_module.context_of(request),
        "config": dict(request.config),
    }
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")


def interpret(call: Call, result: SandboxResult) -> Outcome:
    """The outcome of a tool call; ``answer`` is ``{id, tool, result}``, on failure ``{id, tool, error}``."""
    outcome = (
        execute_module.interpret(result, read=_read_answer, missing=errors.TOOL_MISSING.name)
        if call.channel
        else _interpret_stdout(result)
    )
    return replace(outcome, answer=_answer(call.request, outcome))


def _interpret_stdout(result: SandboxResult) -> Outcome:
    answer = find_answer(result.stdout.decode("utf-8", "replace"))
    if answer is None:
        code = errors.INVALID_JSON.name if result.exit_code == 0 else errors.INTERNAL_ERROR.name
        return failed_outcome(code, f"{describe_exit(result)} and no JSON answer", {})
    outcome = _read_answer(answer, ())
    if outcome.success and result.exit_code != 0:
        failure = failed_outcome(
            errors.INTERNAL_ERROR.name,
            f"the script returned a result, but {describe_exit(result)}",
            {"answer": answer},
        )
        return replace(
            outcome, success=False, failure_code=errors.INTERNAL_ERROR.name, **_error_fields(failure)
        )
    return outcome


def _error_fields(outcome: Outcome) -> dict[str, Any]:
    return {"message": outcome.message, "error": outcome.error}


def _read_answer(value: Any, notes: tuple[str, ...]) -> Outcome:
    """The outcome of a tool's answer.

    The answer can have four forms: the whole answer, only its ``result``, a SkillExecutionOutcome, or a bare
    output.
    """
    if isinstance(value, Mapping) and "tool" in value and {"result", "error"} & value.keys():
        result = value.get("result")
        if error := value.get("error"):
            rest = result if isinstance(result, Mapping) else {"output": result}
            return outcome_of_result({**rest, "status": "error", "error": error}, notes, abp=True)
        value = result
    if isinstance(value, Mapping) and ("output" in value or _is_failure(value)):
        return outcome_of_result(value, notes, abp=True)
    return Outcome(success=True, output=value, format=format_of(value), warnings=notes)


def _is_failure(value: Mapping[str, Any]) -> bool:
    return str(value.get("status")).lower() in FAILURE_STATUSES and bool({"error", "message"} & value.keys())


def _answer(request: Request, outcome: Outcome) -> dict[str, Any]:
    answer: dict[str, Any] = {"id": request.context.get("request_id", ""), "tool": request.tool}
    if not outcome.success:
        return {**answer, "error": outcome.error}
    writes = {"memoryWrites": list(outcome.memory_writes)} if outcome.memory_writes else {}
    return {**answer, "result": {"output": outcome.output, **writes}}
