"""Reads the parameters that click's decorators declare."""

from __future__ import annotations

import ast
from typing import Any

from registry.packages.command_lines.command_line import MAX_CHOICES, FileUse, Parameter
from registry.packages.command_lines.python.commands.declared_command import UnreadableError
from registry.packages.command_lines.python.commands.module_values import ModuleValues, function_of
from registry.packages.command_lines.python.commands.parameters import ValueKind, build_parameter


def kind_of(decorator: ast.Call, values: ModuleValues) -> ValueKind:
    """The type of the parameter that the decorator declares. Raises UnreadableError for unsupported types,
    and for choices that are not constants.
    """
    node = next((each.value for each in decorator.keywords if each.arg == "type"), None)
    if node is None:
        return ValueKind()
    called = function_of(node)
    name = values.library_name(called) or (called.id if isinstance(called, ast.Name) else "other")
    arguments = node.args if isinstance(node, ast.Call) else []
    if name == "Choice":
        choices = values.value(arguments[0]) if arguments else ()
        if not isinstance(choices, list | tuple) or not 0 < len(choices) <= MAX_CHOICES:
            raise UnreadableError(node.lineno)
        return ValueKind(name, tuple(str(each) for each in choices))
    if name == "File":
        mode = str(values.value(arguments[0])) if arguments else "r"
        return ValueKind(name, file="output" if set(mode) & set("wax") else "input")
    if name == "Path" and isinstance(node, ast.Call):
        given = {each.arg: getattr(each.value, "value", None) for each in node.keywords}
        is_file = given.get("exists") is True and given.get("file_okay") is not False
        file: FileUse = "input" if is_file and given.get("dir_okay") is False else ""
        return ValueKind(name, file=file, is_folder=given.get("file_okay") is False)
    if name in ("Tuple", "BOOL", "bool", "DateTime") or isinstance(node, ast.Tuple | ast.List):
        raise UnreadableError(node.lineno)
    return ValueKind(name)


def option_of(names: tuple[str, ...], settings: dict[str, Any], kind: ValueKind, line: int) -> Parameter:
    flags, negative, given = [], [], [each for each in names if each.isidentifier()]
    for declared in names:
        if declared.startswith("-"):
            on, _slash, off = declared.partition("/")
            flags.append(on.strip())
            negative += [off.strip()] if off else []
    default, is_counted = settings.get("default"), bool(settings.get("count"))
    is_switch = bool(settings.get("is_flag") or negative or is_counted)
    if not flags or (isinstance(default, bool) and not is_switch) or (is_switch and settings.get("multiple")):
        raise UnreadableError(line)
    if (is_switch and kind.name) or (default is True and not negative):
        raise UnreadableError(line)  # the flag then has a value of its own
    longest = max(flags, key=lambda each: len(each) - len(each.lstrip("-"))).lstrip("-")
    count = count_of(settings.get("nargs", 1), line)
    values = (0, 0) if is_switch else (count, count)
    asks = settings.get("prompt") and default is None
    return build_parameter(
        given[0] if given else longest.replace("-", "_").lower(),
        settings,
        kind,
        flags=tuple(flags),
        negative_flags=tuple(negative),
        min_values=values[0],
        max_values=values[1],
        repeated=is_counted or bool(settings.get("multiple")),
        required=bool(asks or (settings.get("required") and default is None)),
    )


def argument_of(names: tuple[str, ...], settings: dict[str, Any], kind: ValueKind, line: int) -> Parameter:
    if len(names) > 1:
        raise UnreadableError(line)
    count, default = settings.get("nargs", 1), settings.get("default")
    required = bool(settings.get("required", default is None and count != -1))
    if count == -1:
        low, high = int(required), None
    else:
        high = count_of(count, line)
        low = high if required else 0
        if high > 1 and not required:
            raise UnreadableError(line)
    return build_parameter(
        names[0].replace("-", "_").lower(),
        settings,
        kind,
        min_values=low,
        max_values=high,
        required=required,
    )


def count_of(value: Any, line: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_CHOICES:
        return value
    raise UnreadableError(line)
