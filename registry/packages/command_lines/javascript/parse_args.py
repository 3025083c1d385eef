"""Reads the options of ``parseArgs``, of Node's module ``util`` and of Deno's standard library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from registry.packages.command_lines.command_line import MAX_PARAMETERS, Parameter
from registry.packages.command_lines.file_use import file_use
from registry.packages.command_lines.javascript.builders import CommandBuilder, Gaps, default_fields
from registry.packages.command_lines.javascript.chains import Call

_POSITIONALS = Parameter("arguments", "arguments", min_values=0, max_values=None)


def node_command(call: Call, gaps: Gaps) -> CommandBuilder:
    """The command that Node's ``parseArgs({options: {…}, allowPositionals: true})`` declares."""
    builder = CommandBuilder()
    given = call.argument(0)
    settings = given if isinstance(given, dict) else {}
    options = settings.get("options", {})
    if settings is not given or "..." in settings or not isinstance(options, dict):
        gaps.add("computed_name", call.line)
        options = {}
    is_strict = settings.get("strict") is not False
    if settings.get("allowPositionals", not is_strict) is not False:
        builder.add(_POSITIONALS)
    for name, properties in list(options.items())[:MAX_PARAMETERS]:
        if name == "..." or not isinstance(properties, dict) or "..." in properties:
            gaps.add("computed_name", call.line)
        elif name != "help":
            builder.add(_node_option(name, properties))
    builder.accepts_unknown = not is_strict
    return builder


def _node_option(name: str, properties: dict[str, Any]) -> Parameter:
    is_switch = properties.get("type") == "boolean"
    short = properties.get("short")
    return Parameter(
        name,
        name,
        (*((f"-{short}",) if isinstance(short, str) and short else ()), f"--{name}"),
        min_values=0 if is_switch else 1,
        max_values=0 if is_switch else 1,
        repeated=properties.get("multiple") is True,
        file="" if is_switch else file_use(name),
        **default_fields(properties.get("default")),
    )


def deno_command(call: Call, gaps: Gaps) -> CommandBuilder:
    """The command that Deno's ``parseArgs(Deno.args, {string: […], boolean: […], alias: {…},
    default: {…}})`` declares.
    """
    builder = CommandBuilder()
    given = call.argument(1)
    settings = given if isinstance(given, dict) else {}
    if given is not None and (given is not settings or "..." in settings):
        gaps.add("computed_name", call.line)
    switches, texts, lists = (_names(settings.get(key)) for key in ("boolean", "string", "collect"))
    aliases, defaults = _entries(settings.get("alias")), _entries(settings.get("default"))
    canonical = set(switches) | set(texts) | set(lists)
    for name in _without_aliases([*texts, *lists, *switches, *defaults], aliases, canonical):
        is_switch = name in switches or defaults.get(name) in (True, False)
        builder.add(
            Parameter(
                name,
                name,
                tuple(_flags(name, aliases)),
                min_values=0 if is_switch else 1,
                max_values=0 if is_switch else 1,
                repeated=name in lists and not is_switch,
                file="" if is_switch else file_use(name),
                **default_fields(defaults.get(name)),
            )
        )
    builder.add(_POSITIONALS)
    return builder


def _entries(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _names(value: Any) -> list[str]:
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]


def _without_aliases(names: Sequence[str], aliases: dict[str, Any], canonical: set[str]) -> Iterator[str]:
    shadowed = {each for name, given in aliases.items() for each in _names(given) if name in canonical}
    for name in dict.fromkeys(names):
        if name not in shadowed and name not in ("help", "h", "..."):
            yield name


def _flags(name: str, aliases: dict[str, Any]) -> Iterator[str]:
    linked = [*_names(aliases.get(name)), *(key for key, given in aliases.items() if name in _names(given))]
    for each in sorted({name, *linked}, key=len):
        yield f"-{each}" if len(each) == 1 else f"--{each}"
