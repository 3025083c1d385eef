"""The memory store in the site's database; the only writer of memories."""

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, F
from django.utils import timezone

from registry.core import search_terms
from registry.models import User
from worker.memory.documents import memory_document
from worker.memory.store import MemoryEntry, MemoryQuery, StoreResult
from worker.models import Memory, MemoryTerm
from worker.models.memory import MemoryQuerySet

UNDO_WINDOW = timedelta(minutes=15)
_MAX_TERMS = 1_000  # limit per memory
_SENTENCE_ENDS = ".。!！;；"
_OWNER_CONTENT = ("owner_run__request", "owner_run__result")  # the large fields
_Key = tuple[str, str, str]  # owner, type, content


class DatabaseStore:
    def add(self, entries: Sequence[MemoryEntry]) -> list[StoreResult]:
        """Stores or merges the entries; returns one result for each, in order.

        Retries up to three times if another run stores the same memory at the same time.
        """
        for _ in range(3):
            try:
                with transaction.atomic():
                    return _remember(entries)
            except IntegrityError:
                continue
        with transaction.atomic():
            return _remember(entries)

    def search(self, text: str, query: MemoryQuery, *, limit: int) -> list[Memory]:
        """Memories that contain at least half of the text's words, sorted by number of matched words,
        importance and time.

        Returns [] if the text has no words to search for.
        """
        terms = [word.term for word in search_terms.query_words(text)]
        if not terms:
            return []
        found = self.list(query).filter(terms__text__in=terms).values("pk", "importance", "uid")
        found = found.annotate(said=Count("terms")).filter(said__gte=(len(terms) + 1) // 2)
        keys = [row["pk"] for row in found.order_by("-said", "-importance", "-uid")[:limit]]
        rows = Memory.objects.select_related("owner_user", "owner_team", "owner_run")
        memories = rows.defer(*_OWNER_CONTENT).in_bulk(keys)
        return [memories[key] for key in keys]

    def list(self, query: MemoryQuery) -> MemoryQuerySet:
        rows = Memory.objects.present().visible_to(query.actor).filter(importance__gte=query.importance)
        if query.owner:
            columns = query.owner.columns()
            rows = rows.filter(**{name: value for name, value in columns.items() if value})
        if query.types:
            rows = rows.filter(type__in=query.types)
        if query.skill:
            rows = rows.filter(skill_label=query.skill)
        if query.since:
            rows = rows.filter(updated_at__gte=query.since)
        if query.until:
            rows = rows.filter(updated_at__lt=query.until)
        return rows.select_related("owner_user", "owner_team", "owner_run").defer(*_OWNER_CONTENT)

    def delete(self, memories: MemoryQuerySet, *, by: User | None) -> int:
        return memories.present().update(deleted_at=timezone.now(), deleted_by=by)

    def restore(self, memories: MemoryQuerySet) -> int:
        """Restores memories deleted within UNDO_WINDOW, except those stored again; returns how many."""
        restored = 0
        for memory in memories.filter(deleted_at__gte=timezone.now() - UNDO_WINDOW):
            try:
                with transaction.atomic():
                    deleted = Memory.objects.filter(pk=memory.pk).exclude(deleted_at=None)
                    restored += deleted.update(deleted_at=None, deleted_by=None)
            except IntegrityError:
                continue
        return restored

    def erase(self, memories: MemoryQuerySet) -> int:
        keys = list(memories.values_list("pk", flat=True))
        Memory.objects.filter(pk__in=keys).delete()
        return len(keys)

    def export(self, query: MemoryQuery) -> Iterator[dict[str, Any]]:
        for memory in self.list(query).order_by("created_at", "pk").iterator(chunk_size=200):
            yield memory_document(memory)


def _remember(entries: Sequence[MemoryEntry]) -> list[StoreResult]:
    now = timezone.now()
    keys = [_key(entry) for entry in entries]
    known = _find_existing(keys)
    fresh: dict[_Key, Memory] = {}
    again: dict[_Key, Memory] = {}
    results = []
    for at, (key, entry) in enumerate(zip(keys, entries, strict=True)):
        is_new = key not in known
        if is_new:
            known[key] = fresh[key] = _memory(entry, key, now + timedelta(microseconds=at))
        else:
            _merge(known[key], entry, now)
            again |= {} if key in fresh else {key: known[key]}
        results.append(StoreResult(known[key], is_new))
    # Locks in a fixed order, to avoid deadlocks.
    Memory.objects.bulk_create(fresh[key] for key in sorted(fresh))
    merged = ("count", "importance", "original_importance", "metadata", "by_person", "updated_at")
    Memory.objects.bulk_update(again.values(), merged)
    MemoryTerm.objects.bulk_create(
        (MemoryTerm(memory=memory, text=text) for memory in fresh.values() for text in _terms(memory)),
        batch_size=2_000,
    )
    return results


def empty_deleted() -> int:
    """Empties up to 1,000 memories that can no longer be restored, but keeps their rows; returns how many."""
    deleted = Memory.objects.filter(deleted_at__lt=timezone.now() - UNDO_WINDOW).exclude(content="")
    keys = list(deleted.values_list("pk", flat=True)[:1_000])
    MemoryTerm.objects.filter(memory__in=keys).delete()
    rows = Memory.objects.filter(pk__in=keys)
    return rows.update(content="", metadata={}, content_key="", original_importance=None)


def subtract_sources(memories: MemoryQuerySet, lost: dict[int, int]) -> None:
    """Reduces the counts of the memories; ``lost`` maps their primary keys to the number of lost proposals.

    A count that would fall below 1 does not change.
    """
    for key, times in lost.items():
        memories.filter(pk=key, count__gt=times).update(count=F("count") - times)


def content_key(content: str) -> str:
    """The SHA-256 of the normalized content.

    Contents have the same key if they differ only in character width, case, repeated blanks, invisible
    characters, or punctuation at the end.
    """
    folded = unicodedata.normalize("NFKC", content)
    visible = "".join(one for one in folded if unicodedata.category(one) != "Cf").casefold()
    plain = " ".join(visible.split())
    return hashlib.sha256((plain.rstrip(_SENTENCE_ENDS) or plain).encode()).hexdigest()


def _key(entry: MemoryEntry) -> _Key:
    return entry.owner.key, entry.type, content_key(entry.content)


def _find_existing(keys: Iterable[_Key]) -> dict[_Key, Memory]:
    owners, _types, contents = (set(column) for column in zip(*keys, strict=True)) if keys else (set(),) * 3
    rows = Memory.objects.present().filter(owner_key__in=owners, content_key__in=contents)
    return {
        (row.owner_key, row.type, row.content_key): row for row in rows.select_for_update().order_by("pk")
    }


def _memory(entry: MemoryEntry, key: _Key, now: datetime) -> Memory:
    return Memory(
        **entry.owner.columns(),
        owner_key=key[0],
        content_key=key[2],
        type=entry.type,
        importance=entry.importance,
        original_importance=entry.original_importance,
        content=entry.content,
        metadata=dict(entry.metadata),
        by_person=entry.by_person,
        skill_label=entry.skill,
        version_number=entry.version,
        created_at=now,
        updated_at=now,
    )


def _merge(memory: Memory, entry: MemoryEntry, now: datetime) -> None:
    """Merges a repeated proposal into the memory: keeps the first content, the latest metadata and the
    highest importance.

    Does not save the memory.
    """
    memory.count += 1
    memory.updated_at = now
    memory.by_person = memory.by_person or entry.by_person
    if entry.importance > memory.importance:
        memory.importance, memory.original_importance = entry.importance, entry.original_importance
    if entry.metadata:
        memory.metadata = dict(entry.metadata)


def _terms(memory: Memory) -> Iterable[str]:
    texts = (value for value in memory.metadata.values() if isinstance(value, str))
    every = search_terms.terms("\n".join((memory.content, *texts)))
    return islice(dict.fromkeys(every), _MAX_TERMS)
