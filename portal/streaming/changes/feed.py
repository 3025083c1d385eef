"""Collects for each open page what has changed; one look at the database serves all pages."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import Error
from django.utils import timezone

from portal.streaming.changes.rows import KINDS, WINDOW_S, Key, Row, Viewer, changes, read_rows
from portal.streaming.watch import run_query
from registry.changes.drafts import PAGE_S

LOOK_PAUSE_S = 1.0
_FAILED_PAUSE_S = 5.0  # after a failed look
_REST_FACTOR = 4  # a look is followed by a pause of at least this many times its duration
_MARGIN_S = 1.0 + PAGE_S  # a transaction may commit a time a second later; the page may be a kept one
MAX_PAGES_PER_USER = 8
MAX_PAGES = 1_000  # of this process
_log = logging.getLogger("skillquay.streaming")


class OpenPage:
    """An open page, and the kinds that have changed since it was last read."""

    def __init__(self, viewer: Viewer, since: datetime | None) -> None:
        self.viewer = viewer
        self.since = since  # the page shows the state of this time; None after the first look
        self.kinds: set[str] = set()
        self.changed = asyncio.Event()

    def add(self, kinds: set[str]) -> None:
        if kinds:
            self.kinds |= kinds
            self.changed.set()

    async def wait(self, within_s: float) -> list[str]:
        """The changed kinds, sorted; empty if nothing changes within ``within_s`` seconds."""
        try:
            async with asyncio.timeout(within_s):
                await self.changed.wait()
        except TimeoutError:
            return []
        self.changed.clear()
        kinds, self.kinds = self.kinds, set()
        return sorted(kinds)


class ChangeFeed:
    """Looks at the rows while any page is open, and compares each look with the one before."""

    def __init__(
        self, read: Callable[[], dict[Key, Row]] = read_rows, *, pause_s: float = LOOK_PAUSE_S
    ) -> None:
        self.read = read
        self.pause_s = pause_s
        self.pages: set[OpenPage] = set()
        self.per_user: Counter[int] = Counter()
        self.task: asyncio.Task[None] | None = None

    def has_room(self, viewer: Viewer) -> bool:
        return self.per_user[viewer.user] < MAX_PAGES_PER_USER and len(self.pages) < MAX_PAGES

    @contextmanager
    def follow(self, viewer: Viewer, age_s: float) -> Iterator[OpenPage]:
        """Follows the changes for a page that shows the state of ``age_s`` seconds ago."""
        page = OpenPage(viewer, timezone.now() - timedelta(seconds=age_s + _MARGIN_S))
        if age_s + _MARGIN_S > WINDOW_S:  # earlier changes are no longer read
            page.add(set(KINDS))
        self.pages.add(page)
        self.per_user[viewer.user] += 1
        if self.task is None or self.task.done():
            self.task = asyncio.get_running_loop().create_task(self._look())
        try:
            yield page
        finally:
            self.pages.discard(page)
            self.per_user -= Counter({viewer.user: 1})

    async def _look(self) -> None:
        before: dict[Key, Row] | None = None
        while self.pages:
            started = time.monotonic()
            pages = tuple(self.pages)  # others may be opened during the look
            try:
                rows = await run_query(self.read)
            except Error:
                _log.warning("the look at changed rows failed", exc_info=True)
                await asyncio.sleep(_FAILED_PAUSE_S)
                continue
            changed = [] if before is None else changes(before, rows)
            for page in pages:
                page.add(_kinds_for(page, changed, rows))
            before = rows
            await asyncio.sleep(max(self.pause_s, _REST_FACTOR * (time.monotonic() - started)))


def _kinds_for(page: OpenPage, changed: list[Row], rows: dict[Key, Row]) -> set[str]:
    since, page.since = page.since, None
    recent = [row for row in rows.values() if row.changed_at >= since] if since else []
    return {kind for row in (*changed, *recent) if page.viewer.can_see(row) for kind in row.kinds}
