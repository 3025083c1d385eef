"""Sends memory changes to another system.

Each change is recorded in the transaction that makes it. The reaper sends it until the other system confirms
it, so neither runs nor requests wait for the delivery.
"""

import base64
import hashlib
import hmac
import json
import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from registry.http_client import fetch as outbound
from registry.models import User
from registry.packages.problems import Refusal
from worker.memory.documents import memory_document
from worker.memory.store import MemoryEntry, MemoryQuery, Store, StoreResult
from worker.models import Memory, MemoryChange
from worker.models.memory import MemoryQuerySet

log = logging.getLogger(__name__)
DELIVERY_S = 4.0  # limit per round, because the reaper has other work
_ANSWER_S = 5.0
_ANSWER_BYTES = 65_536
_CLAIM_TIME = timedelta(seconds=60)  # time in which no other process tries the same change
_MAX_PAUSE_S = 3_600


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


def deliver_due() -> int:
    """Sends due changes, oldest first, for ``DELIVERY_S`` or until one fails; returns how many were sent.

    Postpones a failed change. Does nothing unless SKILLQUAY_MEMORY_URL is set.
    """
    if not settings.SKILLQUAY_MEMORY_URL:
        return 0
    until, sent = time.monotonic() + DELIVERY_S, 0
    while time.monotonic() < until and (change := _claim()):
        if why := _deliver(change):
            _postpone(change, why)
            break
        change.delete()
        sent += 1
    return sent


def _record_changes(uids: Iterable[str], *, deleted: bool = False) -> None:
    """Records changes for delivery, in the caller's transaction."""
    now = timezone.now()
    MemoryChange.objects.bulk_create(
        MemoryChange(memory_uid=uid, deleted=deleted, due_at=now, created_at=now)
        for uid in dict.fromkeys(uids)
    )


def _claim() -> MemoryChange | None:
    now = timezone.now()
    for change in MemoryChange.objects.filter(due_at__lte=now).order_by("due_at", "pk")[:10]:
        if MemoryChange.objects.filter(pk=change.pk, due_at=change.due_at).update(due_at=now + _CLAIM_TIME):
            return change
    return None


def _deliver(change: MemoryChange) -> str:
    """Sends a change; returns the reason of a failure, or "" on success."""
    body = json.dumps(_document(change), ensure_ascii=False).encode()
    try:
        answer = outbound.fetch(
            settings.SKILLQUAY_MEMORY_URL,
            method="POST",
            headers={"content-type": "application/json", **signature(change.uid, body)},
            body=body,
            limit=_ANSWER_BYTES,
            timeout=_ANSWER_S,
        )
    except Refusal as refused:
        return refused.code
    return "" if 200 <= answer.status < 300 else f"HTTP {answer.status}"


def _document(change: MemoryChange) -> dict[str, Any]:
    """The message about a change, with the memory's current state, or only the id of a deleted memory."""
    memory = Memory.objects.present().filter(uid=change.memory_uid).first()
    is_deleted = change.deleted or memory is None
    document = {"id": change.memory_uid} if memory is None or is_deleted else memory_document(memory)
    return {"type": "memory.deleted" if is_deleted else "memory.kept", "id": change.uid, "data": document}


def signature(uid: str, body: bytes) -> dict[str, str]:
    """Headers that sign a webhook with HMAC-SHA256 over ``timestamp.id.body``, as in webhooks to this
    site.
    """
    timestamp = str(int(time.time()))
    signed = f"{timestamp}.{uid}.".encode() + body
    digest = hmac.new(settings.SKILLQUAY_MEMORY_KEY.encode(), signed, hashlib.sha256).digest()
    return {
        "webhook-id": uid,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def _postpone(change: MemoryChange, why: str) -> None:
    attempts = change.attempts + 1
    pause = timedelta(seconds=min(5 * 2 ** min(attempts, 12), _MAX_PAUSE_S))
    log.warning("Can't deliver memory change %s: %s", change.uid, why)
    MemoryChange.objects.filter(pk=change.pk).update(
        attempts=attempts, failure=why[:300], due_at=timezone.now() + pause
    )
