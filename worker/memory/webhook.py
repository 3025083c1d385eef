"""Sends memory changes to another system.

Each change is queued for delivery in the transaction that makes it, so neither runs nor requests wait for it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from registry.models import User
from worker.delivery import log as deliveries
from worker.delivery.sending.messages import Message
from worker.memory.documents import memory_document
from worker.memory.store import MemoryEntry, MemoryQuery, Store, StoreResult
from worker.models import MEMORY_CHANNEL, Delivery, Memory, NotificationSubscription
from worker.models.memory import MemoryQuerySet


@dataclass(frozen=True)
class WebhookStore:
    """Wraps a store and records its changes for delivery; reads are answered by the wrapped store."""

    own: Store

    def add(self, entries: Sequence[MemoryEntry]) -> list[StoreResult]:
        results = self.own.add(entries)
        _record_changes([each.memory.uid for each in results])
        return results

    def search(self, text: str, query: MemoryQuery, *, limit: int) -> list[Memory]:
        return self.own.search(text, query, limit=limit)

    def list(self, query: MemoryQuery) -> MemoryQuerySet:
        return self.own.list(query)

    def delete(self, memories: MemoryQuerySet, *, by: User | None) -> int:
        deleted_uids = list(memories.present().values_list("uid", flat=True))
        done = self.own.delete(memories, by=by)
        _record_changes(deleted_uids, deleted=True)
        return done

    def restore(self, memories: MemoryQuerySet) -> int:
        deleted_uids = list(memories.exclude(deleted_at=None).values_list("uid", flat=True))
        done = self.own.restore(memories)
        _record_changes(Memory.objects.present().filter(uid__in=deleted_uids).values_list("uid", flat=True))
        return done

    def erase(self, memories: MemoryQuerySet) -> int:
        deleted_uids = list(memories.values_list("uid", flat=True))
        done = self.own.erase(memories)
        _record_changes(deleted_uids, deleted=True)
        return done

    def export(self, query: MemoryQuery) -> Iterator[dict[str, Any]]:
        return self.own.export(query)


def message_of(delivery: Delivery) -> Message:
    """The message about a change, with the memory's current state, or only the id of a deleted memory."""
    uid = str(delivery.payload["memory"])
    memory = Memory.objects.present().filter(uid=uid).first()
    is_deleted = delivery.payload["deleted"] or memory is None
    data = {"id": uid} if memory is None or is_deleted else memory_document(memory)
    kind = "memory.deleted" if is_deleted else "memory.kept"
    return Message(delivery.uid, kind, (), {"type": kind, "id": delivery.uid, "data": data})


def _record_changes(uids: Iterable[str], *, deleted: bool = False) -> None:
    """Queues changes for delivery, in the caller's transaction. Creates the subscription for memory changes
    if necessary.
    """
    unique = dict.fromkeys(uids)
    if unique:
        subscription, _new = NotificationSubscription.objects.get_or_create(channel=MEMORY_CHANNEL)
        deliveries.queue_memory_changes(subscription, [{"memory": uid, "deleted": deleted} for uid in unique])
