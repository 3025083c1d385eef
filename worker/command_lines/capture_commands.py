"""Describes the commands of a script that uses click or typer.

This file is copied into the sandbox next to ``capture.py``. It uses only the standard library, and click or
typer from the script's dependencies.
"""

from __future__ import annotations

import enum
import importlib
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

_MAX_TEXT = 4_000
_MAX_ITEMS = 300
_MAX_DEPTH = 6
_READS_WORDS = ("parse_args", "make_context", "invoke", "resolve_command")
_CLASSES = {
    "click": (("click.core", "Command"),),
    "typer": (
        ("typer.core", "TyperCommand"),
        ("typer.core", "TyperGroup"),
        ("typer._click.core", "Command"),
    ),
}
_COMPLETION = ("install_completion", "show_completion")

Report = Callable[[object], NoReturn]


def capture_commands(report: Report) -> None:
    """Makes the script's command report its description instead of running."""

    def describe(library: str) -> Any:
        def main(command: Any, *arguments: object, **keywords: object) -> NoReturn:
            report({"library": library, "root": _describe(command, library)})

        return main

    _replace_main(describe)


def try_commands(words: Sequence[str], report: Report) -> None:
    """Makes the script's command report whether it accepts the words, instead of running."""

    def attempt(library: str) -> Any:
        def main(command: Any, *arguments: object, **keywords: object) -> NoReturn:
            try:
                _parse(command, list(words), None)
            except Exception:  # the exceptions of click and typer have no common class
                report({"accepted": False})
            report({"accepted": True})

        return main

    _replace_main(attempt)


def _replace_main(create: Callable[[str], Any]) -> None:
    for library, classes in _CLASSES.items():
        if importlib.util.find_spec(library) is None:
            continue
        for module, name in classes:
            try:
                owner: Any = getattr(importlib.import_module(module), name)
            except (ImportError, AttributeError):
                continue  # the versions of the library differ
            owner.main = create(library)


def _parse(command: Any, words: list[str], parent: Any) -> None:
    context = command.make_context("script", words, parent=parent)
    rest = [*getattr(context, "_protected_args", getattr(context, "protected_args", ())), *context.args]
    if rest and hasattr(command, "resolve_command"):
        _name, below, rest = command.resolve_command(context, rest)
        _parse(below, rest, context)


def _describe(command: Any, library: str, depth: int = 0) -> dict[str, Any]:
    context = command.context_class(command, info_name="script")
    is_group = hasattr(command, "list_commands")
    return {
        "help": _text(command.help),
        "reads_words_itself": bool(getattr(command, "chain", False)) or _parses_words_itself(command),
        "accepts_unknown": bool(
            context.ignore_unknown_options or (context.allow_extra_args and not is_group)
        ),
        "is_group": is_group,
        "subcommand_required": is_group and not command.invoke_without_command,
        "parameters": [
            _describe_parameter(each, library)
            for each in command.params[:_MAX_ITEMS]
            if not (each.name in _COMPLETION or _ends_script(each))
        ],
        "subcommands": {
            name: _describe(below, library, depth + 1)
            for name, below in _subcommands_of(command, context, depth)
        },
    }


def _subcommands_of(command: Any, context: Any, depth: int) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "list_commands") or depth >= _MAX_DEPTH:
        return
    names = dict.fromkeys([*getattr(command, "commands", ()), *command.list_commands(context)])
    for name in list(names)[:_MAX_ITEMS]:
        below = command.get_command(context, name)
        if below is not None:
            yield str(name), below


def _parses_words_itself(command: Any) -> bool:
    methods = [getattr(type(command), name, None) for name in _READS_WORDS]
    return any(each and each.__module__.partition(".")[0] not in _CLASSES for each in methods)


def _ends_script(parameter: Any) -> bool:
    """Whether the option ends the script, as ``--version`` and ``--help`` do."""
    return parameter.is_eager and not parameter.expose_value and parameter.name in ("version", "help")


def _describe_parameter(parameter: Any, library: str) -> dict[str, Any]:
    is_option = parameter.param_type_name == "option"
    kinds = getattr(parameter.type, "types", [parameter.type])
    is_counted = is_option and bool(getattr(parameter, "count", False))
    default = _value(parameter.default, library)
    return {
        "name": str(parameter.name),
        "flags": list(parameter.opts) if is_option else [],
        "negative_flags": list(parameter.secondary_opts) if is_option else [],
        "is_switch": is_counted or (is_option and bool(parameter.is_flag)),
        "is_repeated": is_counted or bool(parameter.multiple),
        "is_optional_value": bool(getattr(parameter, "_flag_needs_value", False)),
        "nargs": int(parameter.nargs),
        "required": bool(parameter.required),
        "prompts": bool(getattr(parameter, "prompt", None)),
        "type": _type_name(kinds[0]) if len({type(each) for each in kinds}) == 1 else "",
        "choices": _choices(parameter.type, library),
        "mode": str(getattr(parameter.type, "mode", "")),
        "path": [bool(getattr(parameter.type, name, False)) for name in ("exists", "file_okay", "dir_okay")],
        "default": default,
        "help": _text(getattr(parameter, "help", None)),
        "metavar": _text(parameter.metavar),
        "hidden": bool(getattr(parameter, "hidden", False)),
    }


def _type_name(kind: Any) -> str:
    """The name of a click type: "int", "float", "bool", "Choice", "Path" or "File"; "" for others."""
    names = {each.__name__.removeprefix("Typer").removesuffix("ParamType") for each in type(kind).__mro__}
    known = {
        "Int": "int",
        "Float": "float",
        "Bool": "bool",
        "Choice": "Choice",
        "Path": "Path",
        "File": "File",
    }
    return next((known[name] for name in sorted(names) if name in known), "")


def _choices(kind: Any, library: str) -> list[str] | None:
    choices = getattr(kind, "choices", None)
    if choices is None:
        return None
    return [str(_plain_value(each, library))[:_MAX_TEXT] for each in list(choices)[: _MAX_ITEMS + 1]]


def _plain_value(value: Any, library: str) -> Any:
    """The value; for a member of an enumeration, the text that the command line accepts for it."""
    if not isinstance(value, enum.Enum):
        return value
    if type(value).__module__.partition(".")[0] in _CLASSES:
        return None  # the library's marker for "no default"
    return value.value if library == "typer" else value.name


def _value(value: Any, library: str) -> dict[str, Any]:
    """``{"value": …}`` for a constant or a list of constants; otherwise ``{}``."""
    value = _plain_value(value, library)
    items = [_plain_value(each, library) for each in (value if isinstance(value, list | tuple) else [value])]
    items = [str(each) if hasattr(each, "__fspath__") else each for each in items]
    is_known = len(items) <= _MAX_ITEMS and all(
        type(each) in (str, int, float, bool, type(None)) for each in items
    )
    if not is_known:
        return {}
    return {"value": items if isinstance(value, list | tuple) else items[0]}


def _text(value: object) -> str | None:
    return value[:_MAX_TEXT] if isinstance(value, str) else None
