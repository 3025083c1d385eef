"""The one interface to the memory store, and which store this site has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from django.conf import settings

from registry.actors import Actor
from registry.models import User
from worker.memory.owners import Owner
from worker.models import Memory
from worker.models.memory import MemoryQuerySet


@dataclass(frozen=True)
class Entry:
    """What is to be remembered, for whom, and which version of which skill said so."""

    owner: Owner
    type: str
    importance: int  # 1 to 5
    content: str
    importance_given: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    skill: str = ""
    version: str = ""
    by_person: bool = False


@dataclass(frozen=True)
class Kept:
    """The memory that holds an entry; not ``is_new`` where the same was remembered before."""

    memory: Memory
    is_new: bool


@dataclass(frozen=True)
class Wanted:
    """Of what the actor may see, these."""

    actor: Actor
    owner: Owner | None = None
    types: frozenset[str] = frozenset()
    skill: str = ""
    importance: int = 1  # at least
    since: datetime | None = None
    until: datetime | None = None


class Store(Protocol):
    """Every verb runs within the caller's transaction, where there is one."""

    def add(self, entries: Sequence[Entry]) -> list[Kept]:
        """Remembers each, once: the same content of one owner and type is merged."""

    def search(self, text: str, wanted: Wanted, *, most: int) -> list[Memory]:
        """Those that say the words, the fittest first."""

    def list(self, wanted: Wanted) -> MemoryQuerySet:
        """All that are wanted; the caller orders and cuts them."""

    def delete(self, memories: MemoryQuerySet, *, by: User | None) -> int:
        """Takes them away, for good when nobody takes that back in time."""

    def restore(self, memories: MemoryQuerySet) -> int:
        """Takes a deletion back."""

    def erase(self, memories: MemoryQuerySet) -> int:
        """Takes them away at once, rows and all."""

    def export(self, wanted: Wanted) -> Iterator[dict[str, Any]]:
        """All that are wanted as documents, oldest first."""


def store() -> Store:
    """The database, which tells another system of each change where the site names one."""
    from worker.memory.database import DatabaseStore
    from worker.memory.webhook import WebhookStore

    return WebhookStore(DatabaseStore()) if settings.SKILLQUAY_MEMORY_URL else DatabaseStore()
