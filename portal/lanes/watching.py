"""What followers of runs and imports wait for: one look for all who wait, then what each of them lacks."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import Error, connection

if TYPE_CHECKING:
    from worker.events import Head, Told

PAUSE_S = 0.25  # between two looks for those who wait long
CONNECTION_S = 60.0  # for which a thread keeps its own: to open one costs more than a look
_SOON_S = 0.02
_REST = 4  # times as long as a look took none follows
_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="watching")
_under_way: dict[tuple[str, str], asyncio.Future[tuple[Told, bytes]]] = {}
_thread = threading.local()


@dataclass(eq=False)
class _Waiting:
    come: Callable[[Any], bool]
    told: asyncio.Future[None]
    since: float


class Watch:
    """Looks again and again while somebody waits, by one question about everything that is waited for."""

    def __init__(self, question: Callable[[Collection[str]], Mapping[str, Any]], *, soon_s: float) -> None:
        self.question = question
        self.soon_s = soon_s
        self.waiting: dict[str, set[_Waiting]] = {}
        self.looking: asyncio.Task[None] | None = None

    async def until(self, uid: str, come: Callable[[Any], bool], *, within_s: float) -> bool:
        """Whether ``come`` held of the row (None where there is none) before the time was over."""
        loop = asyncio.get_running_loop()
        one = _Waiting(come, loop.create_future(), loop.time())
        self.waiting.setdefault(uid, set()).add(one)
        if self.looking is None or self.looking.done():
            self.looking = loop.create_task(self._look())
        try:
            async with asyncio.timeout(within_s):
                await one.told
        except TimeoutError:
            return False
        finally:
            self._forget(uid, one)
        return True

    def _forget(self, uid: str, one: _Waiting) -> None:
        others = self.waiting.get(uid, set())
        others.discard(one)
        if not others:
            self.waiting.pop(uid, None)

    async def _look(self) -> None:
        while self.waiting:
            begun = time.monotonic()
            try:
                rows = await _asked(self.question, list(self.waiting))
            except Error as error:
                return self._fail(error)
            for uid, one in self._everybody():
                if not one.told.done() and one.come(rows.get(uid)):
                    one.told.set_result(None)
            await self._rest(time.monotonic() - begun)
        return None

    def _fail(self, error: Exception) -> None:
        for _, one in self._everybody():
            if not one.told.done():
                one.told.set_exception(error)

    def _everybody(self) -> list[tuple[str, _Waiting]]:
        return [(uid, one) for uid, some in self.waiting.items() for one in some]

    async def _rest(self, took_s: float) -> None:
        """Short while somebody came just now, who may be told soon; long beside what a look takes."""
        rested = 0.0
        while self.waiting and rested < max(_REST * took_s, self._pause_s()):
            await asyncio.sleep(self.soon_s)
            rested += self.soon_s

    def _pause_s(self) -> float:
        youngest = max(one.since for _, one in self._everybody())
        age = asyncio.get_running_loop().time() - youngest
        return max(self.soon_s, min(PAUSE_S, 0.3 * age))


def _heads(uids: Collection[str]) -> dict[str, Head]:
    from worker.events import heads

    return heads(uids)


def _unfinished(uids: Collection[str]) -> dict[str, bool]:
    from registry.imports.queue import unfinished

    return dict.fromkeys(unfinished(uids), True)


_followed = Watch(_heads, soon_s=PAUSE_S)
_waited_for = {"runs": Watch(_heads, soon_s=_SOON_S), "imports": Watch(_unfinished, soon_s=_SOON_S)}
_waited_for["approvals"] = _waited_for["runs"]
_COME: dict[str, Callable[[Any], bool]] = {
    "runs": lambda head: head is None or head.ended,
    "approvals": lambda head: head is None or not head.asks,
    "imports": lambda unfinished: not unfinished,
}


async def ended_within(kind: str, uid: str, wait_s: float) -> bool:
    """Of a run, of an import, or of the wait for somebody who lets a run start."""
    return await _waited_for[kind].until(uid, _COME[kind], within_s=wait_s)


async def moved_within(uid: str, seen: Head | None, wait_s: float) -> bool:
    """Whether anything has happened to a run since it was as its follower saw it last."""
    return await _followed.until(uid, lambda head: bool(head != seen), within_s=wait_s)


async def told_after(uid: str, position: str) -> tuple[Told, bytes]:
    """What a follower lacks, and its bytes: read and written once for all who stand at the same place."""
    key = (uid, position)
    if key not in _under_way:
        future = _under_way[key] = asyncio.ensure_future(_asked(_told_after, *key))
        future.add_done_callback(lambda _: _under_way.pop(key, None))
    return await asyncio.shield(_under_way[key])


def _told_after(uid: str, position: str) -> tuple[Told, bytes]:
    from worker.events import told_after as question

    told = question(uid, position)
    return told, told.text.encode()


async def _asked(question: Callable[..., Any], *arguments: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(_threads, _ask, question, *arguments)


def _ask(question: Callable[..., Any], *arguments: Any) -> Any:
    """By a connection that may have died since it was used: then by another one, once."""
    if time.monotonic() - getattr(_thread, "since", 0.0) > CONNECTION_S:
        connection.close()
        _thread.since = time.monotonic()
    try:
        return question(*arguments)
    except Error:
        connection.close()
        return question(*arguments)
