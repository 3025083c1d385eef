"""Answers repeated reads from memory, in front of Django.

Django answers the first of several equal requests. The event loop answers the next ones, until a dependency
of the answer changes. Each request reads the site's change number before anything else, so no client gets an
answer that is older than the database.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Protocol

import psycopg
from django.db import connection

from portal.streaming.inner_request import App, Message, Receive, Scope, Send
from portal.streaming.kept.access import ANONYMOUS_KEY, Access, AccessStore
from portal.streaming.kept.answers import Answer, AnswerDraft, AnswerKey, AnswerStore
from portal.streaming.kept.delivery import deliver, is_lost
from portal.streaming.kept.renewal import renew
from portal.streaming.kept.request import KeptRequest, read_request
from registry.changes import drafts
from registry.changes.numbers import ChangeLog, Numbers, open_numbers
from registry.identity import client_address

_log = logging.getLogger(__name__)
_ANONYMOUS = Access()


class RunInThread(Protocol):
    async def __call__(self, function: Callable[[], Answer | None]) -> Answer | None: ...


class _Found(NamedTuple):
    """What is kept for a request after the change ``number``: the client's access, and the answer to it."""

    number: int
    access: Access | None = None
    key: AnswerKey = ()
    answer: Answer | None = None
    is_current: bool = False

    @property
    def is_outdated(self) -> bool:
        return self.answer is not None and not self.is_current


class KeptAnswers:
    """Sends kept answers; passes all other requests to ``app`` and keeps the answers that allow it.

    Renews an outdated answer in a thread, by ``run_in_thread``, if its endpoint allows it. Calls
    ``count(view, method, status, began)`` for each answer that it sends this way; Django counts the others.
    """

    def __init__(
        self, app: App, run_in_thread: RunInThread, count: Callable[[str, str, int, float], None]
    ) -> None:
        self.app, self.run_in_thread, self.count = app, run_in_thread, count
        self.answers = AnswerStore()
        self.accesses = AccessStore()
        self.replacing: dict[AnswerKey, asyncio.Event] = {}  # outdated answers; set when replaced
        self.numbers: Numbers | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request, began = read_request(scope), time.perf_counter()
        found = await self._find(request) if request else None
        if request and found and found.is_outdated and (other := self.replacing.get(found.key)):
            await other.wait()
            found = await self._find(request)  # it may have changed again
        if request is None or found is None:
            return await self.app(scope, receive, send)
        if found.access and found.answer and found.is_current and not is_lost(found.answer):
            return await self._send_kept(found.answer, found.access, request, scope, send, began)
        if found.is_outdated:
            return await self._replace(request, found, scope, receive, send)
        return await self._request_answer(request, found, lambda: None, scope, receive, send)

    async def _find(self, request: KeptRequest) -> _Found | None:
        """The access and the answer that are kept; None if the change numbers can't be read."""
        log = await self._read_log()
        if log is None:
            return None
        now = time.time()
        access = self.accesses.find(request.credential, log, now) if request.credential else _ANONYMOUS
        if access is None:
            return _Found(log.number)
        key = _answer_key(request, access)
        return _Found(log.number, access, key, *self.answers.find(key, log, now))

    async def _read_log(self) -> ChangeLog | None:
        """The change numbers up to the last commit; None if the database does not answer."""
        try:
            if self.numbers is None:
                self.numbers = open_numbers(connection)
            return await self.numbers.advance()
        except (sqlite3.Error, psycopg.Error, OSError, TypeError) as error:
            _log.warning("answers are not kept, because the change numbers can't be read: %r", error)
            return None

    async def _replace(
        self, request: KeptRequest, found: _Found, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Sends a new answer instead of an outdated one: renewed if possible, otherwise from Django.
        Meanwhile, equal requests wait.
        """
        replaced = self.replacing[found.key] = asyncio.Event()

        def release() -> None:
            replaced.set()
            if self.replacing.get(found.key) is replaced:
                del self.replacing[found.key]

        try:
            began = time.perf_counter()
            renewed = await self._renew(request, found)
            if renewed is None or found.access is None:
                return await self._request_answer(request, found, release, scope, receive, send)
            release()
            return await self._send_kept(renewed, found.access, request, scope, send, began)
        finally:
            release()

    async def _renew(self, request: KeptRequest, found: _Found) -> Answer | None:
        """The outdated answer, renewed; None if Django has to answer the request."""
        answer, access = found.answer, found.access
        if answer is None or access is None or answer.renew is None:
            return None
        renewed = await self.run_in_thread(
            partial(renew, answer, access.actor, request.language, found.number)
        )
        if renewed:
            self.answers.put(found.key, renewed)
        return renewed

    async def _request_answer(
        self,
        request: KeptRequest,
        found: _Found,
        release: Callable[[], None],
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Sends Django's answer, and keeps it if it may be kept. Calls ``release`` as soon as this is
        known, before it sends anything.
        """
        if scope["method"] == "HEAD":
            return await self.app(scope, receive, send)
        draft = AnswerDraft(for_facade=request.is_facade)

        async def send_unless_kept(message: Message) -> None:
            if draft.answer is None:
                release()
                await send(message)

        with drafts.begin(draft):
            await self.app(scope, receive, send_unless_kept)
        if draft.answer and draft.access:
            self._keep(draft.answer, draft.access, request, found.number)
            release()
            await self._deliver(draft.answer, draft.access, request, scope, send)
            return None
        self.answers.drop(found.key)
        if draft.count_use:
            with client_address.bind(_address(scope)):
                draft.count_use(draft.caller)
        return None

    def _keep(self, answer: Answer, access: Access, request: KeptRequest, number: int) -> None:
        answer.seen = access.seen = number
        if bool(request.credential) == (access.key == ANONYMOUS_KEY):
            return  # for example an ended session: a later sign-in may not raise the change number
        if request.credential:
            self.accesses.put(request.credential, access)
        self.answers.put(_answer_key(request, access), answer)

    async def _send_kept(
        self, answer: Answer, access: Access, request: KeptRequest, scope: Scope, send: Send, began: float
    ) -> None:
        """Sends the answer, and counts the request, which Django does not see."""
        if access.token_id:
            access.note_use(_address(scope), time.time())
        status = await self._deliver(answer, access, request, scope, send)
        self.count(answer.view, scope["method"], status, began)

    async def _deliver(
        self, answer: Answer, access: Access, request: KeptRequest, scope: Scope, send: Send
    ) -> int:
        """Sends the answer, records a use of the skill if the request counts as one, and returns the sent
        status.
        """
        key = _answer_key(request, access)
        status = await deliver(answer, key, request, self.answers, scope, send)
        if answer.count_use and status == 200 and scope["method"] != "HEAD":
            with client_address.bind(_address(scope)):
                answer.count_use(access.caller)
        return status


def _answer_key(request: KeptRequest, access: Access) -> AnswerKey:
    """The key of the answer. Pages show a person's name, runs and counts, so they are kept per person."""
    if request.is_page and access.actor.user:
        return (*request.key, access.key, access.actor.user.pk)
    return (*request.key, access.key)


def _address(scope: Scope) -> str:
    """The client's address; "" if the server does not know it."""
    return str((scope.get("client") or ("",))[0])
