"""Every import of our own code, function-level ones included: which module imports which."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLOORS = ("portal", "worker", "registry")
SOURCES = [path for floor in FLOORS for path in sorted((ROOT / floor).rglob("*.py"))]


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_name(path): path for path in SOURCES if "migrations" not in path.parts}


def imports_of(path: Path, *, typing_only: bool = True) -> Iterator[tuple[int, str]]:
    """Line and dotted name of each import; ``typing_only`` includes those under TYPE_CHECKING."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = set() if typing_only else _typing_only(tree)
    package = module_name(path) if path.stem == "__init__" else module_name(path).rpartition(".")[0]
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            yield node.lineno, module
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def _typing_only(tree: ast.Module) -> set[int]:
    branches = (
        node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
    )
    return {id(inner) for branch in branches for inner in ast.walk(branch)}


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
