"""The types that describe how a script is called: its parameters, subcommands and usage text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

# fields: a parser library declares the parameters. none: the script takes no arguments.
# line: the script reads its arguments by hand, or its parser could not be read.
Kind = Literal["fields", "none", "line"]
Library = Literal["", "argparse", "click", "typer", "getopts", "commander", "yargs", "parseArgs"]
ValueType = Literal["text", "integer", "number"]
FileUse = Literal["", "input", "output"]
Scalar = str | int | float | bool | None
GapReason = Literal[
    "syntax",  # the file is not valid, or nested too deeply
    "size",  # the file is too large
    "time",  # reading took too long
    "computed_name",  # a parameter's name is computed when the script runs
    "computed_value",  # another property of a parameter is computed, such as its choices
    "conditional",  # a parameter is declared in only some cases
    "computed_subcommand",
    "unknown_option",  # a property of the parser that changes how words are read
    "no_parser",  # a parser library is imported, but no parser was found
    "too_many",  # more parameters than MAX_PARAMETERS
]
LIBRARIES: tuple[Library, ...] = get_args(Library)
MAX_PARAMETERS = 300  # of all commands together
MAX_DEPTH = 4  # of nested subcommands
MAX_CHOICES = 300
MAX_TEXT = 1000  # characters of a help text, default or usage line


@dataclass(frozen=True)
class Parameter:
    """An option, or a positional argument if ``flags`` is empty.

    ``id`` is unique in the command line: the subcommands and the name, joined with "/". One occurrence takes
    ``min_values`` to ``max_values`` values (None: no limit); a switch takes none. A repeated option can occur
    several times; a repeated switch is counted.
    """

    id: str
    name: str
    flags: tuple[str, ...] = ()
    negative_flags: tuple[str, ...] = ()  # a switch with these flags has three values: on, off and unset
    type: ValueType = "text"
    min_values: int = 1
    max_values: int | None = 1
    repeated: bool = False
    required: bool = False
    choices: tuple[str, ...] = ()
    default: Scalar | tuple[Scalar, ...] = None
    default_computed: bool = False  # the default is known only when the script runs
    file: FileUse = ""  # the value is probably the path of a file to read or to write
    remainder: bool = False  # a positional that takes all further words unchanged
    hidden: bool = False
    help: str = ""
    metavar: str = ""

    @property
    def is_positional(self) -> bool:
        return not self.flags

    @property
    def is_switch(self) -> bool:
        return bool(self.flags) and self.max_values == 0

    @property
    def has_many_values(self) -> bool:
        """Whether the value is a list: of values, or of lists if the option is repeated."""
        return self.max_values is None or self.max_values > 1 or (self.repeated and not self.is_switch)


@dataclass(frozen=True)
class ExclusiveGroup:
    """The ids of mutually exclusive parameters of one command. A call has at most one of them; exactly one if
    ``required``.
    """

    ids: tuple[str, ...]
    required: bool = False


@dataclass(frozen=True)
class CommandLevel:
    """The parameters of the script or of one subcommand, and the subcommands below it.

    Parameters are in the order of their declaration; positional ones are given in this order.
    """

    name: str = ""
    aliases: tuple[str, ...] = ()
    help: str = ""
    parameters: tuple[Parameter, ...] = ()
    groups: tuple[ExclusiveGroup, ...] = ()
    subcommands: tuple[CommandLevel, ...] = ()
    subcommand_required: bool = False
    accepts_unknown: bool = False  # further words are passed on instead of being refused

    def subcommand(self, name: str) -> CommandLevel | None:
        return next((each for each in self.subcommands if name == each.name or name in each.aliases), None)


@dataclass(frozen=True)
class ReadingGap:
    """A part of the script's parser that could not be read, with its line."""

    reason: GapReason
    line: int | None = None
    text: str = ""  # the source at this place, shortened


@dataclass(frozen=True)
class CommandLine:
    """The command line of the script at ``path``. ``root`` has parameters only for kind ``fields``.

    The parameters are complete if ``gaps`` is empty. ``usage`` is the author's usage text in the script.
    """

    path: str
    kind: Kind
    library: Library = ""
    is_program: bool = True  # False: the file has no main part
    root: CommandLevel = CommandLevel()
    usage: str = ""
    description: str = ""
    gaps: tuple[ReadingGap, ...] = ()

    @property
    def is_complete(self) -> bool:
        return not self.gaps

    def levels(self, commands: tuple[str, ...] = ()) -> tuple[CommandLevel, ...]:
        """The root and the levels of the nested subcommands; raises KeyError for an unknown one."""
        found = [self.root]
        for name in commands:
            level = found[-1].subcommand(name)
            if level is None:
                raise KeyError(name)
            found.append(level)
        return tuple(found)

    def commands(self) -> Iterator[tuple[str, ...]]:
        """Yields the names of the subcommands that lead to each level, parents first; () for the root."""
        waiting: list[tuple[tuple[str, ...], CommandLevel]] = [((), self.root)]
        while waiting:
            names, level = waiting.pop(0)
            yield names
            waiting += [((*names, each.name), each) for each in level.subcommands]
