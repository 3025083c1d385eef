"""Protocol ``execute``: a runner in the sandbox calls a module's ``execute(parameters, context, config)``.

The runner's source is a command-line argument; the request is on stdin. The runner writes the result to
descriptor 3, so that everything that the module prints goes to the log.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from worker.protocols.call import Outcome, Request
from worker.protocols.errors import EXECUTE_MISSING, INTERNAL_ERROR, INVALID_JSON, SCRIPT_FAILED, STANDARD
from worker.protocols.formats.json_answer import parse_object
from worker.protocols.formats.stdin_json import describe_exit
from worker.protocols.formats.traces import parse_memory_writes, parse_step_list, parse_steps
from worker.sandbox.policy import SandboxResult

PACKAGE = "/skill"  # the package folder in the sandbox
_RUNNERS = Path(__file__).with_name("runners")
_DENO = ("deno", "eval", "--quiet", "--no-remote", "--no-npm", "--no-config", "--no-lock")
_NODE = ("node", "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--input-type=module", "-e")
_PYTHON = ("python", "-B", "-c")
FAILURE_STATUSES = {"error", "failed", "failure", "timeout", "cancelled", "canceled"}
_STANDARD_CODES = [code.name for code in STANDARD]
ReadResult = Callable[[Any, tuple[str, ...]], Outcome]


def argv(entry: str) -> tuple[str, ...]:
    """The command that starts the runner: Python for ``.py``, deno for ``.ts``, otherwise node."""
    suffix = PurePosixPath(entry).suffix
    if suffix == ".py":
        return (*_PYTHON, _source("execute.py"))
    return (*(_DENO if suffix == ".ts" else _NODE), _source("execute.mjs"))


def request_bytes(request: Request, entry: str) -> bytes:
    """The JSON document that the runner reads on stdin."""
    document = {
        "entry": f"{PACKAGE}/{entry}",
        "parameters": dict(request.inputs),
        "context": context_of(request),
        "config": dict(request.config),
        **({"tool": request.tool} if request.tool is not None else {}),
    }
    return json.dumps(document).encode()


def context_of(request: Request) -> dict[str, Any]:
    """The request's context, with each name also in camel case (such as ``userId``), which ApexBridge modules
    expect.

    A tool call adds the tool's name and the call's id, for an ``execute()`` that serves several tools.
    """
    context = request.context
    given = {**{_camel(name): value for name, value in context.items()}, **context}
    called = {"tool": request.tool, "id": context.get("request_id", "")} if request.tool is not None else {}
    return {**given, **called}


def interpret(
    result: SandboxResult, *, read: ReadResult | None = None, missing: str = EXECUTE_MISSING.name
) -> Outcome:
    """The outcome of the runner's answer, which is untrusted because the module can write to the same
    descriptor.

    ``read`` turns the returned value into an outcome, by default ``outcome_of_result``. ``missing`` is the
    failure code if the module exports no suitable function.
    """
    answer = parse_object(result.channel.decode("utf-8", "replace"))
    if answer is None:
        code = INVALID_JSON.name if result.exit_code == 0 else INTERNAL_ERROR.name
        return failed_outcome(code, f"{describe_exit(result)} before execute() returned", {})
    notes = string_list(answer.get("notes"))
    if "missing" in answer:
        names = ", ".join(string_list(answer["missing"])) or "nothing"
        expected = "execute" if missing == EXECUTE_MISSING.name else "of the tool's name, nor execute"
        return failed_outcome(missing, f"the entry exports no function {expected}; it exports {names}", {})
    if "thrown" in answer:
        return outcome_of_error(answer["thrown"], answer.get("steps"), notes)
    return (read or outcome_of_result)(answer.get("returned"), notes)


def outcome_of_error(thrown: Any, steps: Any, notes: tuple[str, ...]) -> Outcome:
    """The outcome of a thrown error; codes other than standard codes become INTERNAL_ERROR."""
    error = thrown if isinstance(thrown, Mapping) else {"message": str(thrown)}
    code = error.get("code") if error.get("code") in _STANDARD_CODES else INTERNAL_ERROR.name
    traces, warnings = parse_step_list(steps)
    details = {"name": error.get("name", ""), "stack": error.get("stack", "")}
    message = str(error.get("message") or error.get("name") or "an error was thrown")
    return replace(failed_outcome(str(code), message, details), steps=traces, warnings=(*notes, *warnings))


def outcome_of_result(value: Any, notes: tuple[str, ...], *, abp: bool = False) -> Outcome:
    """The outcome of a returned SkillExecutionOutcome: an object with ``output`` or ``status``.

    Any other value becomes the output, with a warning. A failure status makes the outcome a failure.
    """
    if not isinstance(value, Mapping) or not ({"output", "status"} & value.keys()):
        bare = "execute() returned no SkillExecutionOutcome; its return value is used as the output"
        return Outcome(success=True, output=value, format=format_of(value), warnings=(*notes, bare))
    status = str(value.get("status") or "success")
    writes, write_warnings = parse_memory_writes(value, abp=abp)
    steps, step_warnings = parse_steps(value)
    outcome = Outcome(
        success=True,
        message=_text(value.get("message")),
        output=value.get("output"),
        format=_text(value.get("format")) or format_of(value.get("output")),
        warnings=(*notes, *string_list(value.get("warnings")), *write_warnings, *step_warnings),
        token_usage=_tokens(value),
        memory_writes=writes,
        steps=steps,
        metadata={"status": status},
    )
    return _returned_failure(outcome, value) if status.lower() in FAILURE_STATUSES else outcome


def _returned_failure(outcome: Outcome, value: Mapping[str, Any]) -> Outcome:
    """Turns ``outcome`` into a failure with the error code in ``value`` or its output, by default
    SCRIPT_FAILED.
    """
    output = value.get("output")
    given = value.get("error") or (output.get("error") if isinstance(output, Mapping) else None)
    error = given if isinstance(given, Mapping) else {"message": given} if isinstance(given, str) else {}
    code = error.get("code")
    code = code[:64] if isinstance(code, str) and code.strip() else SCRIPT_FAILED.name
    message = outcome.message or _text(error.get("message")) or f"execute() returned status {value['status']}"
    failure = failed_outcome(code, message, error.get("details") or {})
    return replace(outcome, success=False, failure_code=code, message=message, error=failure.error)


def failed_outcome(code: str, message: str, details: Any) -> Outcome:
    error = {"code": code, "message": message, "details": details}
    return Outcome(success=False, failure_code=code, message=message, error=error)


def format_of(output: Any) -> str:
    return "text" if isinstance(output, str) else "object"


def _tokens(value: Mapping[str, Any]) -> int | None:
    used = value.get("tokenUsage", value.get("token_usage"))
    return int(used) if isinstance(used, int | float) and not isinstance(used, bool) and used >= 0 else None


def string_list(value: Any) -> tuple[str, ...]:
    return tuple(str(item) for item in value[:100]) if isinstance(value, list) else ()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


@cache
def _source(name: str) -> str:
    return (_RUNNERS / name).read_text(encoding="utf-8")
