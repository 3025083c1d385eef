"""The values that the evaluation of a Python script knows: constants, names, functions and parsers."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

MAX_ITEMS = 2_000  # of a list or dict
MAX_CHARACTERS = 8_000  # of a text


class PartialText(str):
    """A text with unknown parts, which are shown as "…"."""


@dataclass(frozen=True)
class DottedName:
    """A name that the script imports or that Python defines, such as ``argparse.ArgumentParser``."""

    text: str


@dataclass(frozen=True)
class EnumMember:
    name: str
    value: Any


@dataclass(eq=False)
class NameScope:
    names: dict[str, Any] = field(default_factory=dict)
    parent: NameScope | None = None

    def find(self, name: str) -> Any:
        scope: NameScope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None


@dataclass(eq=False)
class FunctionValue:
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: NameScope
    receiver: Any = None  # the object of a method


@dataclass(eq=False)
class ClassValue:
    node: ast.ClassDef
    bases: tuple[Any, ...]
    scope: NameScope

    def is_a(self, *names: str) -> bool:
        """Whether a direct or indirect base class is an imported class with one of these last names."""
        for base in self.bases:
            if isinstance(base, DottedName) and base.text.rpartition(".")[2] in names:
                return True
            if isinstance(base, ClassValue) and base.is_a(*names):
                return True
        return False

    def find(self, name: str) -> Any:
        """The attribute with this name of the class or its base classes; None if there is none."""
        if name in self.scope.names:
            return self.scope.names[name]
        bases = (base for base in self.bases if isinstance(base, ClassValue))
        return next((found for base in bases if (found := base.find(name)) is not None), None)


@dataclass(eq=False)
class InstanceValue:
    class_value: ClassValue
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class MethodValue:
    """A method of a parser or constant that the evaluation can call."""

    call: Callable[[ast.Call, list[Any], dict[str, Any]], Any]


def is_constant(value: Any) -> bool:
    return value is None or (isinstance(value, str | int | float) and not isinstance(value, PartialText))


def is_known(value: Any) -> bool:
    """Whether the value is a constant or a flat list of constants."""
    return all(map(is_constant, value)) if isinstance(value, list | tuple) else is_constant(value)
