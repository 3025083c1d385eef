"""Builds the commands that a script declares with yargs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from registry.packages.command_lines.command_line import MAX_DEPTH, Parameter
from registry.packages.command_lines.file_use import file_use
from registry.packages.command_lines.javascript.builders import (
    CommandBuilder,
    Gaps,
    choices_of,
    default_fields,
    positional_of,
    text_for_people,
)
from registry.packages.command_lines.javascript.chains import Call, Chains
from registry.packages.command_lines.javascript.values import FunctionNode, Names

MODULES = ("yargs", "yargs/yargs", "yargs/helpers")
_OPTIONS = ("option", "options", "positional")
_TYPED = ("boolean", "string", "number", "array", "count")
_DEMANDS = ("demandOption", "demand", "require", "required")


@dataclass(eq=False)
class YargsCommand:
    builder: CommandBuilder
    depth: int = 0


class Yargs:
    """Builds the commands of a script; ``program`` is None before yargs is called."""

    def __init__(self, gaps: Gaps) -> None:
        self.gaps = gaps
        self.program: YargsCommand | None = None

    def call_reference(self, path: list[str], call: Call, names: Names, chains: Chains) -> Any:
        """The command after a call of ``yargs.<path>``, or of ``yargs`` if the path is empty. None for
        ``hideBin``.

        All calls share one command, because a script has one parser.
        """
        if path[-1:] == ["hideBin"]:
            return None
        self.program = self.program or YargsCommand(CommandBuilder())
        if not path or path[-1] in ("yargs", "default"):
            return self.program
        return self.call_command(self.program, replace(call, name=path[-1]), names, chains)

    def call_command(self, command: YargsCommand, call: Call, names: Names, chains: Chains) -> YargsCommand:
        """Applies a method call to the command and returns the command."""
        if call.uncertain and call.name in (*_OPTIONS, *_TYPED, "command"):
            self.gaps.add("conditional", call.line)
        if call.name in ("option", "positional"):
            self._add(command, call.argument(0), call.argument(1), call)
        elif call.name == "options" and isinstance(call.argument(0), dict):
            for name, properties in call.argument(0).items():
                self._add(command, name, properties, call)
        elif call.name == "options":
            self._add(command, call.argument(0), call.argument(1), call)
        elif call.name in _TYPED:
            for name in _listed(call.argument(0)):
                self._add(command, name, {**self._known(command, name), call.name: True}, call)
        elif call.name == "command":
            self._add_command(command, call, names, chains)
        elif call.name == "demandCommand":
            command.builder.subcommand_required = call.argument(0) != 0
        else:
            self._set(command, call)
        return command

    def _known(self, command: YargsCommand, name: str) -> dict[str, Any]:
        """The properties that an earlier call set for the option; a later call keeps them."""
        for each in command.builder.parameters:
            if each.name == name:
                others = [flag.lstrip("-") for flag in each.flags if flag.lstrip("-") != name]
                known = {"describe": each.help, "demandOption": each.required, "default": each.default}
                return {**known, "alias": others}
        return {}

    def _add(self, command: YargsCommand, name: Any, properties: Any, call: Call) -> None:
        if not isinstance(name, str) or not name or name == "..." or len(name) > 100:
            self.gaps.add("computed_name", call.line)
            return
        known = properties if isinstance(properties, dict) else {}
        if "..." in known or (properties is not None and properties is not known):
            self.gaps.add("computed_value", call.line)
        existing = next(
            (each for each in command.builder.parameters if each.name == name and not each.flags), None
        )
        choices = choices_of(known["choices"]) if "choices" in known else ()
        if choices is None:
            self.gaps.add("computed_value", call.line)
        if existing is not None or call.name == "positional":
            base = existing or positional_of(f"[{name}]")
        else:
            base = _option(name, known)
        command.builder.add(
            replace(
                base,
                help=text_for_people(known.get("describe") or known.get("description") or known.get("desc")),
                choices=choices or (),
                type="number" if _is(known, "number") and not base.is_switch else "text",
                hidden=known.get("hidden") is True,
                **default_fields(known.get("default")),
            )
        )

    def _add_command(self, command: YargsCommand, call: Call, names: Names, chains: Chains) -> None:
        first, help_text, builder = call.argument(0), call.argument(1), call.argument(2)
        aliases: list[Any] = []
        if isinstance(first, dict):
            help_text = first.get("describe") or first.get("description") or first.get("desc")
            builder, aliases = first.get("builder"), _listed(first.get("aliases"))
            first = first.get("command")
        texts = _listed(first)
        if not texts or not texts[0].split() or command.depth >= MAX_DEPTH:
            self.gaps.add("computed_subcommand", call.line)
            return
        name, *words = texts[0].split()
        if name in ("$0", "*"):  # the command that runs without a subcommand
            created = command
        else:
            aliases += [each.split()[0] for each in texts[1:] if each.split()]
            created = YargsCommand(CommandBuilder(name, aliases), command.depth + 1)
            command.builder.subcommands.append(created.builder)
        created.builder.description = text_for_people(help_text) or created.builder.description
        for word in words[:50]:
            created.builder.add(positional_of(word))
        if isinstance(builder, dict):
            for option, properties in builder.items():
                self._add(created, option, properties, replace(call, name="option"))
        elif isinstance(builder, FunctionNode):
            chains.enter(builder, created, names)

    def _set(self, command: YargsCommand, call: Call) -> None:
        builder, value = command.builder, call.argument(0)
        if call.name == "usage" and isinstance(value, str):
            builder.usage = text_for_people(value)
        elif call.name == "alias":
            for name, alias in value.items() if isinstance(value, dict) else [(value, call.argument(1))]:
                self._add_alias(command, name, alias)
        elif call.name in ("default", "describe", "choices", *_DEMANDS):
            self._change(command, call)

    def _add_alias(self, command: YargsCommand, name: Any, alias: Any) -> None:
        """Adds the flag of the alias. Either of the two names can be the declared one."""
        for declared, other in ((name, alias), (alias, name)):
            for each in command.builder.parameters:
                if each.name == declared and each.flags and isinstance(other, str):
                    command.builder.change(each.name, flags=(*each.flags, _flag(other)))
                    return

    def _change(self, command: YargsCommand, call: Call) -> None:
        value = call.argument(0)
        entries = value if isinstance(value, dict) else dict.fromkeys(_listed(value), call.argument(1))
        for name, each in entries.items():
            if call.name == "default":
                command.builder.change(name, **default_fields(each))
            elif call.name == "describe":
                command.builder.change(name, help=text_for_people(each))
            elif call.name == "choices":
                command.builder.change(name, choices=choices_of(each) or ())
            else:
                command.builder.change(name, required=True)


def _option(name: str, properties: dict[str, Any]) -> Parameter:
    flags = [_flag(each) for each in (name, *_listed(properties.get("alias")))]
    count = properties.get("nargs")
    is_switch = _is(properties, "boolean") or _is(properties, "count")
    is_list = _is(properties, "array")
    values = count if isinstance(count, int) and 0 < count < 100 else 1
    is_on = is_switch and properties.get("default") is True
    return Parameter(
        name,
        name,
        tuple(flags),
        negative_flags=tuple(f"--no-{flag[2:]}" for flag in flags if is_on and flag.startswith("--")),
        min_values=0 if is_switch else values,
        max_values=0 if is_switch else None if is_list else values,
        repeated=_is(properties, "count"),
        required=any(properties.get(each) not in (None, False) for each in _DEMANDS),
        file="" if is_switch else file_use(name),
    )


def _is(properties: dict[str, Any], name: str) -> bool:
    return properties.get("type") == name or properties.get(name) is True


def _flag(name: str) -> str:
    return f"-{name}" if len(name) == 1 else f"--{name}"


def _listed(value: Any) -> list[str]:
    return [
        each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str) and each
    ]
