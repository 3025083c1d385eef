"""Finds the imports of a Python module, and whether the module requires each of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_CAUGHT = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_EXITS = frozenset({"exit", "_exit", "abort", "fail", "die"})
MAX_NODES = 120_000


class TooManyNodesError(Exception):
    """Raised if the module has more than MAX_NODES nodes."""


@dataclass(frozen=True)
class ImportedModule:
    """A module that an import names. ``level`` is the number of dots of a relative import. ``members`` can be
    modules below ``name``.
    """

    name: str
    level: int
    members: tuple[str, ...]
    required: bool


def find_imports(tree: ast.Module) -> list[ImportedModule]:
    """The imports of a module. An import is required if the module can't be executed without it.

    Raises TooManyNodesError above MAX_NODES nodes.
    """
    return [*_of_statements(tree.body, required=True), *_inner_imports(tree)]


def _of_statements(body: Sequence[ast.stmt], *, required: bool) -> Iterator[ImportedModule]:
    """Yields the imports that run with the module, without those in functions."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _imported(node, required=required)
        elif isinstance(node, ast.Try):
            yield from _of_try(node, required=required)
        elif isinstance(node, ast.If):
            is_main = _mentions(node.test, "__name__")
            if not _mentions(node.test, "TYPE_CHECKING"):
                yield from _of_statements(node.body, required=required and is_main)
                yield from _of_statements(node.orelse, required=False)
        elif isinstance(node, ast.With | ast.ClassDef):
            yield from _of_statements(node.body, required=required and not _suppresses(node))
        elif isinstance(node, ast.For | ast.While):
            yield from _of_statements(node.body, required=False)


def _of_try(node: ast.Try, *, required: bool) -> Iterator[ImportedModule]:
    """Yields the imports in a ``try`` statement. An import is required if its failure ends the script."""
    catching = [each for each in node.handlers if _catches(each)]
    ends = any(_ends_script(each) for each in catching)
    imports_other = any(
        isinstance(part, ast.Import | ast.ImportFrom) for each in catching for part in ast.walk(each)
    )
    needed = required and (not catching or (ends and not imports_other))
    yield from _of_statements(node.body, required=needed)
    for handler in node.handlers:
        yield from _of_statements(handler.body, required=False)
    yield from _of_statements([*node.orelse, *node.finalbody], required=needed)


def _catches(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(isinstance(part, ast.Name) and part.id in _CAUGHT for part in ast.walk(handler.type))


def _ends_script(handler: ast.ExceptHandler) -> bool:
    for part in ast.walk(handler):
        if isinstance(part, ast.Raise):
            return True
        if isinstance(part, ast.Call):
            name = part.func.attr if isinstance(part.func, ast.Attribute) else getattr(part.func, "id", "")
            if name in _EXITS:
                return True
    return False


def _suppresses(node: ast.stmt) -> bool:
    return isinstance(node, ast.With) and any(_mentions(item.context_expr, "suppress") for item in node.items)


def _mentions(node: ast.expr, name: str) -> bool:
    return any(
        (isinstance(part, ast.Name) and part.id == name)
        or (isinstance(part, ast.Attribute) and part.attr == name)
        for part in ast.walk(node)
    )


def _inner_imports(tree: ast.Module) -> Iterator[ImportedModule]:
    """Yields the imports inside functions as optional ones. Imports of nested functions can occur more than
    once. Raises TooManyNodesError.
    """
    for number, node in enumerate(ast.walk(tree)):
        if number > MAX_NODES:
            raise TooManyNodesError
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Import | ast.ImportFrom):
                    yield from _imported(inner, required=False)


def _imported(node: ast.Import | ast.ImportFrom, *, required: bool) -> Iterator[ImportedModule]:
    if isinstance(node, ast.Import):
        for each in node.names:
            yield ImportedModule(each.name, 0, (), required)
    else:
        members = tuple(each.name for each in node.names if each.name != "*")
        yield ImportedModule(node.module or "", node.level, members, required)
