"""Calls execute(parameters, context, config) of one module and answers on descriptor 3.

stdin: {entry, parameters, context, config, tool?}. Standard library only: it runs inside the sandbox.
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

DEEPEST = 100
notes: dict[str, None] = {}


def note(text: str) -> None:
    if len(notes) < 20:
        notes[text] = None


def fault(error: BaseException) -> dict[str, Any]:
    stack = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    document = {"name": type(error).__name__, "message": str(error), "stack": stack}
    code = getattr(error, "code", None)
    return {**document, "code": code} if isinstance(code, str) else document


def plain(value: Any, where: str, above: list[Any]) -> Any:
    """JSON as it is; what JSON cannot say is replaced by the stated rules and noted."""
    if isinstance(value, enum.Enum):
        return plain(value.value, where, above)
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
        return fault(value)
    if isinstance(value, (decimal.Decimal, pathlib.PurePath)):
        return str(value)
    if any(value is one for one in above):
        note(f"{where}: a circular reference was cut")
        return "[circular]"
    if len(above) >= DEEPEST:
        note(f"{where}: deeper than {DEEPEST} levels was cut")
        return "[too deep]"
    return composite(value, where, [*above, value])


def composite(value: Any, where: str, above: list[Any]) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item, f"{where}/{key}", above) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        items = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
        return [plain(item, f"{where}/{index}", above) for index, item in enumerate(items)]
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


def found(module: ModuleType, tool: str | None) -> Any:
    """The function of a tool's name where one is called; else ``execute``."""
    named = vars(module).get(tool) if tool and not tool.startswith("_") else None
    return named if callable(named) else getattr(module, "execute", None)


class Context(dict[str, Any]):
    """The call's context; ``context.run_skill(skill, parameters)`` starts another one."""

    def run_skill(self, skill: str, parameters: Any = None, **named: str) -> Any:
        """The answer of another skill, or of its named script, action or tool; else SkillError."""
        asking, _, answering = os.environ.get("SKILLQUAY_DOOR", "").partition(",")
        if not answering:
            raise SkillError("CHILD_NOT_REQUIRED", "this skill names no other one in requires", None)
        asked = {**named, "skill": skill, "parameters": plain(parameters or {}, "run_skill", [])}
        with ONE_AT_A_TIME:
            with open(int(asking), "wb", closefd=False) as out:
                out.write(json.dumps(asked).encode() + b"\n")
            with open(int(answering), "rb", closefd=False) as heard:
                line = heard.readline()
        if not line:
            raise SkillError("CHILD_DOOR_SHUT", "the door is shut", None)
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


def call(execute: Callable[..., Any], given: list[Any]) -> Any:
    """As many of parameters, context and config as the function takes; a coroutine is awaited."""
    kinds = [parameter.kind for parameter in inspect.signature(execute).parameters.values()]
    open_ended = inspect.Parameter.VAR_POSITIONAL in kinds
    taken = sum(
        kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds
    )
    result = execute(*given[: 3 if open_ended else taken])
    if inspect.isawaitable(result):

        async def awaited() -> Any:
            return await result

        return asyncio.run(awaited())
    return result


def answer(request: dict[str, Any]) -> dict[str, Any]:
    try:
        module = load(request["entry"])
        execute = found(module, request.get("tool"))
        if not callable(execute):
            return {"missing": [name for name in vars(module) if not name.startswith("_")][:20]}
        returned = call(execute, [request["parameters"], Context(request["context"]), request["config"]])
        return {"returned": plain(returned, "", [])}
    except Exception as error:
        steps = getattr(error, "intermediate_steps", None) or getattr(error, "steps", None) or []
        return {"thrown": fault(error), "steps": plain(steps, "intermediateSteps", [])}


def run() -> None:
    document = json.dumps({**answer(json.load(sys.stdin)), "notes": list(notes)})
    sys.stdout.flush()
    with open(3, "w", encoding="utf-8") as channel:
        channel.write(document)


run()
