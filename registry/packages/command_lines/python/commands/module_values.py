"""The names and constants at the top of a script that declares commands."""

from __future__ import annotations

import ast
from typing import Any

from registry.packages.command_lines.python.commands.declared_command import UnreadableError


class ModuleValues:
    """The names that the script imports from ``library``, and the constants that it defines."""

    def __init__(self, library: str) -> None:
        self.library = library
        self.modules: set[str] = set()  # names of the library's module
        self.names: dict[str, str] = {}  # names imported from it
        self.constants: dict[str, ast.expr] = {}

    def read_import(self, statement: ast.Import | ast.ImportFrom) -> None:
        if isinstance(statement, ast.Import):
            given = (each for each in statement.names if each.name == self.library)
            self.modules |= {each.asname or each.name for each in given}
        elif statement.module == self.library and not statement.level:
            self.names |= {each.asname or each.name: each.name for each in statement.names}

    def read_assignment(self, statement: ast.Assign) -> None:
        for target in statement.targets:
            if isinstance(target, ast.Name):
                self.constants[target.id] = statement.value

    def library_name(self, node: ast.expr) -> str:
        """The name in the library, such as "option"; "" if the expression is not a name of the library."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, "")
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return node.attr if node.value.id in self.modules else ""
        return ""

    def value(self, node: ast.expr) -> Any:
        """The value of a constant expression; raises UnreadableError for any other."""
        if isinstance(node, ast.Name) and node.id in self.constants:
            node = self.constants[node.id]
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise UnreadableError(node.lineno) from None

    def text(self, node: ast.expr) -> str:
        """The text of a constant expression; "" for any other."""
        try:
            return str(self.value(node))
        except UnreadableError:
            return ""


def function_of(decorator: ast.expr) -> ast.expr:
    return decorator.func if isinstance(decorator, ast.Call) else decorator
