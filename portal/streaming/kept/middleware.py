"""Answers repeated reads from memory, in front of Django.

Django answers the first of several equal requests. The event loop answers the next ones, until a dependency
of the answer changes. Each request reads the site's change number before anything else, so no client gets an
answer that is older than the database.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable
from typing import Protocol

import psycopg
from django.db import connection

from portal.streaming.inner_request import App, Message, Receive, Scope, Send
from portal.streaming.kept.access import ANONYMOUS_KEY, Access, AccessStore
from portal.streaming.kept.answers import Answer, AnswerDraft, AnswerStore
from portal.streaming.kept.delivery import deliver
from portal.streaming.kept.renewal import renew
from portal.streaming.kept.request import KeptRequest, read_request
from registry.changes import drafts
from registry.changes.numbers import ChangeLog, Numbers, open_numbers
from registry.identity import client_address

_log = logging.getLogger(__name__)
_ANONYMOUS = Access()


class RunInThread(Protocol):
    async def __call__(self, function: Callable[[], Answer | None]) -> Answer | None: ...


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
        self.numbers: Numbers | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = read_request(scope)
        log = await self._read_log() if request else None
        if request is None or log is None:
            return await self.app(scope, receive, send)
        began, now = time.perf_counter(), time.time()
        access = self.accesses.find(request.credential, log, now) if request.credential else _ANONYMOUS
        answer = await self._find_answer(request, access, log, now) if access else None
        if access and answer:
            access.note_use(_address(scope), now)
            status = await self._deliver(answer, access, request, scope, send)
            return self.count(answer.view, scope["method"], status, began)
        if scope["method"] == "HEAD":
            return await self.app(scope, receive, send)
        return await self._request_answer(request, log.number, scope, receive, send)

    async def _find_answer(
        self, request: KeptRequest, access: Access, log: ChangeLog, now: float
    ) -> Answer | None:
        """The kept answer, renewed if it is outdated; None if Django has to answer the request."""
        key, number = (*request.key, access.key), log.number
        answer, is_current = self.answers.find(key, log, now)
        if answer is None or is_current:
            return answer
        renewed = await self.run_in_thread(lambda: renew(answer, access.actor, request.language, number))
        if renewed:
            self.answers.put(key, renewed)
        else:
            self.answers.drop(key)
        return renewed

    async def _read_log(self) -> ChangeLog | None:
        """The change numbers up to the last commit; None if the database does not answer."""
        try:
            if self.numbers is None:
                self.numbers = open_numbers(connection)
            return await self.numbers.advance()
        except (sqlite3.Error, psycopg.Error, OSError, TypeError) as error:
            _log.warning("answers are not kept, because the change numbers can't be read: %r", error)
            return None

    async def _request_answer(
        self, request: KeptRequest, number: int, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Sends Django's answer, and keeps it if it may be kept. ``number`` was read before the request."""
        draft = AnswerDraft()

        async def send_unless_kept(message: Message) -> None:
            if draft.answer is None:
                await send(message)

        with drafts.begin(draft):
            await self.app(scope, receive, send_unless_kept)
        if draft.answer is None or draft.access is None:
            if draft.count_use:
                with client_address.bind(_address(scope)):
                    draft.count_use(draft.caller)
            return
        self._keep(draft.answer, draft.access, request, number)
        await self._deliver(draft.answer, draft.access, request, scope, send)
        return

    def _keep(self, answer: Answer, access: Access, request: KeptRequest, number: int) -> None:
        answer.seen = access.seen = number
        if bool(request.credential) == (access.key == ANONYMOUS_KEY):
            return  # for example an ended session: a later sign-in may not raise the change number
        if request.credential:
            self.accesses.put(request.credential, access)
        self.answers.put((*request.key, access.key), answer)

    async def _deliver(
        self, answer: Answer, access: Access, request: KeptRequest, scope: Scope, send: Send
    ) -> int:
        """Sends the answer, records a use of the skill if the request counts as one, and returns the sent
        status.
        """
        key = (*request.key, access.key)
        status = await deliver(answer, key, request, self.answers, scope, send)
        if answer.count_use and status == 200 and scope["method"] == "GET":
            with client_address.bind(_address(scope)):
                answer.count_use(access.caller)
        return status


def _address(scope: Scope) -> str:
    """The client's address; "" if the server does not know it."""
    return str((scope.get("client") or ("",))[0])
