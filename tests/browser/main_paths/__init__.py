"""What people do on each page: its main path, written once for all forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.browser.visitor import Visitor

Walk = Callable[[Visitor], None]


@dataclass(frozen=True)
class MainPath:
    """The main path of the pages of ``routes``, for the person who takes it; "" without a session."""

    name: str
    routes: tuple[str, ...]
    person: str
    walk: Walk


MAIN_PATHS: dict[str, MainPath] = {}


def main_path(*routes: str, person: str = "alice") -> Callable[[Walk], Walk]:
    """Registers a function as the main path of the pages with these routes."""

    def register(walk: Walk) -> Walk:
        name = walk.__name__.removeprefix("_")
        assert name not in MAIN_PATHS, name
        MAIN_PATHS[name] = MainPath(name, routes, person, walk)
        return walk

    return register
