"""Portal → worker → registry → registry.packages: nothing imports upwards; the pure rooms know no Django."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLOORS = ("portal", "worker", "registry", "registry.packages")
PURE = ("registry.packages", "worker.sandbox", "worker.protocols")
FRAMEWORKS = ("django", "rest_framework", "celery", "kombu")
SOURCES = [
    path for floor in ("portal", "worker", "registry") for path in sorted((ROOT / floor).rglob("*.py"))
]


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _floor(module: str) -> int | None:
    """The lowest floor the module stands on, or None where it is not ours."""
    standing = [n for n, floor in enumerate(FLOORS) if module == floor or module.startswith(floor + ".")]
    return max(standing, default=None)


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = _module(path).split(".")[: -node.level] if node.level and path.stem != "__init__" else []
            module = ".".join([*above, *filter(None, [node.module])])
            yield node.lineno, module
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


@pytest.mark.row("P9")
def test_nothing_imports_upwards():
    wrong = []
    for path in SOURCES:
        here = _floor(_module(path))
        for line, imported in _imports(path):
            there = _floor(imported)
            if here is not None and there is not None and there < here:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {imported}")
    assert wrong == []


def _is_pure(module: str) -> bool:
    return any(module == room or module.startswith(room + ".") for room in PURE)


@pytest.mark.row("P9")
def test_the_pure_rooms_import_no_framework():
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {imported}"
        for path in SOURCES
        if _is_pure(_module(path))
        for line, imported in _imports(path)
        if imported.split(".")[0] in FRAMEWORKS
    ]
    assert wrong == []
