"""Turns the parsers that a script builds with argparse into commands with parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from registry.packages.command_lines.command_line import (
    MAX_CHOICES,
    MAX_DEPTH,
    MAX_TEXT,
    CommandLevel,
    ExclusiveGroup,
    Parameter,
    ValueType,
)
from registry.packages.command_lines.file_use import file_use
from registry.packages.command_lines.python.argparse_calls import (
    ArgparseLibrary,
    Argument,
    ParserValue,
)
from registry.packages.command_lines.python.constants import items_of
from registry.packages.command_lines.python.values import (
    ClassValue,
    DottedName,
    EnumMember,
    FunctionValue,
    is_constant,
    is_known,
)
from registry.packages.command_lines.unknown import Unknown

_SWITCHES = ("store_true", "store_false", "store_const", "append_const", "count")
_STORES = ("store", "append", "extend")
_SUPPRESS = "==SUPPRESS=="
_TYPES: dict[str, ValueType] = {"int": "integer", "float": "number"}


def command_level(
    parser: ParserValue, library: ArgparseLibrary, names: tuple[str, ...] = (), aliases: tuple[str, ...] = ()
) -> CommandLevel:
    """The command level of the parser, with its subcommands. Adds the parts that can't be read to the
    library's gaps.
    """
    declared = list(_declared(parser, library, names))
    if len(names) >= MAX_DEPTH and parser.subparsers:
        library.add_gap("too_many", 1)
    subparsers = parser.subparsers if len(names) < MAX_DEPTH else None
    return CommandLevel(
        name=names[-1] if names else "",
        aliases=aliases,
        help=text_of(parser.keywords.get("help") or parser.keywords.get("description")),
        parameters=tuple(parameter for parameter, _argument in declared),
        groups=tuple(_groups(declared)),
        subcommands=tuple(
            command_level(each, library, (*names, name), others)
            for name, others, each in (_last_of_each_name(subparsers.parsers) if subparsers else ())
        ),
        subcommand_required=bool(subparsers and subparsers.keywords.get("required") is True),
        accepts_unknown=parser.accepts_unknown,
    )


def _last_of_each_name(
    parsers: Sequence[tuple[str, tuple[str, ...], ParserValue]],
) -> list[tuple[str, tuple[str, ...], ParserValue]]:
    return list({name: (name, aliases, parser) for name, aliases, parser in parsers}.values())


def _declared(
    parser: ParserValue, library: ArgparseLibrary, commands: tuple[str, ...]
) -> Iterator[tuple[Parameter, Argument]]:
    """The parameters with their declarations. If a name occurs twice, a number makes the ids unique."""
    seen: dict[str, int] = {}
    for argument in parser.arguments:
        parameter = _parameter(argument, library)
        if parameter is None:
            continue
        if parameter.name in parser.defaults:
            parameter = replace(parameter, **_default(parser.defaults[parameter.name]))
        name = parameter.id
        seen[name] = seen.get(name, 0) + 1
        suffix = "" if seen[name] == 1 else f"-{seen[name]}"
        yield replace(parameter, id="/".join((*commands, f"{name}{suffix}"))), argument


def _groups(declared: Sequence[tuple[Parameter, Argument]]) -> Iterator[ExclusiveGroup]:
    groups = list(dict.fromkeys(argument.group for _parameter, argument in declared if argument.group))
    for group in groups:
        ids = tuple(parameter.id for parameter, argument in declared if argument.group is group)
        yield ExclusiveGroup(ids, group.required)


def _parameter(argument: Argument, library: ArgparseLibrary) -> Parameter | None:
    """The parameter of one add_argument call; None for help, version and calls that can't be read."""
    keywords = argument.keywords
    action = _action(keywords.get("action", "store"))
    if action in ("help", "version"):
        return None
    if action is None:
        library.add_gap("computed_value", argument.line)
        action = "store"
    flags = argument.names if argument.names[0].startswith("-") else ()
    is_switch = action in _SWITCHES or action == "BooleanOptionalAction"
    low, high = (0, 0) if is_switch else _count_of_values(argument, library)
    name = _destination(argument)
    metavar = _metavar(keywords.get("metavar"))
    help_text = keywords.get("help")
    parameter = Parameter(
        id=name,
        name=name,
        flags=flags,
        negative_flags=_negative_flags(flags) if action == "BooleanOptionalAction" else (),
        type="text" if is_switch else _TYPES.get(_type_name(keywords), "text"),
        min_values=low,
        max_values=high,
        repeated=bool(flags) and action in ("append", "extend", "append_const", "count"),
        required=_is_required(argument, library) if flags else low > 0,
        choices=() if is_switch else _choices(argument, library),
        file="" if is_switch else _file_use(keywords, name, metavar),
        remainder=keywords.get("nargs") == "...",
        hidden=help_text == _SUPPRESS,
        help="" if help_text == _SUPPRESS else text_of(help_text),
        metavar=metavar,
    )
    parameter = replace(parameter, **_default(keywords.get("default")))
    return replace(parameter, help=_expanded(parameter))


