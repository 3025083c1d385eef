"""Limits the bytes that request bodies of anonymous clients use in memory and on disk together."""

import asyncio
import hashlib
import time
from collections import Counter
from types import TracebackType
from typing import Self

from django.conf import settings

from portal.errors import ANONYMOUS_BODIES_FULL
from portal.streaming import inner_request
from portal.streaming.inner_request import App, Scope
from registry.api.errors import BODY_TOO_LARGE
from registry.core.errors import UNAVAILABLE
from registry.identity.errors import TOKEN_INVALID
from registry.rates.limits import network_of

FREE_BYTES = 16_384  # always accepted per request; enough to sign in
REQUEST_BYTES = 12_288  # memory that a request uses in addition to its content
CHECK_BYTES = 65_536  # at this size the credential is checked; until then a request counts as anonymous
ANONYMOUS_BYTES = 2**20  # limit per address
TOTAL_ANONYMOUS_BYTES = 32_000_000  # limit for all addresses and web processes of this host
KNOWN_S = 5.0  # how long the result of a check is reused
_MAX_KNOWN = 1_000
_MAX_WAITING = 64  # limit of the requests that wait for a check
_CREDENTIAL_HEADERS = (b"authorization", b"cookie")


class AnonymousBudget:
    """Counts the bytes that bodies of anonymous requests use, by client address."""

    def __init__(self) -> None:
        webhook = (
            settings.SKILLQUAY_MAX_EVENT_BYTES + FREE_BYTES
        )  # signed deliveries have no session or token
        self.per_address = max(ANONYMOUS_BYTES, webhook)
        self.total = max(TOTAL_ANONYMOUS_BYTES // settings.SKILLQUAY_WEB_PROCESSES, self.per_address)
        self.held: Counter[str] = Counter()
        self.sum = 0

    def add(self, address: str, size: int) -> bool:
        """Counts ``size`` more bytes for the address; returns False if a limit is exceeded."""
        self.held[address] += size
        self.sum += size
        return self.held[address] <= self.per_address and self.sum <= self.total

    def remove(self, address: str, size: int) -> None:
        self.sum -= size
        self.held[address] -= size
        if not self.held[address]:
            del self.held[address]


class CredentialCheck:
    """Checks by requests to Django, one at a time, whether credentials are valid; caches the results."""

    def __init__(self, app: App) -> None:
        self.app = app
        # One check at a time, so that invalid credentials don't occupy the web threads.
        self.turn = asyncio.Semaphore(1)
        self.waiting = 0
        self.known: dict[bytes, tuple[bool, float]] = {}

    async def is_valid(self, scope: Scope) -> bool:
        """Whether the request has a valid token or session.

        Raises ANONYMOUS_BODIES_FULL if too many checks are waiting, and UNAVAILABLE if Django fails.
        """
        header = credential(scope)
        if not header:
            return False
        if self.waiting >= _MAX_WAITING:
            raise ANONYMOUS_BODIES_FULL.refusal(retry_after_s=int(KNOWN_S))
        self.waiting += 1
        try:
            async with self.turn:
                return await self._check(header, scope)
        finally:
            self.waiting -= 1

    async def _check(self, header: tuple[bytes, bytes], scope: Scope) -> bool:
        key = hashlib.sha256(header[1]).digest()
        valid, until = self.known.pop(key, (False, 0.0))
        if until < time.monotonic():
            headers = [pair for pair in scope["headers"] if pair[0] not in _CREDENTIAL_HEADERS]
            inner = {**scope, "headers": [*headers, header]}
            response = await inner_request.get(self.app, inner, "/api/v1/me")
            if response.status >= 500:
                raise UNAVAILABLE.refusal()
            valid, until = response.status == 200, time.monotonic() + KNOWN_S
        if len(self.known) >= _MAX_KNOWN:
            del self.known[next(iter(self.known))]
        self.known[key] = valid, until
        return valid


class BodyShare:
    """The bytes of one request body that count toward the budget. A body with a valid credential does not
    count.

    Use it as a context manager, which releases the bytes at the end.
    """

    def __init__(self, scope: Scope, budget: AnonymousBudget, check: CredentialCheck) -> None:
        self.scope, self.budget, self.check = scope, budget, check
        self.address = network_of(str((scope.get("client") or ("", 0))[0]))
        self.head = sum(len(name) + len(value) for name, value in scope["headers"])
        self.size = 0  # bytes counted in the budget
        self.checked = self.signed_in = False

    def __enter__(self) -> Self:
        self.budget.sum += REQUEST_BYTES
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
        self.budget.sum -= REQUEST_BYTES

    async def grow(self, size: int) -> None:
        """Updates the budget for a body of ``size`` bytes so far, unless the credential is valid.

        Raises Refusal if an anonymous body exceeds the budget or its credential can't be checked.
        """
        if self.signed_in:
            return
        more = self.head + size - self.size
        self.size += more
        fits = self.budget.add(self.address, more) or self.size <= FREE_BYTES
        if not self.checked and (size > CHECK_BYTES or not fits):
            self.checked, self.signed_in = True, await self.check.is_valid(self.scope)
        if self.signed_in:
            self.release()
        elif not fits:
            self._refuse()

    def release(self) -> None:
        if self.size:
            self.budget.remove(self.address, self.size)
            self.size = 0

    def _refuse(self) -> None:
        if self.size <= self.budget.per_address:
            raise ANONYMOUS_BODIES_FULL.refusal(retry_after_s=int(KNOWN_S))
        header = credential(self.scope)
        if header and header[0] == b"authorization":
            raise TOKEN_INVALID.refusal()
        raise BODY_TOO_LARGE.refusal(limit=self.budget.per_address)


def credential(scope: Scope) -> tuple[bytes, bytes] | None:
    """The header with the request's bearer token, otherwise with its session cookie; None if there is
    neither.
    """
    headers = dict(scope["headers"])
    token = headers.get(b"authorization", b"")
    if token[:7].lower() == b"bearer ":
        return b"authorization", token
    cookies = b"; ".join(value for name, value in scope["headers"] if name == b"cookie")
    is_session = f"{settings.SESSION_COOKIE_NAME}=".encode() in cookies
    return (b"cookie", cookies) if is_session else None
