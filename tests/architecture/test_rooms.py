"""Rooms form no cycle; endpoints, addresses and pages are a layer above them; rooms stay small."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

import pytest

from tests.architecture.sources import MODULES, ROOT, arrows

MAX_MODULES = 12  # at the top of a floor, a room or a folder in one
DJANGO_FOLDERS = {"management", "migrations", "models", "templatetags"}
ENTRY_POINTS = {"apps", "asgi", "celery", "checks", "settings", "supervisor", "urls", "wsgi"}

pytestmark = pytest.mark.row("P9")


def room_of(module: str) -> str | None:
    """The room of a module, such as ``registry.search`` or ``registry.search.api``; None above all rooms."""
    floor, *rest = module.split(".")
    if not rest or "management" in rest or (len(rest) == 1 and rest[0] in ENTRY_POINTS):
        return None
    if floor == "portal":
        return ".".join([floor, *rest[: 2 if rest[0] == "pages" else 1]])
    if rest[0] == "api":  # the kit below the endpoints, the documents they share, and the addresses above
        return f"{floor}.api" + (
            f".{rest[1]}" if rest[1:] and rest[1] in ("documents", "reference", "urls") else ""
        )
    is_endpoint = len(rest) > 1 and rest[1] in ("api", "urls")
    return f"{floor}.{rest[0]}" + (".api" if is_endpoint else "")


def _room_arrows() -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for importing, imported in arrows():
        here, there = room_of(importing), room_of(imported)
        if here and there and here != there:
            found[here][there].append(f"{importing} → {imported}")
    return found


def _reachable(start: str, graph: Mapping[str, Iterable[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for each in graph.get(waiting.pop(), ()):
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return seen


def test_rooms_form_no_cycle() -> None:
    graph = _room_arrows()
    reach = {room: _reachable(room, graph) for room in graph}
    wrong = [
        arrow
        for room, targets in graph.items()
        for target, found in targets.items()
        if room in reach.get(target, ())
        for arrow in found
    ]
    assert sorted(wrong) == []


def _is_endpoint(room: str) -> bool:
    return room.endswith(".api") and room.count(".") == 2


def test_only_addresses_import_endpoints() -> None:
    """A room's endpoints may use any verb and the shared documents, never another room's endpoints."""
    wrong = [
        arrow
        for room, targets in _room_arrows().items()
        if not room.startswith("portal") and not room.endswith(".api.urls")
        for target, found in targets.items()
        if _is_endpoint(target)
        for arrow in found
    ]
    assert sorted(wrong) == []


def test_folders_hold_few_modules() -> None:
    """A newcomer finds a place by reading file names; what Django dictates is not counted."""
    counts = Counter(
        str(path.parent.relative_to(ROOT))
        for path in MODULES.values()
        if path.stem != "__init__" and not DJANGO_FOLDERS & set(path.parts)
    )
    assert {folder: n for folder, n in counts.items() if n > MAX_MODULES} == {}