def _action(value: Any) -> str | None:
    """The name of the action; None if it is not known.

    A class of the script without a constructor counts as ``store``.
    """
    if isinstance(value, DottedName):
        return value.text.rpartition(".")[2] if value.text.startswith("argparse.") else None
    if isinstance(value, ClassValue):
        return None if value.find("__init__") else "store"
    known = (*_SWITCHES, *_STORES, "help", "version")
    return value if value in known else None


def _destination(argument: Argument) -> str:
    if isinstance(argument.keywords.get("dest"), str) and argument.names[0].startswith("-"):
        return str(argument.keywords["dest"])
    longest = next((name for name in argument.names if name.startswith("--")), argument.names[0])
    stripped = longest.lstrip("-")
    return (stripped.replace("-", "_") if argument.names[0].startswith("-") else longest)[:200]


def _negative_flags(flags: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"--no-{flag[2:]}" for flag in flags if flag.startswith("--"))


def _is_required(argument: Argument, library: ArgparseLibrary) -> bool:
    value = argument.keywords.get("required")
    if not is_constant(value):
        library.add_gap("computed_value", argument.line)
        return False
    return bool(value)


def _count_of_values(argument: Argument, library: ArgparseLibrary) -> tuple[int, int | None]:
    count = argument.keywords.get("nargs")
    ranges: dict[Any, tuple[int, int | None]] = {
        None: (1, 1), "?": (0, 1), "*": (0, None), "+": (1, None), "...": (0, None), "A...": (1, None)
    }  # fmt: skip
    if isinstance(count, int) and 0 <= count <= MAX_CHOICES:
        return count, count
    if isinstance(count, str | None) and count in ranges:
        return ranges[count]
    library.add_gap("computed_value", argument.line)
    return 1, 1


def _type_name(keywords: dict[str, Any]) -> str:
    value = keywords.get("type")
    if isinstance(value, DottedName):
        return value.text
    return getattr(value.node, "name", "") if isinstance(value, FunctionValue) else ""


def _file_use(keywords: dict[str, Any], name: str, metavar: str) -> Any:
    type_name = _type_name(keywords)
    if type_name.startswith("argparse.FileType."):
        return "output" if set(type_name.rpartition(".")[2]) & set("wax") else "input"
    if type_name in _TYPES or keywords.get("choices") is not None:
        return ""
    return file_use(name, metavar)


def _choices(argument: Argument, library: ArgparseLibrary) -> tuple[str, ...]:
    given = argument.keywords.get("choices")
    if given is None:
        return ()
    items = items_of(given)
    by_type = isinstance(argument.keywords.get("type"), ClassValue)
    if items is not None:
        items = (
            [each.value if by_type else each for each in items] if by_type and _are_members(items) else items
        )
    if items is None or len(items) > MAX_CHOICES or not all(map(is_constant, items)):
        library.add_gap("computed_value", argument.line)
        return ()
    return tuple(str(each) for each in items)


def _are_members(items: Sequence[Any]) -> bool:
    return all(isinstance(each, EnumMember) for each in items)


def _default(value: Any) -> dict[str, Any]:
    """The parameter's fields ``default`` and ``default_computed`` for this value, as far as they are set."""
    if isinstance(value, EnumMember):
        value = value.value
    if value == _SUPPRESS or value is None:
        return {}
    if (isinstance(value, str) and len(value) > MAX_TEXT) or not is_known(value):
        return {"default_computed": True}
    return {"default": tuple(value[:MAX_CHOICES]) if isinstance(value, list | tuple) else value}


def _metavar(value: Any) -> str:
    return " ".join(text_of(each) for each in (value if isinstance(value, list) else [value])).strip()[:80]


def text_of(value: Any) -> str:
    """The help text in one line, cut to ``MAX_TEXT``; "" if it is not known or hidden."""
    if isinstance(value, Unknown) or not isinstance(value, str):
        return ""
    return " ".join(value.split())[:MAX_TEXT] if value != _SUPPRESS else ""


def _expanded(parameter: Parameter) -> str:
    """The parameter's help, with ``%(default)s``, ``%(choices)s`` and ``%(dest)s`` replaced."""
    default = "…" if parameter.default_computed else parameter.default
    shown = ", ".join(map(str, default)) if isinstance(default, tuple) else str(default)
    text = parameter.help
    for name, value in (
        ("default", shown),
        ("choices", ", ".join(parameter.choices)),
        ("dest", parameter.name),
    ):
        text = text.replace(f"%({name})s", value).replace(f"%({name})d", value)
    return text.replace("%%", "%")[:MAX_TEXT]
