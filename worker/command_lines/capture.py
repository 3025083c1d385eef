"""Runs a script in the sandbox until it passes the arguments to its parser, and describes the parser.

Supports argparse, and click and typer if they are among the dependencies. This file is copied into the
sandbox and uses only the standard library.

``capture.py FOLDER SCRIPT`` writes the parser as JSON to descriptor 3 and ends the script there. ``capture.py
FOLDER SCRIPT -- WORD…`` instead passes the words to the parser and reports whether it accepts them. Modules
that can't be imported are replaced by stubs.
"""

from __future__ import annotations

import argparse
import enum
import importlib
import importlib.machinery
import json
import os
import runpy
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

_CHANNEL = 3
_MAX_TEXT = 4_000
_MAX_ITEMS = 300
_MAX_DEPTH = 6
_ACTIONS = {
    "_StoreAction": "store",
    "_StoreConstAction": "store_const",
    "_StoreTrueAction": "store_true",
    "_StoreFalseAction": "store_false",
    "_AppendAction": "append",
    "_AppendConstAction": "append_const",
    "_ExtendAction": "extend",
    "_CountAction": "count",
    "_HelpAction": "help",
    "_VersionAction": "version",
    "BooleanOptionalAction": "BooleanOptionalAction",
}


class _StubType(type):
    """The metaclass of stub classes. Any attribute of a stub class is a stub, too."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _stub(name)

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __getitem__(cls, key: object) -> Any:
        return cls

    def __or__(cls, other: object) -> Any:
        return cls

    __ror__ = __or__


class _Stub(Exception, metaclass=_StubType):
    """A replacement for any object of a missing module. Its calls, items and operators return stubs, too."""

    def __init__(self, *arguments: object, **keywords: object) -> None:
        super().__init__()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _stub(name)

    def __call__(self, *arguments: Any, **keywords: object) -> Any:
        """Returns a stub; as a decorator, the decorated function or class."""
        return arguments[0] if len(arguments) == 1 and callable(arguments[0]) and not keywords else self

    def __getitem__(self, key: object) -> Any:
        return self

    def __setitem__(self, key: object, value: object) -> None: ...

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return True

    def __contains__(self, value: object) -> bool:
        return False

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None: ...

    def _operator(self, *others: object) -> Any:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _operator
    __or__ = __ror__ = __and__ = __rand__ = __mod__ = __rmod__ = __pow__ = __neg__ = __invert__ = _operator


def _stub(name: str) -> Any:
    stub = type(name, (_Stub,), {})
    return stub if name[:1].isupper() else stub()


class _StubModule(types.ModuleType):
    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__version__":
            raise AttributeError(name)
        value = "0" if name == "__version__" else _stub(name)
        setattr(self, name, value)
        return value


class _StubFinder:
    """Provides stubs for modules that no other finder has found, except those of the standard library."""

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: object = None) -> Any:
        top = name.partition(".")[0]
        parent = sys.modules.get(name.rpartition(".")[0])
        if top in sys.stdlib_module_names or top.startswith("_") or top in ("org", "java"):
            return None
        if parent is not None and not isinstance(parent, _StubModule):
            return None
        return importlib.machinery.ModuleSpec(name, cls(), is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _StubModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None: ...


def _report(document: object) -> NoReturn:
    """Writes the document and ends the process before more of the script runs."""
    data = json.dumps(document).encode()
    while data:
        data = data[os.write(_CHANNEL, data) :]
    os._exit(0)


def _describe(parser: argparse.ArgumentParser, depth: int = 0) -> dict[str, Any]:
    groups = parser._mutually_exclusive_groups
    numbers = {id(action): number for number, group in enumerate(groups) for action in group._group_actions}
    document: dict[str, Any] = {
        "description": _text(parser.description),
        "usage": _text(parser.usage),
        "prefix_chars": parser.prefix_chars,
        "arguments": [],
        "groups": [bool(group.required) for group in groups],
    }
    for action in parser._actions[: 4 * _MAX_ITEMS]:
        if isinstance(action, argparse._SubParsersAction):
            document["subparsers"] = _describe_subparsers(action, depth)
        else:
            document["arguments"].append({**_describe_action(action), "group": numbers.get(id(action))})
    return document


def _describe_subparsers(action: Any, depth: int) -> dict[str, Any]:
    helps = {each.dest: _text(each.help) for each in action._choices_actions}
    parsers: dict[int, dict[str, Any]] = {}
    for name, parser in list(action.choices.items())[:_MAX_ITEMS] if depth < _MAX_DEPTH else ():
        if id(parser) in parsers:
            parsers[id(parser)]["aliases"].append(name)
        else:
            described = _describe(parser, depth + 1)
            parsers[id(parser)] = {"name": name, "aliases": [], "help": helps.get(name), **described}
    return {"required": bool(action.required), "parsers": list(parsers.values())}


def _describe_action(action: argparse.Action) -> dict[str, Any]:
    name = _ACTIONS.get(type(action).__name__, "store_const" if action.nargs == 0 else "store")
    return {
        "flags": list(action.option_strings),
        "dest": str(action.dest),
        "action": name,
        "nargs": action.nargs if isinstance(action.nargs, int | str | None) else "?",
        "type": _type_name(action.type),
        "choices": _choices(action),
        "default": _value(action.default),
        "required": bool(action.required),
        "help": _text(action.help),
        "metavar": [_text(each) for each in action.metavar]
        if isinstance(action.metavar, tuple)
        else _text(action.metavar),
    }


def _type_name(kind: Any) -> str:
    if isinstance(kind, argparse.FileType):
        return f"argparse.FileType.{kind._mode[:3]}"
    return str(getattr(kind, "__name__", "")) if kind is not None else ""


def _choices(action: argparse.Action) -> list[str] | None:
    if action.choices is None:
        return None
    by_type = isinstance(action.type, type) and issubclass(action.type, enum.Enum)
    items = [each for each, _ in zip(action.choices, range(_MAX_ITEMS + 1), strict=False)]
    return [
        str(each.value if by_type and isinstance(each, enum.Enum) else each)[:_MAX_TEXT] for each in items
    ]


def _value(value: Any) -> dict[str, Any]:
    """``{"value": …}`` for a constant or a list of constants; otherwise ``{}``."""
    value = value.value if isinstance(value, enum.Enum) else value
    items = value if isinstance(value, list | tuple) else [value]
    is_known = len(items) <= _MAX_ITEMS and all(
        type(each) in (str, int, float, bool, type(None)) for each in items
    )
    return {"value": list(value) if isinstance(value, tuple) else value} if is_known else {}


def _text(value: object) -> str | None:
    return value[:_MAX_TEXT] if isinstance(value, str) else None


def _capture() -> None:
    def report(parser: argparse.ArgumentParser, *, accepts_unknown: bool) -> NoReturn:
        _report({**_describe(parser), "accepts_unknown": accepts_unknown})

    def parse(parser: Any, *arguments: object, **keywords: object) -> NoReturn:
        report(parser, accepts_unknown=False)

    def parse_known(parser: Any, *arguments: object, **keywords: object) -> NoReturn:
        report(parser, accepts_unknown=True)

    methods: Any = argparse.ArgumentParser
    methods.parse_args = methods.parse_intermixed_args = parse
    methods.parse_known_args = methods.parse_known_intermixed_args = parse_known


def _try_words() -> None:
    methods: Any = argparse.ArgumentParser
    parse_known = methods.parse_known_args
    names = ("parse_args", "parse_intermixed_args", "parse_known_args")
    real = {name: getattr(methods, name) for name in names}

    def check(parse: Any) -> Any:
        def checked(parser: Any, *arguments: Any, **keywords: Any) -> NoReturn:
            methods.parse_known_args = parse_known  # parse_args calls parse_known_args
            try:
                parse(parser, *arguments, **keywords)
            except (SystemExit, argparse.ArgumentError):
                _report({"accepted": False})
            _report({"accepted": True})

        return checked

    for name, parse in real.items():
        setattr(methods, name, check(parse))


def main(folder: str, script: str, words: Sequence[str]) -> None:
    """Runs ``script``, a path with the suffix ``.py`` or the name of a module, both below ``folder``."""
    commands: Any = importlib.import_module("capture_commands")  # capture_commands.py in the same folder
    if words:
        _try_words()
        commands.try_commands(words[1:], _report)
    else:
        _capture()
        commands.capture_commands(_report)
    sys.meta_path.append(_StubFinder)
    is_module = not script.endswith(".py")
    path = os.path.join(folder, script.replace(".", "/") + ".py" if is_module else script)
    sys.argv = [path, *words[1:]]
    sys.path[0] = folder if is_module else os.path.dirname(path)
    sys.stdin = open(os.devnull)  # noqa: SIM115 - for the rest of the process
    runpy.run_module(script, run_name="__main__") if is_module else runpy.run_path(path, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
