"""The tools of an agent loop, which read the package or run commands and scripts in the sandbox."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from registry.packages.problems import Refusal
from worker.attempts.context import AttemptContext
from worker.executors.agent_loop.allowed_tools import AllowedTools
from worker.executors.commands import SKILL_DIR, CommandResult, Commands, failure_text
from worker.protocols import outcome as protocols_outcome
from worker.protocols import prepare as protocols_prepare
from worker.protocols.call import Call, Request, StepTrace
from worker.protocols.prompts.prompt_call import shell_command

_MAX_ANSWER = 30_000  # characters of one result
_MAX_LINES = 2_000
_MAX_MATCHES = "200"


@dataclass(frozen=True)
class Tool:
    """The description of a tool for the model; ``schema`` is a JSON Schema."""

    name: str
    description: str
    schema: Mapping[str, Any]


def _tool(name: str, description: str, required: str, **properties: str) -> Tool:
    shape = {key: {"type": kind} for key, kind in properties.items()}
    return Tool(name, description, {"type": "object", "properties": shape, "required": [required]})


_TOOLS = (
    _tool(
        "Read",
        "Reads a text file: of the package by its path there, or by a path in the sandbox.",
        "file_path",
        file_path="string",
        offset="integer",
        limit="integer",
    ),
    _tool(
        "Glob",
        "Lists the package's files that match a pattern, as references/*.md.",
        "pattern",
        pattern="string",
    ),
    _tool(
        "Grep",
        "Searches files for an extended regular expression; path is the package's root unless it is named.",
        "pattern",
        pattern="string",
        path="string",
    ),
    _tool(
        "Bash",
        "Runs a command in the sandbox. The package is read-only at /skill, the working folder is /job/work, "
        "and files for the user go to /job/output.",
        "command",
        command="string",
    ),
    _tool(
        "Script",
        "Runs a script of the package in the sandbox by its id, its file's name without extension. arguments "
        "is its command line; inputs are passed after it as --name value.",
        "id",
        id="string",
        arguments="array",
        inputs="object",
    ),
)


class Toolbox:
    """Answers the model's tool calls and records each as a step; used from the worker's thread."""

    def __init__(
        self, attempt: AttemptContext, call: Call, commands: Commands, allowed: AllowedTools
    ) -> None:
        self.attempt, self.call, self.commands, self.allowed = attempt, call, commands, allowed
        self._answers: dict[str, Callable[[Mapping[str, Any]], str]] = {
            "Read": self._read,
            "Glob": self._glob,
            "Grep": self._grep,
            "Bash": self._bash,
            "Script": self._script,
        }

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(tool for tool in _TOOLS if tool.name in self.allowed.rules)

    def use(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Calls the tool and returns its answer, cut to ``_MAX_ANSWER`` characters. Adds a step for the call.

        Errors and denials are returned as answers, too, so that the model can react.
        """
        monitor, started_at, clock = self.attempt.monitor, time.time(), time.monotonic()
        failure = ""
        try:
            answer = self._answers[name](arguments)
        except _ToolNotAllowed as error:
            failure = answer = f"Not allowed: {error}"
        except Refusal as error:
            failure = answer = f"{error.code}: {error.problems[0].message()}"
        except KeyError as error:
            failure = answer = _parameter_failure(name, str(error.args[0]), arguments)
        except (TypeError, ValueError, OverflowError) as error:
            failure = answer = f"These arguments cannot be used: {type(error).__name__} {error}"[:300]
        summary = " ".join(str(value) for value in arguments.values())[:120]
        monitor.write_log(f"[{name}] {' '.join(summary.split())}")
        monitor.add_step(
            StepTrace(
                step_id=f"tool-{monitor.stored_steps + len(monitor.pending_steps()) + 1}",
                name=f"{name} {' '.join(summary.split())}"[:200],
                input=dict(arguments),
                output=answer[:_MAX_ANSWER],
                duration_ms=round((time.monotonic() - clock) * 1000, 3),
                error={"name": name, "message": failure} if failure else None,
                timestamp=round(started_at * 1000, 3),
                kind="tool",
            )
        )
        return answer[:_MAX_ANSWER] + ("\n… (cut)" if len(answer) > _MAX_ANSWER else "")

    def _require(self, tool: str, argument: str) -> None:
        if not self.allowed.allows(tool, argument):
            raise _ToolNotAllowed(f"{tool} {argument[:200]}: the skill's allowed-tools do not name it")

    def _read(self, arguments: Mapping[str, Any]) -> str:
        path = self._package_path(str(arguments["file_path"]))
        self._require("Read", path)
        if path in self.attempt.package.paths:
            text = self.attempt.package.read(path).decode("utf-8", "replace")
        else:
            text = _result_text(self.commands.run(("cat", "--", path)))
        first = max(1, int(arguments.get("offset") or 1))
        limit = min(_MAX_LINES, max(1, int(arguments.get("limit") or _MAX_LINES)))
        return "\n".join(text.splitlines()[first - 1 : first - 1 + limit])

    def _glob(self, arguments: Mapping[str, Any]) -> str:
        pattern = self._package_path(str(arguments["pattern"]))
        self._require("Glob", pattern)
        found = [
            path for path in self.attempt.package.paths if fnmatchcase(path, pattern.replace("**/", "*"))
        ]
        return "\n".join(found) or "no file matches"

    def _grep(self, arguments: Mapping[str, Any]) -> str:
        path = self._package_path(str(arguments.get("path") or SKILL_DIR))
        self._require("Grep", path)
        place = path if path.startswith("/") else f"{SKILL_DIR}/{path}"
        result = self.commands.run(
            ("grep", "-rnIE", "-m", _MAX_MATCHES, "-e", str(arguments["pattern"]), "--", place)
        )
        return "no match" if result.sandbox_result.exit_code == 1 else _result_text(result)

    def _bash(self, arguments: Mapping[str, Any]) -> str:
        command = str(arguments["command"])
        self._require("Bash", command)
        shell = shell_command(self.attempt.package.manifest)
        return _result_text(self.commands.run((*shell, command), environment={"CLAUDE_SKILL_DIR": SKILL_DIR}))

    def _script(self, arguments: Mapping[str, Any]) -> str:
        script_id, inputs = str(arguments["id"]), arguments.get("inputs") or {}
        self._require("Script", script_id)
        package, own = self.attempt.package, self.call.request
        request = Request(
            inputs=dict(inputs),
            arguments=list(arguments.get("arguments") or []),
            script=script_id,
            context=own.context,
            config=own.config,
        )
        call = protocols_prepare.prepare(
            package.paths, package.manifest, package.profile, request, read=package.read
        )
        result = self.commands.run_call(call)
        outcome = protocols_outcome.interpret(
            call, result.sandbox_result, output_schema=package.manifest.output_schema
        )
        answer = {"success": outcome.success, "output": outcome.output, "outputs": dict(outcome.outputs)}
        details = {
            "message": outcome.message,
            "stdout": result.stdout[-8000:],
            "stderr": result.stderr[-4000:],
        }
        return json.dumps(answer | details, ensure_ascii=False, default=str)

    def _package_path(self, path: str) -> str:
        """The path or pattern relative to the package; unchanged if it is outside the package."""
        inside = path.removeprefix(f"{SKILL_DIR}/").removeprefix("./")
        return inside if inside in self.attempt.package.paths or not inside.startswith("/") else path


class _ToolNotAllowed(Exception):
    """Raised if the skill's ``allowed-tools`` do not allow the call."""


def _parameter_failure(tool: str, missing: str, arguments: Mapping[str, Any]) -> str:
    known: Mapping[str, Any] = next((one.schema["properties"] for one in _TOOLS if one.name == tool), {})
    unknown = ", ".join(sorted(str(key) for key in arguments if key not in known))
    given = f"; it has no parameter {unknown}" if unknown else ""
    return f"{tool} requires the parameter {missing}{given}. Its parameters: {', '.join(known)}."[:500]


def _result_text(result: CommandResult) -> str:
    parts = [result.stdout, f"[stderr]\n{result.stderr}" if result.stderr else ""]
    status = "" if result.succeeded else f"[{failure_text(result)}]"
    return "\n".join(part.rstrip("\n") for part in (*parts, status) if part) or "(no output)"
