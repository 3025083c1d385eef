"""Evaluates constant expressions of a Python script, within limits."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from typing import Any

from registry.packages.command_lines.python.values import (
    MAX_CHARACTERS,
    MAX_ITEMS,
    ClassValue,
    DottedName,
    EnumMember,
    PartialText,
    is_constant,
)
from registry.packages.command_lines.unknown import UNKNOWN, Unknown

_MAX_NUMBER = 10**15
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Sub: operator.sub,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
_TEXT_METHODS = frozenset(
    {"lower", "upper", "strip", "lstrip", "rstrip", "title", "capitalize", "replace", "split", "removeprefix"}
    | {"removesuffix", "startswith", "endswith", "splitlines", "rsplit"}
)


def add(left: Any, right: Any) -> Any:
    """``left + right`` for numbers, texts and lists. UNKNOWN for other values, and if the result is too
    long.
    """
    if isinstance(left, str) or isinstance(right, str):
        return concatenate((left, right))
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return bounded([*left, *right])
    return number(operator.add, left, right)


def binary(kind: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(kind, ast.Add):
        return add(left, right)
    if isinstance(kind, ast.Mult):
        return _multiply(left, right)
    if isinstance(kind, ast.Mod) and isinstance(left, str):
        return PartialText(left.replace("%s", "…"))
    if isinstance(kind, ast.Pow) and _is_number(left) and _is_number(right):
        return (
            left**right
            if (abs(left) <= 1024 and 0 < right <= 5) or (left == 2 and 0 < right <= 49)
            else UNKNOWN
        )
    if isinstance(kind, ast.LShift) and left == 1 and isinstance(right, int) and 0 <= right <= 49:
        return 1 << right
    if isinstance(kind, ast.BitOr) and isinstance(left, dict) and isinstance(right, dict):
        return bounded({**left, **right})
    if isinstance(kind, ast.BitOr) and isinstance(left, list) and isinstance(right, list):
        return bounded([*left, *right])
    compute = _OPERATORS.get(type(kind))
    return number(compute, left, right) if compute else UNKNOWN


def number(compute: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if not (_is_number(left) and _is_number(right)):
        return UNKNOWN
    try:
        result = compute(left, right)
    except (ArithmeticError, TypeError, ValueError):
        return UNKNOWN
    return result if abs(result) <= _MAX_NUMBER else UNKNOWN


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _multiply(left: Any, right: Any) -> Any:
    if isinstance(right, str | list | tuple):
        left, right = right, left
    if isinstance(left, str | list | tuple):
        if not isinstance(right, int) or len(left) * max(right, 0) > MAX_ITEMS:
            return UNKNOWN
        return type(left)(left * right)
    return number(operator.mul, left, right)


def compare(kind: ast.cmpop, left: Any, right: Any) -> Any:
    """The result of a comparison, or UNKNOWN."""
    if isinstance(left, Unknown | PartialText) or isinstance(right, Unknown | PartialText):
        return UNKNOWN
    if not isinstance(kind, ast.Is | ast.IsNot) and not (
        is_constant(left) and (is_constant(right) or isinstance(right, list | tuple | dict))
    ):
        return UNKNOWN
    if isinstance(kind, ast.Is | ast.IsNot) and (left is not None and right is not None):
        return UNKNOWN
    try:
        return _COMPARISONS[type(kind)](left, right)
    except TypeError:
        return UNKNOWN


def concatenate(parts: Any) -> Any:
    """The text of the parts; a part that is not known becomes "…". UNKNOWN if the text is too long."""
    texts, is_whole, length = [], True, 0
    for part in parts:
        is_whole &= is_constant(part)
        texts.append(str(part) if is_constant(part) or isinstance(part, PartialText) else "…")
        length += len(texts[-1])
        if length > MAX_CHARACTERS:
            return UNKNOWN
    return "".join(texts) if is_whole else PartialText("".join(texts))


def bounded(value: Any) -> Any:
    return value if len(value) <= MAX_ITEMS else UNKNOWN


def items_of(value: Any) -> list[Any] | None:
    """The items that a loop over the value visits; None if they are not known."""
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, dict):
        return list(value)
    if isinstance(value, str) and not isinstance(value, PartialText):
        return list(value[:MAX_ITEMS])
    if isinstance(value, ClassValue) and value.is_a("Enum", "StrEnum", "IntEnum"):
        return [each for each in value.scope.names.values() if isinstance(each, EnumMember)]
    return None


def subscript(value: Any, index: Any) -> Any:
    if isinstance(value, ClassValue):
        found = value.find(index) if isinstance(index, str) else None
        return UNKNOWN if found is None else found
    if not isinstance(value, list | tuple | dict | str) or isinstance(value, PartialText):
        return UNKNOWN
    try:
        return value[index] if is_constant(index) else UNKNOWN
    except (LookupError, TypeError):
        return UNKNOWN


def text_method(text: str, name: str, arguments: list[Any]) -> Any:
    """The result of calling the method ``name`` of a text; UNKNOWN for unsupported methods. Unknown parts
    of the result become "…".
    """
    if name == "join":
        items = items_of(arguments[0]) if arguments else None
        if items is None:
            return PartialText("…")
        return concatenate(
            part for number, item in enumerate(items) for part in ((text, item) if number else (item,))
        )
    if name in ("format", "format_map") or isinstance(text, PartialText):
        return PartialText(text)
    if name not in _TEXT_METHODS or not all(isinstance(each, str | int) for each in arguments):
        return UNKNOWN
    if name == "replace" and len(arguments) > 1 and len(text) * len(str(arguments[1])) > 50 * MAX_CHARACTERS:
        return UNKNOWN
    try:
        result = getattr(text, name)(*arguments)
    except (TypeError, ValueError):
        return UNKNOWN
    return result if len(result) <= MAX_CHARACTERS else UNKNOWN


def container_method(value: Any, name: str, arguments: list[Any]) -> Any:
    """The result of calling the method ``name`` of a list or dict. Methods such as ``append`` also change
    ``value``.
    """
    if isinstance(value, dict):
        if name == "keys":
            return list(value)
        if name == "values":
            return list(value.values())
        if name == "items":
            return [[key, item] for key, item in value.items()]
        if name == "get" and arguments and is_constant(arguments[0]):
            return value.get(arguments[0], arguments[1] if len(arguments) > 1 else None)
        if name == "copy":
            return dict(value)
        if name == "update" and arguments and isinstance(arguments[0], dict) and len(value) < MAX_ITEMS:
            value.update(arguments[0])
            return None
    elif isinstance(value, list):
        return _list_method(value, name, arguments)
    return UNKNOWN


def _list_method(value: list[Any], name: str, arguments: list[Any]) -> Any:
    if name == "append" and arguments and len(value) < MAX_ITEMS:
        return value.append(arguments[0])
    if (
        name == "extend"
        and arguments
        and (items := items_of(arguments[0])) is not None
        and len(value) < MAX_ITEMS
    ):
        return value.extend(items[:MAX_ITEMS])
    if name == "pop" and value and not arguments:
        return value.pop()
    if name == "copy":
        return list(value)
    if name in ("sort", "reverse"):
        return None
    return UNKNOWN


def call_builtin(name: str, arguments: list[Any]) -> Any:
    """The result of calling a builtin function. UNKNOWN for other functions and unknown arguments."""
    if name in ("list", "sorted", "tuple", "set", "frozenset", "reversed"):
        items = items_of(arguments[0]) if arguments else []
        return UNKNOWN if items is None else _ordered(name, items)
    if name == "dict" and not arguments:
        return {}
    if name == "dict" and isinstance(arguments[0], dict):
        return dict(arguments[0])
    if name == "str" and arguments:
        return concatenate(arguments[:1])
    if name in ("int", "float") and arguments and is_constant(arguments[0]):
        return _converted(float if name == "float" else int, arguments[0])
    if name == "len" and arguments and (items := items_of(arguments[0])) is not None:
        return len(items)
    if name == "range" and arguments and all(isinstance(each, int) for each in arguments):
        return _range(arguments)
    if name in ("enumerate", "zip") and arguments:
        return _paired(name, arguments)
    return UNKNOWN


def _converted(kind: Callable[[Any], Any], value: Any) -> Any:
    try:
        return kind(value) if len(str(value)) < 20 else UNKNOWN
    except (TypeError, ValueError, OverflowError):
        return UNKNOWN


def _range(arguments: list[Any]) -> Any:
    try:
        numbers = range(*arguments)
    except (TypeError, ValueError):
        return UNKNOWN
    try:
        return list(numbers) if len(numbers) <= MAX_ITEMS else UNKNOWN
    except OverflowError:
        return UNKNOWN


def _paired(name: str, arguments: list[Any]) -> Any:
    columns = [items_of(each) for each in (arguments[:1] if name == "enumerate" else arguments)]
    known = [each for each in columns if each is not None]
    if len(known) < len(columns):
        return UNKNOWN
    if name == "enumerate":
        return [[index, item] for index, item in enumerate(known[0])]
    return [list(row) for row in zip(*known, strict=False)]


def _ordered(name: str, items: list[Any]) -> list[Any]:
    if name == "reversed":
        return items[::-1]
    if name != "sorted" or not all(map(is_constant, items)):
        return items
    try:
        return sorted(items)
    except TypeError:
        return items


def annotation_names(node: ast.expr | None) -> Iterator[str]:
    """Yields each identifier in a type annotation: both ``pathlib`` and ``Path`` for ``pathlib.Path``."""
    for each in ast.walk(node) if node else ():
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Attribute):
            yield each.attr


def dotted(value: Any) -> str:
    return value.text if isinstance(value, DottedName) else ""
