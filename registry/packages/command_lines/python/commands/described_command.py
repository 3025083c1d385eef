"""Converts the description of a click or typer command, written by the running script, to a command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from registry.packages.command_lines.command_line import (
    MAX_CHOICES,
    MAX_DEPTH,
    CommandLine,
    FileUse,
    Library,
    Parameter,
)
from registry.packages.command_lines.python.argparse_parameters import text_of
from registry.packages.command_lines.python.commands.declared_command import (
    DeclaredCommand,
    UnreadableError,
    command_line_of,
)
from registry.packages.command_lines.python.commands.parameters import ValueKind, build_parameter


def read_command_description(description: Mapping[str, Any], path: str) -> CommandLine | None:
    """The described command line.

    Returns None if a command parses its words itself, is nested too deeply or repeats a parameter's name.
    Raises UnreadableError, or any error caused by a wrong shape, because the script can write anything.
    """
    library: Library = "typer" if description["library"] == "typer" else "click"
    root = _command("", description["root"], library)
    return command_line_of(root, path, library) if root else None


def _command(
    name: str, described: Mapping[str, Any], library: Library, depth: int = 0
) -> DeclaredCommand | None:
    if described["reads_words_itself"] or depth > MAX_DEPTH:
        return None
    command = DeclaredCommand(
        name,
        bool(described["is_group"]),
        text_of(described["help"]),
        1,
        subcommand_required=bool(described["subcommand_required"]),
        parameters=[_parameter(each, library) for each in described["parameters"]],
        accepts_unknown=bool(described["accepts_unknown"]),
    )
    if len({each.name for each in command.parameters}) < len(command.parameters):
        return None
    for below_name, each in described["subcommands"].items():
        below = _command(str(below_name), each, library, depth + 1)
        if below is None:
            return None
        command.subcommands[below.name] = below
    return command


def _parameter(described: Mapping[str, Any], library: Library) -> Parameter:
    flags = tuple(str(each) for each in described["flags"])
    is_switch, is_known = bool(described["is_switch"]), "value" in described["default"]
    default = described["default"].get("value")
    if isinstance(default, bool) and not is_switch:
        default = str(default).lower()  # as in the choices of the type
    required = bool(described["required"] or (described["prompts"] and is_known and default is None))
    count = int(described["nargs"])
    high = 0 if is_switch else None if count == -1 else min(count, MAX_CHOICES)
    low = 0 if is_switch or described["is_optional_value"] or not (flags or required) else high or 1
    parameter = build_parameter(
        str(described["name"])[:200],
        {
            "default": default,
            "metavar": described["metavar"],
            "help": described["help"],
            "hidden": described["hidden"],
        },
        ValueKind("switch") if is_switch else _kind(described, library),
        flags=flags,
        negative_flags=tuple(str(each) for each in described["negative_flags"]),
        min_values=low,
        max_values=high,
        repeated=bool(flags and described["is_repeated"]),
        required=required,
    )
    return parameter if is_known else replace(parameter, default=None, default_computed=True)


def _kind(described: Mapping[str, Any], library: Library) -> ValueKind:
    name, choices = str(described["type"]), described["choices"]
    if choices is not None:
        if len(choices) > MAX_CHOICES:
            raise UnreadableError(1)
        return ValueKind("Choice", tuple(str(each) for each in choices))
    if name == "bool":
        return ValueKind("Choice", ("true", "false"))
    if name == "File":
        return ValueKind(name, file="output" if set(str(described["mode"])) & set("wax") else "input")
    exists, file_okay, dir_okay = (bool(each) for each in described["path"])
    if name != "Path":
        return ValueKind(name or "text")
    file: FileUse = "input" if exists and file_okay and (library == "typer" or not dir_okay) else ""
    return ValueKind(name, file=file, is_folder=not file_okay)
