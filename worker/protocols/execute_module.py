"""``execute(parameters, context, config)``: a module's function, called by a runner inside the sandbox.

The runner's source goes in as an argument, the request on stdin; its result comes over descriptor 3, so that
whatever the module prints is log.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from worker.protocols.answers import json_object
from worker.protocols.call import Outcome, Request
from worker.protocols.codes import STANDARD
from worker.protocols.stdin_json import how
from worker.protocols.traces import memory_writes_of, read_steps, steps_of
from worker.sandbox.policy import Ended

PACKAGE = "/skill"  # where the sandbox shows the package
_RUNNERS = Path(__file__).with_name("runners")
_DENO = ("deno", "eval", "--quiet", "--no-remote", "--no-npm", "--no-config", "--no-lock")
_NODE = ("node", "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--input-type=module", "-e")
_PYTHON = ("python", "-B", "-c")
FAILING = {"error", "failed", "failure", "timeout", "cancelled", "canceled"}
_STANDARD = [code.name for code in STANDARD]
Read = Callable[[Any, tuple[str, ...]], Outcome]


def argv(entry: str) -> tuple[str, ...]:
    """What starts the runner for this kind of module."""
    suffix = PurePosixPath(entry).suffix
    if suffix == ".py":
        return (*_PYTHON, _source("execute.py"))
    return (*(_DENO if suffix == ".ts" else _NODE), _source("execute.mjs"))


def request_bytes(request: Request, entry: str) -> bytes:
    """What the runner reads on stdin."""
    document = {
        "entry": f"{PACKAGE}/{entry}",
        "parameters": dict(request.inputs),
        "context": context_of(request),
        "config": dict(request.config),
        **({"tool": request.tool} if request.tool is not None else {}),
    }
    return json.dumps(document).encode()


def context_of(request: Request) -> dict[str, Any]:
    """The caller's context under its own names and, as document C has them, in camel case (``userId``).

    A tool's call holds its name and id too: an ``execute()`` of several tools finds there which one is meant.
    """
    context = request.context
    given = {**{_camel(name): value for name, value in context.items()}, **context}
    called = {"tool": request.tool, "id": context.get("request_id", "")} if request.tool is not None else {}
    return {**given, **called}


def interpret(ended: Ended, *, read: Read | None = None, missing: str = "EXECUTE_MISSING") -> Outcome:
    """The runner's answer as an outcome; the module may write there too, so nothing in it is trusted.

    ``read`` makes the outcome of what was returned, ``missing`` is the code where nothing could be called.
    """
    answer = json_object(ended.channel.decode("utf-8", "replace"))
    if answer is None:
        code = "INVALID_JSON" if ended.exit_code == 0 else "INTERNAL_ERROR"
        return failed(code, f"{how(ended)} before execute() returned", {})
    notes = texts(answer.get("notes"))
    if "missing" in answer:
        names = ", ".join(texts(answer["missing"])) or "nothing"
        wanted = "execute" if missing == "EXECUTE_MISSING" else "of the tool's name, nor execute"
        return failed(missing, f"the entry exports no function {wanted}; it exports {names}", {})
    if "thrown" in answer:
        return thrown(answer["thrown"], answer.get("steps"), notes)
    return (read or returned)(answer.get("returned"), notes)


def thrown(what: Any, steps: Any, notes: tuple[str, ...]) -> Outcome:
    """What a module threw; its ``code`` counts where it is one of document B's."""
    error = what if isinstance(what, Mapping) else {"message": str(what)}
    code = error.get("code") if error.get("code") in _STANDARD else "INTERNAL_ERROR"
    traces, warnings = read_steps(steps)
    details = {"name": error.get("name", ""), "stack": error.get("stack", "")}
    message = str(error.get("message") or error.get("name") or "an error was thrown")
    return replace(failed(str(code), message, details), steps=traces, warnings=(*notes, *warnings))


def returned(value: Any, notes: tuple[str, ...], *, abp: bool = False) -> Outcome:
    """A SkillExecutionOutcome, or a tool's result; anything else is the output itself."""
    if not isinstance(value, Mapping) or not ({"output", "status"} & value.keys()):
        bare = "execute() returned no SkillExecutionOutcome: what it returned is taken as the output"
        return Outcome(success=True, output=value, format=format_of(value), warnings=(*notes, bare))
    said = str(value.get("status") or "success")
    writes, dropped = memory_writes_of(value, abp=abp)
    steps, odd = steps_of(value)
    outcome = Outcome(
        success=True,
        message=_text(value.get("message")),
        output=value.get("output"),
        format=_text(value.get("format")) or format_of(value.get("output")),
        warnings=(*notes, *texts(value.get("warnings")), *dropped, *odd),
        token_usage=_tokens(value),
        memory_writes=writes,
        steps=steps,
        metadata={"status": said},
    )
    return _declared_failure(outcome, value) if said.lower() in FAILING else outcome


def _declared_failure(outcome: Outcome, value: Mapping[str, Any]) -> Outcome:
    """A returned ``status: error``; an error object beside or within the output names the code."""
    within = value.get("output")
    given = value.get("error") or (within.get("error") if isinstance(within, Mapping) else None)
    error = given if isinstance(given, Mapping) else {"message": given} if isinstance(given, str) else {}
    code = error.get("code")
    code = code[:64] if isinstance(code, str) and code.strip() else "SCRIPT_FAILED"
    message = outcome.message or _text(error.get("message")) or f"execute() returned status {value['status']}"
    told = failed(code, message, error.get("details") or {}).error
    return replace(outcome, success=False, failure_code=code, message=message, error=told)


def failed(code: str, message: str, details: Any) -> Outcome:
    """A failure in the words of whoever says it."""
    error = {"code": code, "message": message, "details": details}
    return Outcome(success=False, failure_code=code, message=message, error=error)


def format_of(output: Any) -> str:
    return "text" if isinstance(output, str) else "object"


def _tokens(value: Mapping[str, Any]) -> int | None:
    used = value.get("tokenUsage", value.get("token_usage"))
    return int(used) if isinstance(used, int | float) and not isinstance(used, bool) and used >= 0 else None


def texts(value: Any) -> tuple[str, ...]:
    return tuple(str(item) for item in value[:100]) if isinstance(value, list) else ()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


@cache
def _source(name: str) -> str:
    return (_RUNNERS / name).read_text(encoding="utf-8")
