"""What a purge and the erasure of a person take beyond the registry's own rows: the floor above says how."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from registry import indexing, storage
from registry.models import Skill, User


@dataclass(frozen=True)
class Keeper:
    """A floor above that keeps content of its own; each verb runs within the caller's transaction."""

    erase_version: Callable[
        [Skill, str, str], Iterable[str]
    ]  # skill, number, digest → digests no longer used
    export_person: Callable[[User], Mapping[str, Any]]
    erase_person: Callable[[User], Iterable[str]]  # → digests no longer used


_keepers: list[Keeper] = []


def register_keeper(keeper: Keeper) -> None:
    """Called once, when the app is ready."""
    if keeper not in _keepers:
        _keepers.append(keeper)


def erase_version(skill: Skill, number: str, digest: str) -> set[str]:
    """Erases what was made with the version; answers the digests of which perhaps nothing is left."""
    made = (found for keeper in _keepers for found in keeper.erase_version(skill, number, digest))
    return {digest, *made}


def export_person(user: User) -> dict[str, Any]:
    return {key: value for keeper in _keepers for key, value in keeper.export_person(user).items()}


def erase_person(user: User) -> set[str]:
    return {digest for keeper in _keepers for digest in keeper.erase_person(user)}


def discard_on_commit(digests: Iterable[str]) -> None:
    """Removes bytes that nothing names any more once their rows are gone; what fails is swept later."""
    gone = sorted(digests)
    transaction.on_commit(lambda: _discard(gone), robust=True)


def _discard(digests: list[str]) -> None:
    with transaction.atomic():
        indexing.take_turns()  # whoever publishes the same bytes has named them, or stores them after us
        storage.discard(digests)
