"""Evaluates the expressions of a Python script, within limits. Values that depend on the
environment are UNKNOWN.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from registry.packages.command_lines.python import constants
from registry.packages.command_lines.python.values import (
    ClassValue,
    DottedName,
    EnumMember,
    FunctionValue,
    InstanceValue,
    MethodValue,
    NameScope,
    PartialText,
    is_constant,
)
from registry.packages.command_lines.unknown import UNKNOWN, Unknown

MAX_STEPS = 30_000  # statements and expressions
EXITS = ("exit", "quit", "_exit", "abort")
_BUILTINS = frozenset(
    {"list", "sorted", "tuple", "set", "frozenset", "reversed", "dict", "str", "int", "float", "len", "range"}
    | {"enumerate", "zip"}
)
_NAMES = _BUILTINS | {"open", "bool", "bytes", "print", "input", *EXITS}


class LimitReachedError(Exception):
    """Raised if the script needs more steps than MAX_STEPS."""


class ScriptEndedError(Exception):
    """Raised if the script ends, or if its parser is found."""


class ReturnError(Exception):
    """Raised if a function returns; ``value`` is the returned value."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Library(Protocol):
    """Reproduces the objects of a parser library without running the library."""

    def construct(self, called: Any, node: ast.Call, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """The new object, or None if the called value is not part of the library."""

    def attribute(self, value: Any, name: str) -> Any:
        """The attribute of an object of the library, or None for other values."""


class ExpressionEvaluation:
    """Evaluates expressions.

    ``uncertain`` counts the enclosing branches and loops for which it is not known whether they run.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self.uncertain = 0
        self.steps = 0

    def call(self, function: FunctionValue, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """The return value of a function of the script."""
        raise NotImplementedError

    def step(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise LimitReachedError

    def assign(self, target: ast.expr, value: Any, scope: NameScope) -> None:
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, ast.Attribute):
            owner = self.value(target.value, scope)
            if isinstance(owner, InstanceValue):
                owner.attributes[target.attr] = value
        elif isinstance(target, ast.Subscript):
            owner, index = self.value(target.value, scope), self.value(target.slice, scope)
            if isinstance(owner, dict) and is_constant(index):
                owner[index] = value
        elif isinstance(target, ast.Tuple | ast.List):
            items = constants.items_of(value)
            is_equal = items is not None and len(items) == len(target.elts)
            for position, each in enumerate(target.elts):
                self.assign(each, items[position] if is_equal and items else UNKNOWN, scope)

    def value(self, node: ast.expr, scope: NameScope) -> Any:
        self.step()
        evaluate = getattr(self, f"_value_{type(node).__name__.lower()}", None)
        return UNKNOWN if evaluate is None else evaluate(node, scope)

    def _value_constant(self, node: ast.Constant, scope: NameScope) -> Any:
        return node.value if is_constant(node.value) else UNKNOWN

    def _value_name(self, node: ast.Name, scope: NameScope) -> Any:
        found = scope.find(node.id)
        if found is None and node.id in _NAMES:
            return DottedName(node.id)
        if found is None and not self._is_bound_to_none(node.id, scope):
            return "__main__" if node.id == "__name__" else UNKNOWN
        return found

    @staticmethod
    def _is_bound_to_none(name: str, scope: NameScope | None) -> bool:
        while scope is not None:
            if name in scope.names:
                return True
            scope = scope.parent
        return False

    def _value_joinedstr(self, node: ast.JoinedStr, scope: NameScope) -> Any:
        return constants.concatenate(
            UNKNOWN if isinstance(each, ast.FormattedValue) and each.format_spec else self.value(each, scope)
            for each in node.values
        )

    def _value_formattedvalue(self, node: ast.FormattedValue, scope: NameScope) -> Any:
        return self.value(node.value, scope)

    def _value_list(self, node: ast.List | ast.Tuple | ast.Set, scope: NameScope) -> Any:
        items: list[Any] = []
        for each in node.elts:
            if isinstance(each, ast.Starred):
                more = constants.items_of(self.value(each.value, scope))
                if more is None:
                    return UNKNOWN
                items += more
            else:
                items.append(self.value(each, scope))
        return constants.bounded(items)

    _value_tuple = _value_set = _value_list

    def _value_dict(self, node: ast.Dict, scope: NameScope) -> Any:
        entries: dict[Any, Any] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.value(item, scope)
            name = self.value(key, scope) if key is not None else None
            if key is None and isinstance(value, dict):
                entries.update(value)
            elif key is None or not is_constant(name):
                return UNKNOWN
            else:
                entries[name] = value
        return constants.bounded(entries)

    def _value_binop(self, node: ast.BinOp, scope: NameScope) -> Any:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        return constants.binary(node.op, left, right)

    def _value_unaryop(self, node: ast.UnaryOp, scope: NameScope) -> Any:
        operand = self.value(node.operand, scope)
        if isinstance(node.op, ast.Not):
            truth = truth_of(operand)
            return UNKNOWN if truth is None else not truth
        if isinstance(node.op, ast.USub) and isinstance(operand, int | float):
            return -operand
        return UNKNOWN

    def _value_boolop(self, node: ast.BoolOp, scope: NameScope) -> Any:
        is_or = isinstance(node.op, ast.Or)
        value: Any = UNKNOWN
        for each in node.values:
            value = self.value(each, scope)
            truth = truth_of(value)
            if truth is None:
                return UNKNOWN
            if truth is is_or:
                return value
        return value

    def _value_compare(self, node: ast.Compare, scope: NameScope) -> Any:
        left, right = self.value(node.left, scope), self.value(node.comparators[0], scope)
        return UNKNOWN if len(node.ops) > 1 else constants.compare(node.ops[0], left, right)

    def _value_ifexp(self, node: ast.IfExp, scope: NameScope) -> Any:
        truth = truth_of(self.value(node.test, scope))
        if truth is None:
            return UNKNOWN
        return self.value(node.body if truth else node.orelse, scope)

    def _value_namedexpr(self, node: ast.NamedExpr, scope: NameScope) -> Any:
        value = self.value(node.value, scope)
        self.assign(node.target, value, scope)
        return value

    def _value_await(self, node: ast.Await, scope: NameScope) -> Any:
        return self.value(node.value, scope)

    def _value_lambda(self, node: ast.Lambda, scope: NameScope) -> Any:
        return FunctionValue(node, scope)

    def _value_subscript(self, node: ast.Subscript, scope: NameScope) -> Any:
        value = self.value(node.value, scope)
        if isinstance(node.slice, ast.Slice):
            bounds = [self.value(e, scope) if e else None for e in (node.slice.lower, node.slice.upper)]
            is_simple = isinstance(value, list | str) and node.slice.step is None
            is_simple = is_simple and all(each is None or isinstance(each, int) for each in bounds)
            return value[slice(*bounds)] if is_simple else UNKNOWN
        return constants.subscript(value, self.value(node.slice, scope))

    def _value_listcomp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: NameScope) -> Any:
        rows = self._rows(node.generators, scope)
        return UNKNOWN if rows is None else [self.value(node.elt, row) for row in rows]

    _value_setcomp = _value_generatorexp = _value_listcomp

    def _value_dictcomp(self, node: ast.DictComp, scope: NameScope) -> Any:
        rows = self._rows(node.generators, scope)
        if rows is None:
            return UNKNOWN
        keys = [self.value(node.key, row) for row in rows]
        if not all(map(is_constant, keys)):
            return UNKNOWN
        return dict(zip(keys, (self.value(node.value, row) for row in rows), strict=True))

    def _rows(self, generators: Iterable[ast.comprehension], scope: NameScope) -> list[NameScope] | None:
        """A scope for each item of the comprehension; None if the items are not known."""
        rows = [NameScope(parent=scope)]
        for generator in generators:
            later: list[NameScope] = []
            for row in rows:
                items = constants.items_of(self.value(generator.iter, row))
                if items is None:
                    return None
                for item in items:
                    self.step()
                    inner = NameScope(parent=row)
                    self.assign(generator.target, item, inner)
                    truths = [truth_of(self.value(each, inner)) for each in generator.ifs]
                    if None in truths:
                        return None
                    if all(truths):
                        later.append(inner)
            rows = later
        return rows

    def _value_attribute(self, node: ast.Attribute, scope: NameScope) -> Any:
        return self.attribute(self.value(node.value, scope), node.attr)

    def attribute(self, value: Any, name: str) -> Any:
        """The attribute of a value; None or UNKNOWN if it is not known."""
        if (found := self.library.attribute(value, name)) is not None:
            return found
        if isinstance(value, DottedName):
            return DottedName(f"{value.text}.{name}")
        if isinstance(value, InstanceValue):
            if name in value.attributes:
                return value.attributes[name]
            return _bound(value.class_value.find(name), value)
        if isinstance(value, ClassValue):
            return _bound(value.find(name), None)
        if isinstance(value, EnumMember):
            return value.value if name == "value" else value.name if name == "name" else UNKNOWN
        if isinstance(value, str):
            return MethodValue(
                lambda node, arguments, keywords: constants.text_method(value, name, arguments)
            )
        if isinstance(value, list | dict):
            return MethodValue(
                lambda node, arguments, keywords: constants.container_method(value, name, arguments)
            )
        return UNKNOWN

    def _value_call(self, node: ast.Call, scope: NameScope) -> Any:
        called = self.value(node.func, scope)
        arguments = self._arguments(node, scope)
        keywords = self._keywords(node, scope)
        if (constructed := self.library.construct(called, node, arguments, keywords)) is not None:
            return constructed
        if isinstance(called, MethodValue):
            return called.call(node, arguments, keywords)
        if isinstance(called, FunctionValue):
            return self.call(called, arguments, keywords)
        if isinstance(called, ClassValue):
            return self._instance(called, arguments, keywords)
        if isinstance(called, DottedName):
            return self._call_name(called.text, arguments)
        return UNKNOWN

    def _call_name(self, name: str, arguments: list[Any]) -> Any:
        if name.rpartition(".")[2] in EXITS:
            if self.uncertain:
                raise ReturnError(UNKNOWN)
            raise ScriptEndedError
        return constants.call_builtin(name, arguments) if name in _BUILTINS else UNKNOWN

    def _arguments(self, node: ast.Call, scope: NameScope) -> list[Any]:
        """The positional arguments; an unknown ``*arguments`` becomes one unknown argument."""
        found: list[Any] = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                items = constants.items_of(self.value(each.value, scope))
                found += [UNKNOWN] if items is None else items
            else:
                found.append(self.value(each, scope))
        return found

    def _keywords(self, node: ast.Call, scope: NameScope) -> dict[str, Any]:
        """The keyword arguments; an unknown ``**arguments`` has the key "**"."""
        found: dict[str, Any] = {}
        for each in node.keywords:
            value = self.value(each.value, scope)
            if each.arg is not None:
                found[each.arg] = value
            elif isinstance(value, dict):
                found.update((str(name), item) for name, item in value.items())
            else:
                found["**"] = UNKNOWN
        return found

    def _instance(self, called: ClassValue, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        if called.is_a("Enum", "StrEnum", "IntEnum"):
            return UNKNOWN
        instance = InstanceValue(called)
        constructor = called.find("__init__")
        if isinstance(constructor, FunctionValue):
            self.call(FunctionValue(constructor.node, constructor.scope, instance), arguments, keywords)
        return instance


def _bound(found: Any, receiver: Any) -> Any:
    if not isinstance(found, FunctionValue):
        return UNKNOWN if found is None else found
    decorators = [each.id for each in getattr(found.node, "decorator_list", ()) if isinstance(each, ast.Name)]
    if "property" in decorators:
        return UNKNOWN
    is_static = "staticmethod" in decorators
    is_class = "classmethod" in decorators
    return FunctionValue(found.node, found.scope, None if is_static else UNKNOWN if is_class else receiver)


def truth_of(value: Any) -> bool | None:
    if isinstance(value, Unknown | DottedName | FunctionValue | MethodValue | PartialText | InstanceValue):
        return None
    return bool(value) if is_constant(value) or isinstance(value, list | tuple | dict) else None
