"""Calls execute(parameters, context, config) of a module and writes its result to descriptor 3.

Reads {entry, parameters, context, config, tool?} on stdin; with ``load_only``, only loads the module. Uses
only the standard library, because it runs inside the sandbox.
"""

import asyncio
import base64
import dataclasses
import datetime
import decimal
import enum
import importlib.util
import inspect
import json
import math
import os
import pathlib
import sys
import threading
import traceback
from collections.abc import Callable
from types import ModuleType
from typing import Any

MAX_DEPTH = 100
notes: dict[str, None] = {}


def note(text: str) -> None:
    if len(notes) < 20:
        notes[text] = None


def error_document(error: BaseException) -> dict[str, Any]:
    stack = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    document = {"name": type(error).__name__, "message": str(error), "stack": stack}
    code = getattr(error, "code", None)
    return {**document, "code": code} if isinstance(code, str) else document


def to_json(value: Any, where: str, parents: list[Any]) -> Any:
    """The value as JSON data. Replaces values that JSON lacks, and notes most replacements.

    ``where`` is the path of the value in notes; ``parents`` are the containers around it.
    """
    if isinstance(value, enum.Enum):
        return to_json(value.value, where, parents)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        note(f"{where}: {value} became null")
        return None
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        note(f"{where}: bytes became base64 text")
        return base64.b64encode(bytes(value)).decode()
    if isinstance(value, BaseException):
        return error_document(value)
    if isinstance(value, (decimal.Decimal, pathlib.PurePath)):
        return str(value)
    if any(value is one for one in parents):
        note(f"{where}: a circular reference was cut")
        return "[circular]"
    if len(parents) >= MAX_DEPTH:
        note(f"{where}: deeper than {MAX_DEPTH} levels was cut")
        return "[too deep]"
    return container_to_json(value, where, [*parents, value])


def container_to_json(value: Any, where: str, parents: list[Any]) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): to_json(item, f"{where}/{key}", parents) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        items = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
        return [to_json(item, f"{where}/{index}", parents) for index, item in enumerate(items)]
    note(f"{where}: a {type(value).__name__} became text")
    return str(value)


def load(entry: str) -> ModuleType:
    sys.path[0] = os.path.dirname(entry)
    sys.argv = [entry]
    name = os.path.splitext(os.path.basename(entry))[0]
    spec = importlib.util.spec_from_file_location(name, entry)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {entry}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def find_function(module: ModuleType, tool: str | None) -> Any:
    """The function with the tool's name if there is one, otherwise the module's ``execute`` or None."""
    named = vars(module).get(tool) if tool and not tool.startswith("_") else None
    return named if callable(named) else getattr(module, "execute", None)


class Context(dict[str, Any]):
    """The context of the call. ``context.run_skill(skill, parameters)`` runs another skill."""

    def run_skill(self, skill: str, parameters: Any = None, **named: str) -> Any:
        """Runs another skill and returns its answer; ``named`` selects a ``script``, ``action`` or ``tool``.

        Raises SkillError if the run was refused or failed.
        """
        request_fd, _, answer_fd = os.environ.get("SKILLQUAY_REQUEST_FDS", "").partition(",")
        if not answer_fd:
            raise SkillError("CHILD_NOT_REQUIRED", "this skill lists no other skill in requires", None)
        request = {**named, "skill": skill, "parameters": to_json(parameters or {}, "run_skill", [])}
        with ONE_AT_A_TIME:
            with open(int(request_fd), "wb", closefd=False) as requests:
                requests.write(json.dumps(request).encode() + b"\n")
            with open(int(answer_fd), "rb", closefd=False) as answers:
                line = answers.readline()
        if not line:
            raise SkillError("CHILD_RUNS_CLOSED", "the request channel is closed", None)
        answer = json.loads(line)
        if not answer["ok"]:
            raise SkillError(answer["error"]["code"], answer["error"]["message"], answer)
        return answer

    runSkill = run_skill


class SkillError(Exception):
    def __init__(self, code: str, message: str, answer: Any) -> None:
        super().__init__(message)
        self.code, self.answer = code, answer


ONE_AT_A_TIME = threading.Lock()


def call(execute: Callable[..., Any], arguments: list[Any]) -> Any:
    """Calls ``execute`` with as many of the arguments as it accepts, and awaits an awaitable result."""
    kinds = [parameter.kind for parameter in inspect.signature(execute).parameters.values()]
    open_ended = inspect.Parameter.VAR_POSITIONAL in kinds
    accepted = sum(
        kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds
    )
    result = execute(*arguments[: 3 if open_ended else accepted])
    if inspect.isawaitable(result):

        async def awaited() -> Any:
            return await result

        return asyncio.run(awaited())
    return result


def answer(request: dict[str, Any]) -> dict[str, Any]:
    try:
        module = load(request["entry"])
        execute = find_function(module, request.get("tool"))
        if not callable(execute):
            return {"missing": [name for name in vars(module) if not name.startswith("_")][:20]}
        if request.get("load_only"):
            return {"returned": None}
        returned = call(execute, [request["parameters"], Context(request["context"]), request["config"]])
        return {"returned": to_json(returned, "", [])}
    except Exception as error:
        steps = getattr(error, "intermediate_steps", None) or getattr(error, "steps", None) or []
        return {"thrown": error_document(error), "steps": to_json(steps, "intermediateSteps", [])}


def run() -> None:
    document = json.dumps({**answer(json.load(sys.stdin)), "notes": list(notes)})
    sys.stdout.flush()
    with open(3, "w", encoding="utf-8") as channel:
        channel.write(document)


run()
