"""Executes a prompt: fills in its arguments, runs its commands in the sandbox and returns its messages."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from registry.models import Skill, Version
from registry.packages.limits import Limits
from registry.packages.manifest.frontmatter import SKILL_MD, read_skill_md
from registry.packages.package import Manifest
from worker.attempts.context import AttemptContext, AttemptResult
from worker.executors.collect import collect_files
from worker.executors.commands import SKILL_DIR, CommandResult, Commands, command_step, failure_text
from worker.executors.errors import COMMAND_FAILED, COMMANDS_TOO_MANY
from worker.executors.failure_cause import explain_failure
from worker.models import Run
from worker.protocols import outcome as protocols_outcome
from worker.protocols.call import Call, Outcome
from worker.protocols.prompts.prompt_call import (
    PromptArguments,
    argument_names,
    parse_arguments,
    shell_command,
)
from worker.protocols.prompts.render import Command, Prompt, render
from worker.sandbox.runtimes import require

MAX_COMMANDS = 50
_NOT_EXPANDED = "the prompt's commands were not run because the skill comes from {}"
_NO_ARGUMENTS = "the arguments were not filled in because the skill comes from a URL"


@dataclass(frozen=True)
class Trust:
    """Whether a prompt's arguments and commands are expanded, depending on the skill's ``source``."""

    arguments: bool = True
    commands: bool = True
    source: str = "upload"


def execute(attempt: AttemptContext, call: Call) -> AttemptResult:
    """Expands the prompt. The result has the text as a user message, and the files that its commands wrote.

    Starts a sandbox only for commands. Raises Refusal like ``expand``.
    """
    manifest = attempt.package.manifest
    with attempt.monitor.step("execute"):
        expanded = expand(attempt, call, skill_dir=_skill_dir(attempt, call))
    if expanded.failure:
        attempt.monitor.fail_step("execute", expanded.failure.failure_code, expanded.failure.message)
    outcome = expanded.failure or Outcome(
        success=True,
        output=expanded.text,
        format="markdown",
        warnings=expanded.warnings,
        messages=({"role": "user", "content": expanded.text},),
        context=context_of(manifest),
    )
    if attempt.monitor.lost or expanded.commands.last is None:
        return AttemptResult(outcome, expanded.commands.last)
    return collect_files(attempt, outcome, expanded.commands.last)


def context_of(manifest: Manifest) -> dict[str, Any]:
    """The tools, model and effort that a prompt sets for its reader; unset ones are [] or None."""
    return {
        "allowedTools": list(manifest.allowed_tools),
        "model": manifest.model or None,
        "effort": manifest.effort or None,
    }


@dataclass(frozen=True)
class ExpandedPrompt:
    """A prompt's text with its commands' output; if one failed, ``text`` is "" and ``failure`` is set."""

    text: str
    commands: Commands
    warnings: tuple[str, ...] = ()
    failure: Outcome | None = None


def expand(attempt: AttemptContext, call: Call, *, skill_dir: str) -> ExpandedPrompt:
    """Expands the skill's prompt: fills in its arguments and runs its commands.

    Skips either part, with a warning, if the skill's source is not trusted for it (``trust_of``). Stops at
    the first failed command. Raises COMMANDS_TOO_MANY above ``MAX_COMMANDS``, and another Refusal if the
    arguments are invalid, or the shell or the sandbox is missing.
    """
    trust, manifest = (
        trust_of(attempt.claim.skill_id, attempt.claim.version_number),
        attempt.package.manifest,
    )
    arguments = parse_arguments(call.request.inputs, manifest)
    prompt = _render(attempt, call, arguments if trust.arguments else None, skill_dir)
    commands = Commands(attempt, call)
    warnings = () if trust.arguments or not (arguments.line or arguments.values) else (_NO_ARGUMENTS,)
    if not prompt.commands:
        return ExpandedPrompt(prompt.text, commands, warnings)
    if not trust.commands:
        return ExpandedPrompt(prompt.text, commands, (*warnings, _NOT_EXPANDED.format(trust.source)))
    if len(prompt.commands) > MAX_COMMANDS:
        raise COMMANDS_TOO_MANY.refusal(count=len(prompt.commands), limit=MAX_COMMANDS)
    return replace(_run_commands(attempt, call, prompt, commands), warnings=warnings)


def _run_commands(attempt: AttemptContext, call: Call, prompt: Prompt, commands: Commands) -> ExpandedPrompt:
    shell = shell_command(attempt.package.manifest)
    if shell[0] == "bash":
        require("bash")
    # The package's path in the sandbox differs from its path for the prompt's reader.
    environment = {**prompt.environment, "CLAUDE_SKILL_DIR": SKILL_DIR}
    parts: list[str] = []
    for piece in prompt.pieces:
        if isinstance(piece, str):
            parts.append(piece)
            continue
        result = _run_one(attempt, commands, (*shell, piece.source, *prompt.words), piece, environment)
        if not result.succeeded:
            failure, _result = explain_failure(_failed(call, piece, result), result.sandbox_result)
            return ExpandedPrompt("", commands, failure=failure)
        parts.append(result.stdout.rstrip("\n"))  # output is inserted unchanged and never expanded again
    return ExpandedPrompt("".join(parts), commands)


def _run_one(
    attempt: AttemptContext,
    commands: Commands,
    argv: tuple[str, ...],
    piece: Command,
    environment: Mapping[str, str],
) -> CommandResult:
    monitor, started_at = attempt.monitor, time.time()
    monitor.write_log(f"$ {piece.written}")
    result = commands.run(argv, environment=environment)
    number = monitor.stored_steps + len(monitor.pending_steps()) + 1
    monitor.add_step(
        command_step(result, piece.written, kind="command", number=number, started_at=started_at)
    )
    return result


def _failed(call: Call, piece: Command, result: CommandResult) -> Outcome:
    if result.sandbox_result.ending != "exited":
        return protocols_outcome.interpret(call, result.sandbox_result)
    message = f"{piece.written[:200]}: {failure_text(result)}"
    details = {"command": piece.written[:2000], "stderr": result.stderr[-2000:]}
    error = {"code": COMMAND_FAILED.name, "message": message, "details": details}
    return Outcome(success=False, failure_code=COMMAND_FAILED.name, message=message, error=error)


def _render(attempt: AttemptContext, call: Call, arguments: PromptArguments | None, skill_dir: str) -> Prompt:
    body = read_skill_md(attempt.package.read(SKILL_MD), Limits()).body.lstrip("\n")
    return render(
        body,
        arguments=arguments.line if arguments else None,
        names=argument_names(attempt.package.manifest),
        values=arguments.values if arguments else None,
        words=arguments.words if arguments else None,
        skill_dir=skill_dir,
        session_id=_session_id(attempt),
    )


def trust_of(skill_id: int | None, number: str) -> Trust:
    """Whether arguments and commands are expanded in the prompt of this version of the skill.

    Neither is expanded for a skill from a URL. Only arguments are expanded for a skill from an MCP server and
    for a deleted skill. The user who published the skill here does not matter.
    """
    skill = Skill.objects.filter(pk=skill_id).first() if skill_id else None
    if skill is None:
        return Trust(commands=False, source="a deleted skill")
    version = Version.objects.filter(skill=skill, number=number).values_list("provenance", flat=True).first()
    return trust_by(skill, version or {})


def trust_by(skill: Skill, provenance: Mapping[str, Any]) -> Trust:
    """``trust_of`` for a skill and the provenance of its version."""
    if skill.is_remote or "url" in provenance:
        return Trust(arguments=False, commands=False, source="a URL")
    if skill.source == "mcp" or "server" in provenance:
        return Trust(commands=False, source="an MCP server")
    return Trust()


def _skill_dir(attempt: AttemptContext, call: Call) -> str:
    """The skill's folder for the prompt's reader: ``context.skill_dir``, or the default install folder."""
    path = call.request.context.get("skill_dir")
    default = f".claude/skills/{attempt.package.manifest.slug}"
    return path if isinstance(path, str) and path.isprintable() and 0 < len(path) <= 1000 else default


def _session_id(attempt: AttemptContext) -> str:
    row = Run.objects.filter(pk=attempt.claim.run_id).values_list("session_id", flat=True).first()
    return row or attempt.claim.uid
