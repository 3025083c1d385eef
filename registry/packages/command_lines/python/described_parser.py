"""Turns the description of a running script's parser into a command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from registry.packages.command_lines.command_line import CommandLevel, CommandLine, Parameter
from registry.packages.command_lines.python.argparse_calls import (
    ArgparseLibrary,
    Argument,
    ExclusiveArguments,
    ParserValue,
    SubparsersValue,
)
from registry.packages.command_lines.python.argparse_parameters import command_level, text_of
from registry.packages.command_lines.python.commands.declared_command import UnreadableError
from registry.packages.command_lines.python.commands.described_command import read_command_description
from registry.packages.command_lines.python.values import DottedName
from registry.packages.command_lines.unknown import UNKNOWN

_LIBRARIES = ("argparse", "click", "typer")
_KEYWORDS = ("dest", "action", "nargs", "required", "help", "metavar", "choices")


def can_ask_parser(static: CommandLine) -> bool:
    """Whether the running script may describe its parser: the parser is from a known library, or was not
    found in the source.
    """
    return static.path.endswith(".py") and (static.library in _LIBRARIES or _lacks_parser(static))


def needs_dependencies(static: CommandLine) -> bool:
    """Whether the running script can describe its parser only with the version's dependencies."""
    return static.library != "argparse" and can_ask_parser(static)


def _lacks_parser(static: CommandLine) -> bool:
    return any(gap.reason == "no_parser" for gap in static.gaps)


def read_description(description: Mapping[str, Any], static: CommandLine) -> CommandLine | None:
    """The command line of a parser that was described by the script's own process; None if it is not usable.

    ``static`` is the command line read from the script. It provides the texts that depend on the machine.
    The description is untrusted: the script can write anything. A parser that accepts unknown words may be
    the first of two, so it is not usable unless ``static`` accepts them too.
    """
    try:
        return _read(description, static)
    except (UnreadableError, AttributeError, KeyError, TypeError, ValueError, IndexError, RecursionError):
        return None


def _read(description: Mapping[str, Any], static: CommandLine) -> CommandLine | None:
    if "library" in description:
        read = read_command_description(description, static.path)
        return read and replace(
            read,
            root=_with_static_texts(read.root, static.root),
            usage=static.usage,
            description=read.description or static.description,
        )
    if description["prefix_chars"] != "-":
        return None
    if description["accepts_unknown"] and not static.root.accepts_unknown:
        return None
    library = ArgparseLibrary([])
    parser = _parser(description)
    parser.accepts_unknown = bool(description["accepts_unknown"])
    root = _with_static_texts(command_level(parser, library), static.root)
    if library.gaps:
        return None
    has_fields = bool(root.parameters or root.subcommands)
    return CommandLine(
        static.path,
        "fields" if has_fields else "none",
        "argparse",
        root=root if has_fields else CommandLevel(),
        usage=text_of(description["usage"]) or static.usage,
        description=text_of(description["description"]) or static.description,
    )


def _parser(description: Mapping[str, Any]) -> ParserValue:
    keywords = {name: description.get(name) for name in ("help", "description", "usage")}
    parser = ParserValue(keywords)
    groups = [ExclusiveArguments(bool(required)) for required in description["groups"]]
    parser.arguments = [_argument(each, groups) for each in description["arguments"]]
    if subparsers := description.get("subparsers"):
        parser.subparsers = SubparsersValue({"required": bool(subparsers["required"])})
        for each in subparsers["parsers"]:
            aliases = tuple(str(name) for name in each["aliases"])
            parser.subparsers.parsers.append((str(each["name"]), aliases, _parser(each)))
    return parser


def _argument(described: Mapping[str, Any], groups: list[ExclusiveArguments]) -> Argument:
    flags = tuple(str(flag) for flag in described["flags"])
    action = str(described["action"])
    if action == "BooleanOptionalAction":
        flags = tuple(flag for flag in flags if not flag.startswith("--no-")) or flags
    keywords = {name: described[name] for name in _KEYWORDS}
    if action == "BooleanOptionalAction":
        keywords["action"] = DottedName("argparse.BooleanOptionalAction")
    keywords["type"] = DottedName(str(described["type"]))
    keywords["default"] = described["default"].get("value", UNKNOWN)
    if keywords["choices"] is None:
        del keywords["choices"]
    group = described["group"]
    names = flags or (str(described["dest"]),)
    return Argument(names, keywords, 1, groups[group] if isinstance(group, int) else None)


def _with_static_texts(level: CommandLevel, static: CommandLevel) -> CommandLevel:
    """The level, with the default and help of ``static`` for each parameter whose default is
    computed when the script runs.
    """
    computed = {each.id: each for each in static.parameters if each.default_computed}
    below = {each.name: each for each in static.subcommands}
    return replace(
        level,
        parameters=tuple(_merged(each, computed.get(each.id)) for each in level.parameters),
        subcommands=tuple(
            _with_static_texts(each, below.get(each.name, CommandLevel())) for each in level.subcommands
        ),
    )


def _merged(parameter: Parameter, static: Parameter | None) -> Parameter:
    if static is None:
        return parameter
    return replace(parameter, default=None, default_computed=True, help=static.help or parameter.help)
