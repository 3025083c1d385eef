"""Commands that a script declares with click or typer, and the command line of the root command."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from registry.packages.command_lines.command_line import (
    MAX_DEPTH,
    MAX_PARAMETERS,
    CommandLevel,
    CommandLine,
    Library,
    Parameter,
    ReadingGap,
)


class UnreadableError(Exception):
    """Raised for a declaration that the readers can't read. ``line`` is the line of the declaration."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


@dataclass(eq=False)
class DeclaredCommand:
    """A command or group, declared at ``line``. With ``accepts_unknown``, it passes unknown words on."""

    name: str
    is_group: bool
    help: str
    line: int
    subcommand_required: bool = False
    parameters: list[Parameter] = field(default_factory=list)
    subcommands: dict[str, DeclaredCommand] = field(default_factory=dict)
    has_parent: bool = False
    accepts_unknown: bool = False


def command_line_of(root: DeclaredCommand, path: str, library: Library) -> CommandLine:
    """The command line of the script's root command.

    Raises UnreadableError for too many parameters and too deep nesting.
    """
    level = _level(root, Counter())
    has_fields = bool(level.parameters or level.subcommands)
    return CommandLine(
        path,
        "fields" if has_fields else "none",
        library,
        root=level if has_fields else CommandLevel(),
        description=root.help,
    )


def unreadable_command_line(path: str, library: Library, line: int) -> CommandLine:
    return CommandLine(path, "line", library, gaps=(ReadingGap("computed_value", line),))


def _level(command: DeclaredCommand, count: Counter[str], names: tuple[str, ...] = ()) -> CommandLevel:
    """The command with its subcommands. Raises UnreadableError above MAX_DEPTH or MAX_PARAMETERS. A command
    in two groups counts twice.
    """
    count["all"] += 1 + len(command.parameters)
    if len(names) > MAX_DEPTH or count["all"] > MAX_PARAMETERS:
        raise UnreadableError(command.line)
    return CommandLevel(
        name=names[-1] if names else "",
        help=command.help if names else "",
        parameters=tuple(replace(each, id="/".join((*names, each.name))) for each in command.parameters),
        subcommands=tuple(_level(each, count, (*names, name)) for name, each in command.subcommands.items()),
        subcommand_required=command.subcommand_required,
        accepts_unknown=command.accepts_unknown,
    )
