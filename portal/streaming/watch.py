"""Waits for changes of runs and imports; one query serves all clients that wait for the same kind."""

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
    from worker.run_views.events import EventBatch, Head

MAX_PAUSE_S = 0.25  # longest time between two queries
CONNECTION_S = 60.0  # lifetime of a thread's connection: opening one costs more than a query
_MIN_PAUSE_S = 0.02
_REST_FACTOR = 4  # a query is followed by a pause of at least this many times its duration
_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="watch")
_reads_in_progress: dict[tuple[str, str], asyncio.Future[tuple[EventBatch, bytes]]] = {}
_thread = threading.local()


@dataclass(eq=False)
class _Waiter:
    condition: Callable[[Any], bool]
    reached: asyncio.Future[None]
    since: float


class RowWatcher:
    """Polls the awaited rows with one query while any client waits.

    ``query`` takes the ids and returns the rows by id.
    """

    def __init__(self, query: Callable[[Collection[str]], Mapping[str, Any]], *, min_pause_s: float) -> None:
        self.query = query
        self.min_pause_s = min_pause_s
        self.waiting: dict[str, set[_Waiter]] = {}
        self.task: asyncio.Task[None] | None = None

    async def wait_until(self, uid: str, condition: Callable[[Any], bool], *, within_s: float) -> bool:
        """Whether ``condition(row)`` becomes true within ``within_s`` seconds; ``row`` is None if missing.

        Raises the database's error if a query fails.
        """
        loop = asyncio.get_running_loop()
        waiter = _Waiter(condition, loop.create_future(), loop.time())
        self.waiting.setdefault(uid, set()).add(waiter)
        if self.task is None or self.task.done():
            self.task = loop.create_task(self._poll())
        try:
            async with asyncio.timeout(within_s):
                await waiter.reached
        except TimeoutError:
            return False
        finally:
            self._remove(uid, waiter)
        return True

    def _remove(self, uid: str, waiter: _Waiter) -> None:
        others = self.waiting.get(uid, set())
        others.discard(waiter)
        if not others:
            self.waiting.pop(uid, None)

    async def _poll(self) -> None:
        while self.waiting:
            started = time.monotonic()
            queried = frozenset(self.waiting)  # others may start to wait during the query
            try:
                rows = await run_query(self.query, queried)
            except Error as error:
                return self._fail(error)
            for uid, waiter in self._all_waiters():
                if uid in queried and not waiter.reached.done() and waiter.condition(rows.get(uid)):
                    waiter.reached.set_result(None)
            await self._pause(time.monotonic() - started)
        return None

    def _fail(self, error: Exception) -> None:
        for _, waiter in self._all_waiters():
            if not waiter.reached.done():
                waiter.reached.set_exception(error)

    def _all_waiters(self) -> list[tuple[str, _Waiter]]:
        return [(uid, waiter) for uid, waiters in self.waiting.items() for waiter in waiters]

    async def _pause(self, took_s: float) -> None:
        """Sleeps for at least ``_REST_FACTOR`` times the query's duration, and longer if no client has
        started to wait recently.
        """
        slept = 0.0
        while self.waiting and slept < max(_REST_FACTOR * took_s, self._pause_s()):
            await asyncio.sleep(self.min_pause_s)
            slept += self.min_pause_s

    def _pause_s(self) -> float:
        youngest = max(waiter.since for _, waiter in self._all_waiters())
        age = asyncio.get_running_loop().time() - youngest
        return max(self.min_pause_s, min(MAX_PAUSE_S, 0.3 * age))


def _heads(uids: Collection[str]) -> dict[str, Head]:
    from worker.run_views.events import read_heads

    return read_heads(uids)


def _unfinished(uids: Collection[str]) -> dict[str, bool]:
    from registry.imports.queue import filter_unfinished

    return dict.fromkeys(filter_unfinished(uids), True)


_followed_runs = RowWatcher(_heads, min_pause_s=MAX_PAUSE_S)
_watchers = {
    "runs": RowWatcher(_heads, min_pause_s=_MIN_PAUSE_S),
    "imports": RowWatcher(_unfinished, min_pause_s=_MIN_PAUSE_S),
}
_watchers["approvals"] = _watchers["runs"]
_CONDITIONS: dict[str, Callable[[Any], bool]] = {
    "runs": lambda head: head is None or head.ended,
    "approvals": lambda head: head is None or not head.needs_approval,
    "imports": lambda unfinished: not unfinished,
}


async def wait_for_end(kind: str, uid: str, wait_s: float) -> bool:
    """Waits up to ``wait_s`` seconds; returns whether the run or import ended or the approval was decided."""
    return await _watchers[kind].wait_until(uid, _CONDITIONS[kind], within_s=wait_s)


async def wait_for_change(uid: str, seen: Head | None, wait_s: float) -> bool:
    """Waits up to ``wait_s`` seconds; returns whether the run's head differs from ``seen``."""
    return await _followed_runs.wait_until(uid, lambda head: bool(head != seen), within_s=wait_s)


async def events_since(uid: str, position: str) -> tuple[EventBatch, bytes]:
    """The events after ``position``, and their text as bytes; clients at one position share a query."""
    key = (uid, position)
    if key not in _reads_in_progress:
        future = _reads_in_progress[key] = asyncio.ensure_future(run_query(_read_events, *key))
        future.add_done_callback(lambda _: _reads_in_progress.pop(key, None))
    return await asyncio.shield(_reads_in_progress[key])


def _read_events(uid: str, position: str) -> tuple[EventBatch, bytes]:
    from worker.run_views.events import events_since as query

    batch = query(uid, position)
    return batch, batch.text.encode()


async def run_query(query: Callable[..., Any], *arguments: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(_threads, _run_in_thread, query, *arguments)


def _run_in_thread(query: Callable[..., Any], *arguments: Any) -> Any:
    """Runs ``query``; retries once with a new connection, because the old one may be broken."""
    if time.monotonic() - getattr(_thread, "since", 0.0) > CONNECTION_S:
        connection.close()
        _thread.since = time.monotonic()
    try:
        return query(*arguments)
    except Error:
        connection.close()
        return query(*arguments)
