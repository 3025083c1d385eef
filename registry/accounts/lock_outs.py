"""Lock-outs: too many failed sign-ins from one address block a user name at that address for a while."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import time

from django.db import transaction
from django.db.models import QuerySet

from registry.accounts import sql
from registry.accounts.errors import LOCKED_OUT
from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import FailedSignIns, User
from registry.models.identity import new_uid
from registry.rates.limits import network_of

MAX_FAILURES = 10
LOCK_S = 15 * 60
_MAX_NAME = 150


@dataclass
class Attempt:
    """An attempt to sign in. The code that checks the credentials sets ``succeeded``."""

    succeeded: bool = False


@contextmanager
def limited(username: str, address: str = "") -> Iterator[Attempt]:
    """Context manager that counts a sign-in attempt with this name from this address. Without an address,
    attempts from all addresses count together. If the attempt succeeds, earlier failures no longer count.

    Raises LOCKED_OUT before and after the attempt if the limit is reached. Attempts with unknown names count
    too. Use this outside transactions, so that a rollback can't undo the count.
    """
    name, network, now = _key(username), network_of(address), int(time())
    FailedSignIns.objects.filter(ends_at__lte=now).delete()
    count, ends_at = sql.add_attempt(new_uid(), name, network, now=now, seconds=LOCK_S, most=MAX_FAILURES)
    if count > MAX_FAILURES:
        raise LOCKED_OUT.refusal(retry_after_s=ends_at - now)
    attempt = Attempt()
    try:
        yield attempt
    finally:
        if attempt.succeeded:
            FailedSignIns.objects.filter(username=name, address=network).delete()
        elif count == MAX_FAILURES:
            raise LOCKED_OUT.refusal(retry_after_s=ends_at - now)


def list_lock_outs(by: Actor) -> QuerySet[FailedSignIns]:
    """The names that can't sign in now. A row without an address locks the second factor only.
    Requires administrator rights.
    """
    require(by, Action.USERS)
    return FailedSignIns.objects.filter(count__gte=MAX_FAILURES, ends_at__gt=int(time()))


@transaction.atomic
def end(uid: str, by: Actor) -> None:
    """Ends the lock-out. Raises NOT_FOUND if there is none with this uid, and for actors who aren't
    administrators.
    """
    row = list_lock_outs(by).filter(uid=uid).first() if by.is_administrator else None
    if row is None:
        raise NOT_FOUND.refusal(what="lock-out", name=uid[:30])
    row.delete()
    user = User.objects.filter(username__iexact=row.username).first()
    target = user.username if user else row.username  # an erasure replaces the exact name
    audit.record(by, "user.end_lock_out", target, address=row.address)


def failures_of(username: str) -> QuerySet[FailedSignIns]:
    """The failed sign-ins with this name, from every address."""
    return FailedSignIns.objects.filter(username=_key(username))


def _key(username: str) -> str:
    """The normalized name. Names that differ only in case or Unicode form have the same key."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", username).casefold())
    return folded.replace("\0", "").strip()[:_MAX_NAME]
