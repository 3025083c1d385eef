"""Erases and exports memories of runs and users; sweeps expired proposals and deleted memories."""

from collections import Counter
from collections.abc import Collection
from functools import partial
from typing import Any

from registry.identity.actors import Actor
from registry.models import User
from worker.memory.database import empty_deleted, subtract_sources
from worker.memory.documents import memory_document, write_document
from worker.memory.review import expire
from worker.memory.store import store
from worker.models import Memory, MemoryWrite


def erase_runs(runs: Collection[int]) -> None:
    """Erases the proposals and memories of the runs with these primary keys.

    Also erases memories that only these runs proposed, unless a person accepted them, and reduces the counts
    of the others.
    """
    writes = MemoryWrite.objects.filter(run__in=runs)
    lost = Counter(writes.exclude(memory=None).values_list("memory_id", flat=True))
    writes.delete()
    theirs = Memory.objects.filter(pk__in=lost)
    orphans = theirs.filter(by_person=False, writes=None)
    store().erase(orphans | Memory.objects.filter(owner_run__in=runs))
    subtract_sources(Memory.objects.all(), lost)


def export_person(user: User) -> dict[str, Any]:
    """The user's memories, and the proposals that wait for the user, as a dict of iterators."""
    who = Actor(user=user)
    memories = Memory.objects.present().filter(owner_user=user).order_by("pk")
    waiting = MemoryWrite.objects.waiting().filter(owner_user=user).order_by("pk")
    waiting = waiting.select_related("run__caller", "owner_user").defer("run__request", "run__result")
    return {
        "memories": map(memory_document, memories.iterator(chunk_size=200)),
        "memory_proposals": map(partial(write_document, actor=who), waiting.iterator(chunk_size=200)),
    }


def erase_person(user: User) -> None:
    store().erase(Memory.objects.filter(owner_user=user))
    MemoryWrite.objects.filter(owner_user=user).update(content="", metadata={})
    MemoryWrite.objects.waiting().filter(owner_user=user).delete()


def sweep() -> None:
    """Declines proposals that were not decided in time, and empties memories whose deletion is final."""
    expire()
    empty_deleted()
