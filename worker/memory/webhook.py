"""Another memory system that is told of each change: what it has to hear is written down with the change
itself, and told by the reaper until it says that it has heard. No run and no person waits for it.
"""

from __future__ import annotations

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

from registry import outbound
from registry.models import User
from registry.packages.problems import Refused
from worker.memory.documents import memory_document
from worker.memory.store import Entry, Kept, Store, Wanted
from worker.models import Memory, MemoryChange
from worker.models.memory import MemoryQuerySet

log = logging.getLogger(__name__)
TELLING_S = 4.0  # of one round: the reaper has other work
_ANSWER_S = 5.0
_ANSWER_BYTES = 65_536
_CLAIM = timedelta(seconds=60)  # in which nobody else tries the same
_LONGEST_PAUSE_S = 3_600


@dataclass(frozen=True)
class WebhookStore:
    """The site's own store, whose changes are told elsewhere; what is asked is answered here."""

    own: Store

    def add(self, entries: Sequence[Entry]) -> list[Kept]:
        kept = self.own.add(entries)
        _note([each.memory.uid for each in kept])
        return kept

    def search(self, text: str, wanted: Wanted, *, most: int) -> list[Memory]:
        return self.own.search(text, wanted, most=most)

    def list(self, wanted: Wanted) -> MemoryQuerySet:
        return self.own.list(wanted)

    def delete(self, memories: MemoryQuerySet, *, by: User | None) -> int:
        gone = list(memories.present().values_list("uid", flat=True))
        done = self.own.delete(memories, by=by)
        _note(gone, deleted=True)
        return done

    def restore(self, memories: MemoryQuerySet) -> int:
        back = list(memories.values_list("uid", flat=True))
        done = self.own.restore(memories)
        _note(Memory.objects.present().filter(uid__in=back).values_list("uid", flat=True))
        return done

    def erase(self, memories: MemoryQuerySet) -> int:
        gone = list(memories.values_list("uid", flat=True))
        done = self.own.erase(memories)
        _note(gone, deleted=True)
        return done

    def export(self, wanted: Wanted) -> Iterator[dict[str, Any]]:
        return self.own.export(wanted)


def tell_due() -> int:
    """Tells what is due, oldest first, for a few seconds; the first that is not heard ends the round."""
    if not settings.SKILLQUAY_MEMORY_URL:
        return 0
    until, told = time.monotonic() + TELLING_S, 0
    while time.monotonic() < until and (change := _claim()):
        if why := _tell(change):
            _put_off(change, why)
            break
        change.delete()
        told += 1
    return told


def _note(uids: Iterable[str], *, deleted: bool = False) -> None:
    """Beside the change, in its transaction."""
    now = timezone.now()
    MemoryChange.objects.bulk_create(
        MemoryChange(memory_uid=uid, deleted=deleted, due_at=now, created_at=now)
        for uid in dict.fromkeys(uids)
    )


def _claim() -> MemoryChange | None:
    now = timezone.now()
    for change in MemoryChange.objects.filter(due_at__lte=now).order_by("due_at", "pk")[:10]:
        if MemoryChange.objects.filter(pk=change.pk, due_at=change.due_at).update(due_at=now + _CLAIM):
            return change
    return None


def _tell(change: MemoryChange) -> str:
    """Why it was not heard; "" when it was."""
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
    except Refused as refused:
        return refused.code
    return "" if 200 <= answer.status < 300 else f"HTTP {answer.status}"


def _document(change: MemoryChange) -> dict[str, Any]:
    """As the memory is now: what was deleted meanwhile is told as that, and by its id alone."""
    memory = Memory.objects.present().filter(uid=change.memory_uid).first()
    gone = change.deleted or memory is None
    told = {"id": change.memory_uid} if memory is None or gone else memory_document(memory)
    return {"type": "memory.deleted" if gone else "memory.kept", "id": change.uid, "data": told}


def signature(uid: str, body: bytes) -> dict[str, str]:
    """The headers that our own endpoints ask of others: HMAC-SHA256 over ``timestamp.id.body``."""
    timestamp = str(int(time.time()))
    signed = f"{timestamp}.{uid}.".encode() + body
    digest = hmac.new(settings.SKILLQUAY_MEMORY_KEY.encode(), signed, hashlib.sha256).digest()
    return {
        "webhook-id": uid,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def _put_off(change: MemoryChange, why: str) -> None:
    attempts = change.attempts + 1
    pause = timedelta(seconds=min(5 * 2 ** min(attempts, 12), _LONGEST_PAUSE_S))
    log.warning("The memory system did not hear change %s: %s", change.uid, why)
    MemoryChange.objects.filter(pk=change.pk).update(
        attempts=attempts, failure=why[:300], due_at=timezone.now() + pause
    )
