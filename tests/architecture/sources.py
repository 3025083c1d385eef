"""What the architecture tests need of each source file. Each file is parsed once per process."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLOORS = ("portal", "worker", "registry")
SOURCES = [path for floor in FLOORS for path in sorted((ROOT / floor).rglob("*.py"))]
SQL = re.compile(r"\b(SELECT\b.+\bFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM)\b", re.DOTALL)


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_name(path): path for path in SOURCES if "migrations" not in path.parts}


@dataclass(frozen=True)
class Source:
    """Each entry begins with its line."""

    imports: tuple[tuple[int, str, bool], ...]  # dotted name; True if it is under TYPE_CHECKING
    functions: tuple[tuple[int, str, int], ...]  # name and number of lines
    docstrings: tuple[tuple[int, str], ...]
    names: tuple[tuple[int, str], ...]  # of classes, functions, parameters and variables
    classes: tuple[str, ...]  # public, at the top of the file; without lines
    sql: tuple[int, ...]  # statements and uses of a cursor; lines only


@cache
def source_of(path: Path) -> Source:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    documented = [node for node in nodes if isinstance(node, ast.Module | ast.ClassDef)] + functions
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    return Source(
        imports=tuple(_imports(path, nodes)),
        functions=tuple(
            (node.lineno, node.name, (node.end_lineno or 0) - node.lineno + 1) for node in functions
        ),
        docstrings=tuple(
            (getattr(node, "lineno", 1), text) for node in documented if (text := ast.get_docstring(node))
        ),
        names=tuple(_names(nodes)),
        classes=tuple(name for name in classes if not name.startswith("_")),
        sql=tuple(node.lineno for node in nodes if isinstance(node, ast.expr) and _is_sql(node)),
    )


def _imports(path: Path, nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str, bool]]:
    typing_only = {
        id(inner)
        for node in nodes
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    package = module_name(path) if path.stem == "__init__" else module_name(path).rpartition(".")[0]
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, id(node) in typing_only) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            for name in (module, *(f"{module}.{alias.name}" for alias in node.names)):
                yield node.lineno, name, id(node) in typing_only


def _names(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    for node in nodes:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _is_sql(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and SQL.search(node.value) is not None
    return (
        isinstance(node, ast.Attribute) and node.attr in ("cursor", "raw") and "connection" in ast.dump(node)
    )


def comments_of(path: Path) -> Iterator[tuple[int, str]]:
    with open(path, "rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


def imports_of(path: Path, *, typing_only: bool = True) -> Iterator[tuple[int, str]]:
    """Line and dotted name of each import; ``typing_only`` includes those under TYPE_CHECKING."""
    return ((line, name) for line, name, is_typing in source_of(path).imports if typing_only or not is_typing)


@cache
def arrows() -> frozenset[tuple[str, str]]:
    """(importing module, imported module) of our own modules, TYPE_CHECKING left out."""
    found = set()
    for module, path in MODULES.items():
        for _line, name in imports_of(path, typing_only=False):
            target = name
            while target and target not in MODULES:
                target = target.rpartition(".")[0]
            if target and target != module:
                found.add((module, target))
    return frozenset(found)
