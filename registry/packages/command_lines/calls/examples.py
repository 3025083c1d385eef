"""Chooses plausible values for the required parameters of a call."""

from __future__ import annotations

from typing import Any

from registry.packages.command_lines.command_line import CommandLine, Parameter


def example_values(command_line: CommandLine, commands: tuple[str, ...], *, file: Any) -> dict[str, Any]:
    """A value for each required parameter and for one of each required group, by parameter id.

    ``file`` is the value of parameters that read a file.
    """
    values: dict[str, Any] = {}
    for level in command_line.levels(commands):
        chosen = {group.ids[0] for group in level.groups if group.required and group.ids}
        for parameter in level.parameters:
            if parameter.required or parameter.id in chosen:
                values[parameter.id] = _value(parameter, file)
    return values


def _value(parameter: Parameter, file: Any) -> Any:
    if parameter.is_switch:
        return 1 if parameter.repeated else True
    one = _one(parameter, file)
    if not parameter.has_many_values:
        return one
    many = [one] * max(1, parameter.min_values)
    return [many] if parameter.repeated and parameter.max_values != 1 else many


def _one(parameter: Parameter, file: Any) -> Any:
    if parameter.choices:
        return parameter.choices[0]
    if parameter.type != "text":
        return "1"
    if parameter.file == "input":
        return file
    return "output.txt" if parameter.file == "output" else parameter.metavar or parameter.name
