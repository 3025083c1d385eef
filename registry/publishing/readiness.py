"""How far what a version depends on is made: the floor that makes it says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from registry.models import Version

Readiness = Literal["none", "preparing", "ready", "failed"]
READINESS: tuple[str, ...] = get_args(Readiness)
_tellers: list[Callable[[Version], Readiness]] = []


def register_readiness(tell: Callable[[Version], Readiness]) -> None:
    """Names who knows; called once, when its app is ready."""
    if tell not in _tellers:
        _tellers.append(tell)


def readiness(version: Version) -> Readiness:
    """``none`` where it depends on nothing that is made."""
    return next((said for tell in _tellers if (said := tell(version)) != "none"), "none")
