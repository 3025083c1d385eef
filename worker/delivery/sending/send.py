"""Sends due deliveries: one at a time, or in a small pool of threads."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import Future, ThreadPoolExecutor

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from registry.core import sealing
from registry.identity.actors import Actor
from registry.packages.problems import Refusal
from worker.delivery.recipients import visible_events
from worker.delivery.sending import claims
from worker.delivery.sending.claims import SendClaim
from worker.delivery.sending.messages import (
    Message,
    memory_message_hook,
    notification_message,
    test_message,
)
from worker.delivery.sending.transport import SendResult, SendTarget, send
from worker.models import MEMORY_CHANNEL, DeliveryKind, NotificationSubscription

log = logging.getLogger(__name__)
# Numbers of threads, by whether the last attempt of the subscription failed. So endpoints that do not answer
# can't occupy all threads.
_THREADS = {False: 6, True: 2}


class Sender:
    """Sends due deliveries in threads until ``stop``."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._pools = {failing: ThreadPoolExecutor(count, "sender") for failing, count in _THREADS.items()}
        self._active: dict[bool, set[Future[None]]] = {False: set(), True: set()}

    def start_due(self) -> None:
        """Starts a thread for each due subscription while threads are free. Does not wait for the threads."""
        for failing, pool in self._pools.items():
            self._active[failing] = {each for each in self._active[failing] if not each.done()}
            while len(self._active[failing]) < _THREADS[failing]:
                claim = claims.claim_next(failing=failing)
                if claim is None:
                    break
                self._active[failing].add(pool.submit(self._work, claim, failing))

    def stop(self) -> None:
        """Ends the threads after their current attempts."""
        self._stopping.set()
        for pool in self._pools.values():
            pool.shutdown(wait=True, cancel_futures=True)

    def _work(self, claim: SendClaim | None, failing: bool) -> None:
        try:
            while claim and not self._stopping.is_set():
                deliver(claim)
                claim = claims.claim_next(failing=failing)
        except DatabaseError as error:
            log.warning("Deliveries will be tried again: %s", error)
        except Exception:  # an error must not stop the next claim
            log.exception("A delivery failed")
        finally:
            connection.close()


def send_due() -> int:
    """Sends all due deliveries, one after the other; returns the number of attempts."""
    attempts = 0
    while claim := claims.claim_next(failing=False) or claims.claim_next(failing=True):
        attempts += deliver(claim)
    return attempts


def deliver(claim: SendClaim) -> bool:
    """Sends the claim's message and records the outcome; returns False if there was nothing to send."""
    message = _message(claim)
    if message is None:
        claims.release(claim)
        return False
    try:
        result = send(message, destination(claim.subscription))
    except Refusal as refused:  # the address is encrypted with another key
        result = SendResult(refused.code)
    if result.error:
        log.warning("Can't deliver %s: %s", message.id, result.error)
    claims.record_result(claim, result)
    return True


def destination(row: NotificationSubscription) -> SendTarget:
    """The target of the subscription's messages. Raises SECRET_UNREADABLE if it can't be decrypted."""
    if row.channel == MEMORY_CHANNEL:
        return SendTarget(row.channel, settings.SKILLQUAY_MEMORY_URL, settings.SKILLQUAY_MEMORY_KEY)
    if row.channel == "email" and row.user:
        return SendTarget(row.channel, row.user.email)
    secret = sealing.unseal(row.secret) if row.secret else ""
    return SendTarget(row.channel, sealing.unseal(row.address), secret)


def _message(claim: SendClaim) -> Message | None:
    """The message of the claim, without muted deliveries and those that the recipient can no longer see.

    Marks these as skipped. Returns None if no delivery remains.
    """
    row, first = claim.subscription, claim.deliveries[0]
    language = (row.user.language if row.user else "") or settings.LANGUAGE_CODE
    if first.kind == DeliveryKind.MEMORY:
        return memory_message_hook.send(first)[0]
    if first.kind == DeliveryKind.TEST:
        return test_message(claim.id, language)
    if row.muted_until and row.muted_until > timezone.now():
        claims.skip(claim, claim.deliveries, "MUTED")
        return None
    keys = [each.event_id for each in claim.deliveries if each.event_id]
    actor = Actor(user=row.user) if row.user else None
    events = visible_events(keys, actor) if not row.user or row.user.is_active else {}
    hidden = [each for each in claim.deliveries if each.event_id not in events]
    claims.skip(claim, hidden, "NOT_VISIBLE")
    kept = [each for each in claim.deliveries if each not in hidden]
    if not kept:
        return None
    return notification_message(claim.id, (events[each.event_id or 0] for each in kept), language)
