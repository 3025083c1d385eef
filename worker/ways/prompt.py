"""A prompt: its arguments put in, its commands run in the sandbox, the messages and what they change."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from registry.models import Skill, Version
from registry.packages.frontmatter import SKILL_MD, read_skill_md
from registry.packages.limits import Limits
from registry.packages.package import Manifest
from registry.packages.problems import refuse
from worker import protocols
from worker.models import Run
from worker.protocols.call import Call, Outcome
from worker.protocols.prompt import Command, Prompt, render
from worker.protocols.prompting import Arguments, arguments_of, names_of, shell_of
from worker.sandbox.runtimes import require
from worker.ways.collecting import collected
from worker.ways.commands import SKILL_DIR, Commands, Said, how, step_of
from worker.ways.values import Attempted, Result

MOST_COMMANDS = 50
_NOT_EXPANDED = "the commands in the prompt stand as they were written: the skill comes from {}"
_NO_ARGUMENTS = "no arguments were put in: the skill is read from an address"


@dataclass(frozen=True)
class Trust:
    """What may be put into a prompt by where its skill came from: arguments, commands."""

    arguments: bool = True
    commands: bool = True
    source: str = "upload"


def carry_out(attempted: Attempted, call: Call) -> Result:
    """The prompt as messages; a sandbox starts only where a command stands in it."""
    manifest = attempted.package.manifest
    with attempted.watch.step("execute"):
        expanded = expand(attempted, call, skill_dir=_told_dir(attempted, call))
    if expanded.failure:
        attempted.watch.mark("execute", expanded.failure.failure_code, expanded.failure.message)
    outcome = expanded.failure or Outcome(
        success=True,
        output=expanded.text,
        format="markdown",
        warnings=expanded.warnings,
        messages=({"role": "user", "content": expanded.text},),
        context=context_of(manifest),
    )
    if attempted.watch.lost or expanded.commands.last is None:
        return Result(outcome, expanded.commands.last)
    return collected(attempted, outcome, expanded.commands.last)


def context_of(manifest: Manifest) -> dict[str, Any]:
    """What a prompt changes for whoever follows it; None where it leaves things as they are."""
    return {
        "allowedTools": list(manifest.allowed_tools),
        "model": manifest.model or None,
        "effort": manifest.effort or None,
    }


@dataclass(frozen=True)
class Expanded:
    """A prompt's text with what its commands printed; ``failure`` where there is none."""

    text: str
    commands: Commands
    warnings: tuple[str, ...] = ()
    failure: Outcome | None = None


def expand(attempted: Attempted, call: Call, *, skill_dir: str) -> Expanded:
    """Fills the prompt and runs its commands in their order; the first that fails ends it."""
    trust, manifest = (
        trust_of(attempted.claim.skill_id, attempted.claim.version_number),
        attempted.package.manifest,
    )
    given = arguments_of(call.request.inputs, manifest)
    prompt = _rendered(attempted, call, given if trust.arguments else None, skill_dir)
    commands = Commands(attempted, call)
    warnings = () if trust.arguments or not (given.line or given.values) else (_NO_ARGUMENTS,)
    if not prompt.commands:
        return Expanded(prompt.text, commands, warnings)
    if not trust.commands:
        return Expanded(prompt.text, commands, (*warnings, _NOT_EXPANDED.format(trust.source)))
    if len(prompt.commands) > MOST_COMMANDS:
        raise refuse("COMMANDS_TOO_MANY", count=len(prompt.commands), limit=MOST_COMMANDS)
    return replace(_run_commands(attempted, call, prompt, commands), warnings=warnings)


def _run_commands(attempted: Attempted, call: Call, prompt: Prompt, commands: Commands) -> Expanded:
    shell = shell_of(attempted.package.manifest)
    if shell[0] == "bash":
        require("bash")
    # Inside the sandbox the package lies elsewhere than where the prompt's reader has it.
    environment = {**prompt.environment, "CLAUDE_SKILL_DIR": SKILL_DIR}
    parts: list[str] = []
    for piece in prompt.pieces:
        if isinstance(piece, str):
            parts.append(piece)
            continue
        said = _run_one(attempted, commands, (*shell, piece.source, *prompt.words), piece, environment)
        if not said.went_well:
            return Expanded("", commands, failure=_failed(call, piece, said))
        parts.append(said.stdout.rstrip("\n"))  # as it is: nothing in it is looked at again
    return Expanded("".join(parts), commands)


def _run_one(
    attempted: Attempted,
    commands: Commands,
    argv: tuple[str, ...],
    piece: Command,
    environment: Mapping[str, str],
) -> Said:
    watch, begun = attempted.watch, time.time()
    watch.say(f"$ {piece.written}")
    said = commands.run(argv, environment=environment)
    number = watch.noted + len(watch.rest_of_steps()) + 1
    watch.note(step_of(said, piece.written, kind="command", number=number, begun=begun))
    return said


def _failed(call: Call, piece: Command, said: Said) -> Outcome:
    if said.ended.ending != "exited":
        return protocols.interpret(call, said.ended)
    message = f"{piece.written[:200]}: {how(said)}"
    details = {"command": piece.written[:2000], "stderr": said.stderr[-2000:]}
    error = {"code": "COMMAND_FAILED", "message": message, "details": details}
    return Outcome(success=False, failure_code="COMMAND_FAILED", message=message, error=error)


def _rendered(attempted: Attempted, call: Call, given: Arguments | None, skill_dir: str) -> Prompt:
    body = read_skill_md(attempted.package.read(SKILL_MD), Limits()).body.lstrip("\n")
    return render(
        body,
        arguments=given.line if given else None,
        names=names_of(attempted.package.manifest),
        values=given.values if given else None,
        words=given.words if given else None,
        skill_dir=skill_dir,
        session_id=_session(attempted),
    )


def trust_of(skill_id: int | None, number: str) -> Trust:
    """Prompts of MCP servers and of addresses are a stranger's text, whoever published them here."""
    skill = Skill.objects.filter(pk=skill_id).first() if skill_id else None
    if skill is None:
        return Trust(commands=False, source="a skill that is gone")
    version = Version.objects.filter(skill=skill, number=number).values_list("provenance", flat=True).first()
    kept = version or {}
    if skill.is_remote or "address" in kept:
        return Trust(arguments=False, commands=False, source="an address")
    if skill.source == "mcp" or "server" in kept:
        return Trust(commands=False, source="an MCP server")
    return Trust()


def _told_dir(attempted: Attempted, call: Call) -> str:
    """Where whoever reads the prompt has the skill: as they say, else where skills are installed."""
    said = call.request.context.get("skill_dir")
    usual = f".claude/skills/{attempted.package.manifest.slug}"
    return said if isinstance(said, str) and said.isprintable() and 0 < len(said) <= 1000 else usual


def _session(attempted: Attempted) -> str:
    """The session that asked for it; a run that nobody gave one is its own."""
    row = Run.objects.filter(pk=attempted.claim.run_id).values_list("session_id", flat=True).first()
    return row or attempted.claim.uid
