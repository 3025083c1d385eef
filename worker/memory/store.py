"""The interface of the memory store, and the store of this site."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from django.conf import settings

from registry.identity.actors import Actor
from registry.models import User
from worker.memory.owners import Owner
from worker.models import Memory
from worker.models.memory import MemoryQuerySet


@dataclass(frozen=True)
class MemoryEntry:
    """A memory to store: its content, its owner, and the skill version that proposed it."""

    owner: Owner
    type: str
    importance: int  # 1 to 5
    content: str
    original_importance: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    skill: str = ""
    version: str = ""
    by_person: bool = False


@dataclass(frozen=True)
class StoreResult:
    """The memory that stores an entry; ``is_new`` is False if the entry was merged into an existing one."""

    memory: Memory
    is_new: bool


@dataclass(frozen=True)
class MemoryQuery:
    """Filters for the memories that the actor can see."""

    actor: Actor
    owner: Owner | None = None
    types: frozenset[str] = frozenset()
    skill: str = ""
    importance: int = 1  # minimum importance
    since: datetime | None = None
    until: datetime | None = None


class Store(Protocol):
    """A memory store; its methods run in the caller's transaction, if there is one."""

    def add(self, entries: Sequence[MemoryEntry]) -> list[StoreResult]:
        """Stores the entries; returns one result for each, in order.

        Merges an entry into a memory with the same content, owner and type.
        """

    def search(self, text: str, query: MemoryQuery, *, limit: int) -> list[Memory]:
        """At most ``limit`` of the query's memories that match the text, best first."""

    def list(self, query: MemoryQuery) -> MemoryQuerySet:
        """All memories that the query selects, without deleted ones; the caller orders and limits them."""

    def delete(self, memories: MemoryQuerySet, *, by: User | None) -> int:
        """Deletes the memories; the deletion can be undone for 15 minutes. Returns how many."""

    def restore(self, memories: MemoryQuerySet) -> int:
        """Restores memories deleted in the last 15 minutes; returns how many."""

    def erase(self, memories: MemoryQuerySet) -> int:
        """Deletes the rows immediately; returns how many."""

    def export(self, query: MemoryQuery) -> Iterator[dict[str, Any]]:
        """The documents of all memories that the query selects, oldest first."""


def store() -> Store:
    """The database store. If SKILLQUAY_MEMORY_URL is set, changes are also sent to that URL."""
    from worker.memory.database import DatabaseStore
    from worker.memory.webhook import WebhookStore

    return WebhookStore(DatabaseStore()) if settings.SKILLQUAY_MEMORY_URL else DatabaseStore()
