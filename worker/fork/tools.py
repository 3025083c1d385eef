"""The tools of an agent loop: read the package, run commands and scripts in the sandbox; no others."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from registry.packages.problems import Refused
from worker import protocols
from worker.fork.allowing import Allowed
from worker.protocols.call import Call, Request, StepTrace
from worker.protocols.prompting import shell_of
from worker.ways.commands import SKILL_DIR, Commands, Said, how
from worker.ways.values import Attempted

_ANSWER = 30_000  # characters that the model is told of one result
_LINES = 2_000
_MATCHES = "200"


@dataclass(frozen=True)
class Tool:
    """What the model is told of a tool; ``schema`` is JSON Schema."""

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
        "Runs a command in the sandbox: the package lies read-only at /skill, the working folder is /job, "
        "files for the user go to /job/output.",
        "command",
        command="string",
    ),
    _tool(
        "Script",
        "Runs a script of the package in the sandbox by its id, its file's name without extension.",
        "id",
        id="string",
        inputs="object",
    ),
)


class Toolbox:
    """Answers the model's calls one after the other, each a step; called by the worker's thread."""

    def __init__(self, attempted: Attempted, call: Call, commands: Commands, allowed: Allowed) -> None:
        self.attempted, self.call, self.commands, self.allowed = attempted, call, commands, allowed
        self._answers: dict[str, Callable[[Mapping[str, Any]], str]] = {
            "Read": self._read,
            "Glob": self._glob,
            "Grep": self._grep,
            "Bash": self._bash,
            "Script": self._script,
        }

    @property
    def offered(self) -> tuple[Tool, ...]:
        return tuple(tool for tool in _TOOLS if tool.name in self.allowed.rules)

    def use(self, name: str, arguments: Mapping[str, Any]) -> str:
        """What the tool says: also of what is not allowed or went wrong, which the model is to cope with."""
        watch, begun, clock = self.attempted.watch, time.time(), time.monotonic()
        wrong = ""
        try:
            answer = self._answers[name](arguments)
        except _NotAllowed as no:
            wrong = answer = f"Not allowed: {no}"
        except Refused as no:
            wrong = answer = f"{no.code}: {no.problems[0].message()}"
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            wrong = answer = f"These arguments cannot be used: {type(error).__name__} {error}"[:300]
        shown = " ".join(str(value) for value in arguments.values())[:120]
        watch.say(f"[{name}] {' '.join(shown.split())}")
        watch.note(
            StepTrace(
                step_id=f"tool-{watch.noted + len(watch.rest_of_steps()) + 1}",
                name=f"{name} {' '.join(shown.split())}"[:200],
                input=dict(arguments),
                output=answer[:_ANSWER],
                duration_ms=round((time.monotonic() - clock) * 1000, 3),
                error={"name": name, "message": wrong} if wrong else None,
                timestamp=round(begun * 1000, 3),
                kind="tool",
            )
        )
        return answer[:_ANSWER] + ("\n… (cut)" if len(answer) > _ANSWER else "")

    def _require(self, tool: str, what: str) -> None:
        if not self.allowed.allows(tool, what):
            raise _NotAllowed(f"{tool} {what[:200]}: the skill's allowed-tools do not name it")

    def _read(self, arguments: Mapping[str, Any]) -> str:
        path = self._packaged(str(arguments["file_path"]))
        self._require("Read", path)
        if path in self.attempted.package.paths:
            text = self.attempted.package.read(path).decode("utf-8", "replace")
        else:
            text = _told(self.commands.run(("cat", "--", path)))
        first = max(1, int(arguments.get("offset") or 1))
        most = min(_LINES, max(1, int(arguments.get("limit") or _LINES)))
        return "\n".join(text.splitlines()[first - 1 : first - 1 + most])

    def _glob(self, arguments: Mapping[str, Any]) -> str:
        pattern = self._packaged(str(arguments["pattern"]))
        self._require("Glob", pattern)
        found = [
            path for path in self.attempted.package.paths if fnmatchcase(path, pattern.replace("**/", "*"))
        ]
        return "\n".join(found) or "no file matches"

    def _grep(self, arguments: Mapping[str, Any]) -> str:
        path = self._packaged(str(arguments.get("path") or SKILL_DIR))
        self._require("Grep", path)
        place = path if path.startswith("/") else f"{SKILL_DIR}/{path}"
        said = self.commands.run(
            ("grep", "-rnIE", "-m", _MATCHES, "-e", str(arguments["pattern"]), "--", place)
        )
        return "no match" if said.ended.exit_code == 1 else _told(said)

    def _bash(self, arguments: Mapping[str, Any]) -> str:
        command = str(arguments["command"])
        self._require("Bash", command)
        shell = shell_of(self.attempted.package.manifest)
        return _told(self.commands.run((*shell, command), environment={"CLAUDE_SKILL_DIR": SKILL_DIR}))

    def _script(self, arguments: Mapping[str, Any]) -> str:
        named, inputs = str(arguments["id"]), arguments.get("inputs") or {}
        self._require("Script", named)
        package, own = self.attempted.package, self.call.request
        request = Request(inputs=dict(inputs), script=named, context=own.context, config=own.config)
        call = protocols.prepare(package.paths, package.manifest, package.profile, request, read=package.read)
        said = self.commands.run_call(call)
        outcome = protocols.interpret(call, said.ended, output_schema=package.manifest.output_schema)
        answer = {"success": outcome.success, "output": outcome.output, "outputs": dict(outcome.outputs)}
        told = {"message": outcome.message, "stdout": said.stdout[-8000:], "stderr": said.stderr[-4000:]}
        return json.dumps(answer | told, ensure_ascii=False, default=str)

    def _packaged(self, path: str) -> str:
        """The path within the package where it names one there, else as it is."""
        inside = path.removeprefix(f"{SKILL_DIR}/").removeprefix("./")
        return inside if inside in self.attempted.package.paths or not inside.startswith("/") else path


class _NotAllowed(Exception):
    """What the skill's allowed-tools leave out."""


def _told(said: Said) -> str:
    parts = [said.stdout, f"[stderr]\n{said.stderr}" if said.stderr else ""]
    ended = "" if said.went_well else f"[{how(said)}]"
    return "\n".join(part.rstrip("\n") for part in (*parts, ended) if part) or "(no output)"
