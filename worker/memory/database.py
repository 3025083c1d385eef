"""The memory store in the site's own database; the only writer of memories."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, F
from django.utils import timezone

from registry import words
from registry.models import User
from worker.memory.documents import memory_document
from worker.memory.store import Entry, Kept, Wanted
from worker.models import Memory, MemoryTerm
from worker.models.memory import MemoryQuerySet

UNDO = timedelta(minutes=15)
_MOST_TERMS = 1_000  # under which one memory is found
_SENTENCE_ENDS = ".。!！;；"
_Key = tuple[str, str, str]  # owner, type, content


class DatabaseStore:
    def add(self, entries: Sequence[Entry]) -> list[Kept]:
        """Asks again where another run remembered the same at the same moment."""
        for _ in range(3):
            try:
                with transaction.atomic():
                    return _remember(entries)
            except IntegrityError:
                continue
        with transaction.atomic():
            return _remember(entries)

    def search(self, text: str, wanted: Wanted, *, most: int) -> list[Memory]:
        """At least half of the words; more of them first, then what matters more, then what is newer."""
        asked = [word.term for word in words.query_words(text)]
        if not asked:
            return []
        found = self.list(wanted).filter(terms__text__in=asked).values("pk", "importance", "uid")
        found = found.annotate(said=Count("terms")).filter(said__gte=(len(asked) + 1) // 2)
        keys = [row["pk"] for row in found.order_by("-said", "-importance", "-uid")[:most]]
        rows = Memory.objects.select_related("owner_user", "owner_team", "owner_run").in_bulk(keys)
        return [rows[key] for key in keys]

    def list(self, wanted: Wanted) -> MemoryQuerySet:
        rows = Memory.objects.present().visible_to(wanted.actor).filter(importance__gte=wanted.importance)
        if wanted.owner:
            columns = wanted.owner.columns()
            rows = rows.filter(**{name: value for name, value in columns.items() if value})
        if wanted.types:
            rows = rows.filter(type__in=wanted.types)
        if wanted.skill:
            rows = rows.filter(skill_label=wanted.skill)
        if wanted.since:
            rows = rows.filter(updated_at__gte=wanted.since)
        if wanted.until:
            rows = rows.filter(updated_at__lt=wanted.until)
        return rows.select_related("owner_user", "owner_team", "owner_run")

    def delete(self, memories: MemoryQuerySet, *, by: User | None) -> int:
        return memories.present().update(deleted_at=timezone.now(), deleted_by=by)

    def restore(self, memories: MemoryQuerySet) -> int:
        """Of one that was remembered again meanwhile the newer stays."""
        restored = 0
        for memory in memories.filter(deleted_at__gte=timezone.now() - UNDO):
            try:
                with transaction.atomic():
                    restored += Memory.objects.filter(pk=memory.pk).update(deleted_at=None, deleted_by=None)
            except IntegrityError:
                continue
        return restored

    def erase(self, memories: MemoryQuerySet) -> int:
        keys = list(memories.values_list("pk", flat=True))
        Memory.objects.filter(pk__in=keys).delete()
        return len(keys)

    def export(self, wanted: Wanted) -> Iterator[dict[str, Any]]:
        for memory in self.list(wanted).order_by("created_at", "pk").iterator(chunk_size=200):
            yield memory_document(memory)


def _remember(entries: Sequence[Entry]) -> list[Kept]:
    now = timezone.now()
    keys = [_key(entry) for entry in entries]
    known = _known(keys)
    fresh: dict[_Key, Memory] = {}
    again: dict[_Key, Memory] = {}
    kept = []
    for at, (key, entry) in enumerate(zip(keys, entries, strict=True)):
        is_new = key not in known
        if is_new:
            known[key] = fresh[key] = _memory(entry, key, now + timedelta(microseconds=at))
        else:
            _merge(known[key], entry, now)
            again |= {} if key in fresh else {key: known[key]}
        kept.append(Kept(known[key], is_new))
    Memory.objects.bulk_create(fresh[key] for key in sorted(fresh))  # in one order, whoever else adds them
    merged = ("count", "importance", "importance_given", "metadata", "by_person", "updated_at")
    Memory.objects.bulk_update(again.values(), merged)
    MemoryTerm.objects.bulk_create(
        (MemoryTerm(memory=memory, text=text) for memory in fresh.values() for text in _terms(memory)),
        batch_size=2_000,
    )
    return kept


def forget_deleted() -> int:
    """Empties what was deleted and not taken back; the row says that there was something."""
    gone = Memory.objects.filter(deleted_at__lt=timezone.now() - UNDO).exclude(content="")
    keys = list(gone.values_list("pk", flat=True)[:1_000])
    MemoryTerm.objects.filter(memory__in=keys).delete()
    rows = Memory.objects.filter(pk__in=keys)
    return rows.update(content="", metadata={}, content_key="", importance_given=None)


def forget_sources(memories: MemoryQuerySet, lost: dict[int, int]) -> None:
    """Counts what is left of those of which some sources were erased."""
    for key, times in lost.items():
        memories.filter(pk=key, count__gt=times).update(count=F("count") - times)


def content_key(content: str) -> str:
    """The same for what differs in width, case, blanks, unseen characters and the sentence's end alone."""
    folded = unicodedata.normalize("NFKC", content)
    seen = "".join(one for one in folded if unicodedata.category(one) != "Cf").casefold()
    plain = " ".join(seen.split())
    return hashlib.sha256((plain.rstrip(_SENTENCE_ENDS) or plain).encode()).hexdigest()


def _key(entry: Entry) -> _Key:
    return entry.owner.key, entry.type, content_key(entry.content)


def _known(keys: Iterable[_Key]) -> dict[_Key, Memory]:
    owners, _types, contents = (set(column) for column in zip(*keys, strict=True)) if keys else (set(),) * 3
    rows = Memory.objects.present().filter(owner_key__in=owners, content_key__in=contents)
    return {
        (row.owner_key, row.type, row.content_key): row for row in rows.select_for_update().order_by("pk")
    }


def _memory(entry: Entry, key: _Key, now: datetime) -> Memory:
    return Memory(
        **entry.owner.columns(),
        owner_key=key[0],
        content_key=key[2],
        type=entry.type,
        importance=entry.importance,
        importance_given=entry.importance_given,
        content=entry.content,
        metadata=dict(entry.metadata),
        by_person=entry.by_person,
        skill_label=entry.skill,
        version_number=entry.version,
        created_at=now,
        updated_at=now,
    )


def _merge(memory: Memory, entry: Entry, now: datetime) -> None:
    """The content stays as it was said first; what was said last about it counts."""
    memory.count += 1
    memory.updated_at = now
    memory.by_person = memory.by_person or entry.by_person
    if entry.importance > memory.importance:
        memory.importance, memory.importance_given = entry.importance, entry.importance_given
    if entry.metadata:
        memory.metadata = dict(entry.metadata)


def _terms(memory: Memory) -> Iterable[str]:
    told = (value for value in memory.metadata.values() if isinstance(value, str))
    every = words.terms("\n".join((memory.content, *told)))
    return islice(dict.fromkeys(every), _MOST_TERMS)
