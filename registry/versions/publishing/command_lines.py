"""Reads the command lines of a package's scripts, and stores them with the version."""

from __future__ import annotations

import json
import logging
import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from registry.core.hooks import Hook
from registry.models import CommandLineOrigin, EntryCommandLine, Version
from registry.packages.command_lines import (
    CommandLine,
    ReadingGap,
    match_calls,
    read_command_line,
    to_document,
)
from registry.packages.command_lines.errors import SHOWN_CALL_REFUSED
from registry.packages.command_lines.python.described_parser import can_ask_parser
from registry.packages.manifest.frontmatter import SKILL_MD
from registry.packages.package import Package
from registry.packages.problems import Problem

MAX_SECONDS = 3.0  # of CPU time for all scripts of a package: other work on the machine changes no form
_MAX_SCRIPTS = 300
MAX_DOCUMENT = 512 * 1024  # characters of JSON, and bytes of a Markdown file
_MAX_NOTICES = 20
_MAX_CALL = 200  # characters in a notice

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ReadScript:
    """A script that takes arguments; requests name it by ``id``."""

    id: str
    origin: CommandLineOrigin
    command_line: CommandLine
    samples: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class CommandLines:
    """The command lines of a package, and notices about shown commands that do not fit."""

    scripts: tuple[ReadScript, ...] = ()
    problems: tuple[Problem, ...] = ()


# The paths of the scripts that take command-line arguments, by the id that requests name.
callable_scripts: Hook[[Package], Mapping[str, str]] = Hook()


def read_command_lines(package: Package) -> CommandLines:
    """The command lines of the first ``_MAX_SCRIPTS`` scripts that take arguments. Reads no further script
    after ``MAX_SECONDS`` of CPU time.

    A script that can't be read, or not in time, is called with an argument line. If the manifest has an input
    schema, the schema applies to all scripts, so none is read.
    """
    found = [entry for scripts in callable_scripts.send(package) for entry in scripts.items()]
    if package.manifest.input_schema:
        return CommandLines(tuple(_by_schema(*each) for each in found[:_MAX_SCRIPTS]))
    deadline = time.thread_time() + MAX_SECONDS
    files = {file.path: file.data for file in package.files}
    scripts = [
        ReadScript(script, CommandLineOrigin.SCRIPT, _read(path, files[path], deadline))
        for script, path in found[:_MAX_SCRIPTS]
    ]
    return _with_shown_calls(scripts, package)


def _with_shown_calls(scripts: Sequence[ReadScript], package: Package) -> CommandLines:
    """The scripts with the calls that documents show, and notices for the first ``_MAX_NOTICES`` calls that
    do not fit.
    """
    command_lines = {each.command_line.path: each.command_line for each in scripts}
    try:
        shown = match_calls(command_lines, _documents(package))
    except Exception:  # as above
        _log.exception("could not read the calls in the documents of %s", package.manifest.slug)
        return CommandLines(tuple(scripts))
    problems = [
        SHOWN_CALL_REFUSED.problem(script=call.path, call=shlex.join(call.words)[:_MAX_CALL]).at(
            call.document, call.line
        )
        for call in shown.refused[:_MAX_NOTICES]
    ]
    samples = shown.samples
    return CommandLines(
        tuple(replace(each, samples=samples.get(each.command_line.path, ())) for each in scripts),
        tuple(problems),
    )


def _documents(package: Package) -> dict[str, str]:
    """The texts of the Markdown files, SKILL.md first, each cut at ``MAX_DOCUMENT`` bytes."""
    found = sorted(
        (file for file in package.files if file.path.lower().endswith(".md")),
        key=lambda file: (file.path != SKILL_MD, file.path),
    )
    return {file.path: file.data[:MAX_DOCUMENT].decode("utf-8-sig", "replace") for file in found}


def store_command_lines(version: Version, scripts: Iterable[ReadScript]) -> None:
    EntryCommandLine.objects.bulk_create(
        EntryCommandLine(
            version=version,
            script=each.id,
            path=each.command_line.path,
            origin=each.origin,
            document=to_document(each.command_line),
            samples=each.samples,
            asks_parser=each.origin == CommandLineOrigin.SCRIPT and can_ask_parser(each.command_line),
        )
        for each in scripts
    )


def _by_schema(script: str, path: str) -> ReadScript:
    return ReadScript(script, CommandLineOrigin.INPUT_SCHEMA, CommandLine(path, "none"))


def _read(path: str, data: bytes, deadline: float) -> CommandLine:
    if time.thread_time() > deadline:
        return CommandLine(path, "line", gaps=(ReadingGap("time"),))
    try:
        command_line = read_command_line(path, data.decode("utf-8-sig", "replace"))
        size = len(json.dumps(to_document(command_line)))
    except Exception:  # a script that can't be read must not prevent its publication
        _log.exception("could not read the command line of %s", path)
        return CommandLine(path, "line", gaps=(ReadingGap("syntax"),))
    if size > MAX_DOCUMENT:
        return CommandLine(path, "line", gaps=(ReadingGap("size"),))
    return replace(command_line, is_program=True)  # the package offers it as a script
