"""Finds the commands of a prompt, and the placeholders that stay empty with sample arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from registry.packages.archive.paths import printable
from registry.packages.manifest.frontmatter import SKILL_MD
from registry.packages.manifest.sections import find_commands
from registry.packages.package import Package
from registry.packages.problems import Problem
from worker.protocols.prompts.prompt_call import argument_names, prompt_protocol
from worker.script_checks.errors import PROMPT_COMMAND, PROMPT_PLACEHOLDER_EMPTY

_MAX_NOTICES = 20  # number of notices of each kind
_MAX_COMMAND = 200  # length at which a command is cut
_NUMBER = re.compile(r"\$(?:ARGUMENTS\[(?P<index>\d{1,4})\]|(?P<number>\d{1,4})(?!\w))", re.ASCII)


def check_prompt(package: Package) -> tuple[Problem, ...]:
    """A notice for each command of the prompt, and for each ``$n`` that sample arguments leave empty.

    The sample has one word for each declared argument. If no arguments are declared, it has one word for each
    word of ``argument-hint``. If there is no hint, it has one for each ``$n`` up to the first missing number.
    """
    files = {file.path: file.data for file in package.files}
    if not prompt_protocol(package.paths, package.manifest, package.profile, files.__getitem__):
        return ()
    commands = islice(_commands(package), _MAX_NOTICES)
    return (*commands, *islice(_empty_placeholders(package), _MAX_NOTICES))


def _commands(package: Package) -> Iterator[Problem]:
    for match in find_commands(package.body):
        written = printable((match["line"] or match["block"]).strip(), _MAX_COMMAND)
        yield PROMPT_COMMAND.problem(command=written).at(SKILL_MD, _line(package, match.start()))


def _empty_placeholders(package: Package) -> Iterator[Problem]:
    body = package.body
    # Commands of older prompts count from 1 unless they contain $0.
    first = 0 if re.search(r"\$0(?!\w)", body, re.ASCII) else 1
    placeholders = [(_index(match, first), match) for match in _NUMBER.finditer(body)]
    count = _sample_size(package, {index for index, _match in placeholders})
    for index, match in placeholders:
        if index >= count:
            problem = PROMPT_PLACEHOLDER_EMPTY.problem(placeholder=match[0], count=count)
            yield problem.at(SKILL_MD, _line(package, match.start()))


def _index(match: re.Match[str], first: int) -> int:
    return int(match["index"]) if match["index"] else int(match["number"]) - first


def _sample_size(package: Package, used: set[int]) -> int:
    following = next(index for index in range(len(used) + 1) if index not in used)
    names, hint = argument_names(package.manifest), package.manifest.argument_hint.split()
    return len(names) or len(hint) or following


def _line(package: Package, position: int) -> int | None:
    front = package.front_matter
    return front.body_line + package.body.count("\n", 0, position) if front else None
