"""Portal → worker → registry → registry.packages: no import goes up; the pure rooms import no Django."""

from __future__ import annotations

import pytest

from tests.architecture.sources import ROOT, SOURCES, imports_of, module_name

FLOORS = ("portal", "worker", "registry", "registry.packages")
PURE = ("registry.packages", "worker.sandbox", "worker.protocols")
FRAMEWORKS = ("django", "rest_framework", "celery", "kombu")

pytestmark = pytest.mark.row("P9")


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def _floor(module: str) -> int | None:
    """The index of the lowest floor that holds the module; None for other people's modules."""
    return max((n for n, floor in enumerate(FLOORS) if _is_in(module, floor)), default=None)


def test_no_import_goes_up() -> None:
    wrong = []
    for path in SOURCES:
        here = _floor(module_name(path))
        for line, imported in imports_of(path):
            there = _floor(imported)
            if here is not None and there is not None and there < here:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {imported}")
    assert wrong == []


def test_pure_rooms_import_no_framework() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {imported}"
        for path in SOURCES
        if any(_is_in(module_name(path), room) for room in PURE)
        for line, imported in imports_of(path)
        if imported.split(".")[0] in FRAMEWORKS
    ]
    assert wrong == []
