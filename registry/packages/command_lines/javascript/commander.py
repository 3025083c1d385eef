"""Builds the commands that a script declares with commander."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from registry.packages.command_lines.command_line import MAX_DEPTH, Parameter
from registry.packages.command_lines.javascript.builders import (
    CommandBuilder,
    Gaps,
    choices_of,
    default_fields,
    option_of,
    positional_of,
    text_for_people,
    value_type,
)
from registry.packages.command_lines.javascript.chains import Call
from registry.packages.command_lines.javascript.values import FunctionNode, Reference
from registry.packages.command_lines.unknown import Unknown

MODULES = ("commander", "@commander-js/extra-typings")
_ADDS = frozenset(
    {"option", "requiredOption", "argument", "arguments", "command", "addOption", "addArgument", "addCommand"}
)


@dataclass(eq=False)
class CommanderCommand:
    builder: CommandBuilder
    depth: int = 0
    has_action: bool = False


@dataclass(eq=False)
class CommanderParameter:
    """The object that ``new Option(…)`` or ``new Argument(…)`` creates."""

    parameter: Parameter | None
    hidden: bool = False


class Commander:
    """Builds the commands of a script. ``program`` is the command that reads the arguments, or None until it
    is found.
    """

    def __init__(self, gaps: Gaps) -> None:
        self.gaps = gaps
        self.program: CommanderCommand | None = None
        self._exported: CommanderCommand | None = None  # the module's own ``program``

    def call_reference(self, path: list[str], call: Call) -> Any:
        """The result of calling ``commander.<path>``."""
        if path[-1:] == ["Command"] or path[-1:] == ["createCommand"]:
            return self._create(call)
        if path[-1:] == ["Option"]:
            text = call.argument(0)
            parameter = option_of(text) if isinstance(text, str) else None
            return CommanderParameter(
                parameter and replace(parameter, help=text_for_people(call.argument(1)))
            )
        if path[-1:] == ["Argument"]:
            text = call.argument(0)
            parameter = positional_of(text) if isinstance(text, str) else None
            return CommanderParameter(
                parameter and replace(parameter, help=text_for_people(call.argument(1)))
            )
        return self.call_command(self.exported(), replace(call, name=path[-1])) if path else None

    def exported(self) -> CommanderCommand:
        if self._exported is None:
            self._exported = CommanderCommand(CommandBuilder())
            self.program = self.program or self._exported
        return self._exported

    def _create(self, call: Call) -> CommanderCommand:
        name = call.argument(0)
        created = CommanderCommand(CommandBuilder(name if isinstance(name, str) else ""))
        self.program = self.program or created
        return created

    def call_command(self, command: CommanderCommand, call: Call) -> Any:
        """The result of a method of a command: the command itself, or a new subcommand."""
        if call.name in _ADDS and call.uncertain:
            self.gaps.add("conditional", call.line)
        if call.name in ("option", "requiredOption"):
            self._add_option(command, call)
        elif call.name in ("argument", "arguments"):
            self._add_positionals(command, call)
        elif call.name in ("addOption", "addArgument"):
            self._add_parameter(command, call)
        elif call.name == "command":
            return self._add_subcommand(command, call)
        elif call.name == "addCommand":
            self._attach(command, call)
        else:
            _set(command, call)
        return command

    def _add_option(self, command: CommanderCommand, call: Call) -> None:
        text = call.argument(0)
        parameter = option_of(text) if isinstance(text, str) else None
        if parameter is None:
            self.gaps.add("computed_name", call.line)
            return
        converter = call.argument(2)
        is_converted = isinstance(converter, Reference | FunctionNode | Unknown)
        default = call.argument(3) if is_converted else converter
        command.builder.add(
            replace(
                parameter,
                help=text_for_people(call.argument(1)),
                required=call.name == "requiredOption" and default is None,
                type="text" if parameter.is_switch else value_type(converter),
                **default_fields(default),
            )
        )

    def _add_positionals(self, command: CommanderCommand, call: Call) -> None:
        text = call.argument(0)
        if not isinstance(text, str):
            self.gaps.add("computed_name", call.line)
            return
        for word in text.split()[:50] if call.name == "arguments" else [text]:
            converter = call.argument(2)
            is_converted = isinstance(converter, Reference | FunctionNode | Unknown)
            default = call.argument(3) if is_converted else converter
            command.builder.add(
                replace(
                    positional_of(word),
                    help=text_for_people(call.argument(1)) if call.name == "argument" else "",
                    type=value_type(converter),
                    **default_fields(default),
                )
            )

    def _add_parameter(self, command: CommanderCommand, call: Call) -> None:
        given = call.argument(0)
        if isinstance(given, CommanderParameter) and given.parameter is not None:
            command.builder.add(given.parameter)
        else:
            self.gaps.add("computed_name", call.line)

    def call_parameter(self, given: CommanderParameter, call: Call) -> CommanderParameter:
        """The result of a method of an Option or Argument, such as ``.choices([…])``."""
        if given.parameter is None:
            return given
        changes: dict[str, Any] = {}
        if call.name == "choices":
            choices = choices_of(call.argument(0))
            changes = {"choices": choices or ()}
            if choices is None:
                self.gaps.add("computed_value", call.line)
        elif call.name == "default":
            changes = default_fields(call.argument(0))
        elif call.name == "makeOptionMandatory":
            changes = {"required": call.argument(0) is not False}
        elif call.name == "argParser":
            changes = {"type": value_type(call.argument(0))}
        elif call.name == "argOptional":
            changes = {"required": False, "min_values": 0}
        elif call.name == "hideHelp":
            changes = {"hidden": True}
        given.parameter = replace(given.parameter, **changes)
        return given

    def _add_subcommand(self, command: CommanderCommand, call: Call) -> CommanderCommand:
        """The subcommand that ``command("add <file>")`` creates.

        With a description, the call declares a separate program: adds a gap and returns ``command``. If the
        name is not known or the nesting too deep, adds a gap and returns a detached command.
        """
        text = call.argument(0)
        if not isinstance(text, str) or not text.split() or command.depth >= MAX_DEPTH:
            self.gaps.add("computed_subcommand", call.line)
            return CommanderCommand(CommandBuilder(), MAX_DEPTH)
        if isinstance(call.argument(1), str):
            self.gaps.add("computed_subcommand", call.line)
            return command
        name, *words = text.split()
        created = CommanderCommand(CommandBuilder(name), command.depth + 1)
        for word in words[:50]:
            created.builder.add(positional_of(word))
        command.builder.subcommands.append(created.builder)
        return created

    def _attach(self, command: CommanderCommand, call: Call) -> None:
        given = call.argument(0)
        is_new = isinstance(given, CommanderCommand) and given is not command and given.depth == 0
        if (
            isinstance(given, CommanderCommand)
            and is_new
            and given.builder.name
            and command.depth < MAX_DEPTH
        ):
            given.depth = command.depth + 1
            command.builder.subcommands.append(given.builder)
            self.program = command if self.program is given else self.program
        else:
            self.gaps.add("computed_subcommand", call.line)


def _set(command: CommanderCommand, call: Call) -> None:
    builder, value = command.builder, call.argument(0)
    if call.name == "description":
        builder.description = text_for_people(value)
    elif call.name == "name" and isinstance(value, str):
        builder.name = value
    elif call.name in ("alias", "aliases"):
        builder.aliases += [
            each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)
        ]
    elif call.name == "usage":
        builder.usage = text_for_people(value)
    elif call.name == "allowUnknownOption":
        builder.accepts_unknown = value is not False
    elif call.name == "action":
        command.has_action = True
