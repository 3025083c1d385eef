"""The change numbers that this process has read: which teams, skills and users changed, and when.

Read the site's number before you read the data of an answer. The answer is current as long as none of the
numbers that it depends on is higher. In the opposite order, an outdated answer could get a new number.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Protocol

import psycopg
from django.db.backends.base.base import BaseDatabaseWrapper

from registry.changes import sql
from registry.changes.dependency import CATALOG, Dependency
from registry.models import ChangeKind

MAX_KEYS = 50_000  # teams, skills and users whose numbers a process remembers
_IN_CATALOG = frozenset({ChangeKind.SKILL.value, ChangeKind.TEAM.value})


class ChangeLog:
    """The numbers that were raised since the process started. Does not read the database.

    If the site's number falls, as after a restored backup, ``shift`` keeps ``number`` rising. Otherwise
    earlier answers would count as newer than all later changes.
    """

    def __init__(self) -> None:
        self.number = -1  # of the last change seen
        self.shift = 0  # the difference between a number here and in the database
        self.floor = -1  # keys that are not in ``numbers`` have at most this number
        self.numbers: dict[Dependency, int] = {}

    @property
    def stored(self) -> int:
        """The site's number as last read from the database; -1 before the first read."""
        return self.number - self.shift

    def start(self, stored: int) -> None:
        """Forgets all numbers, so that everything computed before counts as outdated."""
        self.number = self.floor = max(stored, self.number + 1)
        self.shift = self.number - stored
        self.numbers.clear()

    def add(self, stored: int, changes: Iterable[tuple[int, int, int]]) -> None:
        """Adds rows of kind, key and number, which were read after the site's number ``stored``. A row whose
        number is above ``stored`` is also part of the next read.
        """
        for kind, key, raised in changes:
            number = self.numbers[kind, key] = raised + self.shift
            if kind in _IN_CATALOG:
                self.numbers[CATALOG] = max(number, self.numbers.get(CATALOG, self.floor))
        self.number = stored + self.shift
        if len(self.numbers) > MAX_KEYS:
            self.start(stored)

    def is_current(self, seen: int, dependencies: Collection[Dependency]) -> bool:
        """Whether nothing that an answer depends on has changed since the site's number was ``seen``."""
        if seen < self.floor:
            return False
        numbers = self.numbers
        return all(numbers.get(dependency, -1) <= seen for dependency in dependencies)


class Numbers(Protocol):
    """Reads the site's numbers through its own connection. Raises the database's error."""

    log: ChangeLog

    async def advance(self) -> ChangeLog:
        """Updates ``log`` with all changes committed before the current task was scheduled, and returns it.
        A request's task is scheduled when the request has been received.
        """
        ...

    async def close(self) -> None: ...


def open_numbers(connection: BaseDatabaseWrapper) -> Numbers:
    """A reader of the numbers in the database of ``connection``. It opens its own connection at the first
    read.
    """
    if connection.vendor == "postgresql":
        return PostgresNumbers(connection.get_connection_params())
    return SqliteNumbers(connection.settings_dict["NAME"])


class SqliteNumbers:
    """Reads the numbers in the event loop, because a read takes only some microseconds.

    Calls in one iteration of the loop share a read. Their requests were received before it, because the task
    of a request that is received later runs in the next iteration.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.log = ChangeLog()
        self.cursor: sqlite3.Cursor | None = None
        self.is_shared = False

    async def advance(self) -> ChangeLog:
        if not self.is_shared:
            self.advance_now()
            self.is_shared = True
            asyncio.get_running_loop().call_soon(self._end_sharing)
        return self.log

    def _end_sharing(self) -> None:
        self.is_shared = False

    def advance_now(self) -> ChangeLog:
        if self.cursor is None:
            self.cursor = self._open().cursor()
        number = self.cursor.execute(sql.READ_NUMBER).fetchone()[0]
        if number != self.log.stored:
            if not 0 <= self.log.stored < number:
                self.log.start(number)
            else:
                found = self.cursor.execute(f"{sql.READ_CHANGES}?", (self.log.stored,)).fetchall()
                self.log.add(number, found)
        return self.log

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=5, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA query_only = ON")
        return connection

    async def close(self) -> None:
        if self.cursor:
            self.cursor.connection.close()
            self.cursor = None


class PostgresNumbers:
    """Reads the numbers without blocking. Calls during a read share the next read, because the current read
    may have started before a change that they must see.
    """

    def __init__(self, parameters: dict[str, Any]) -> None:
        names = ("dbname", "user", "password", "host", "port")
        self.parameters = {name: parameters[name] for name in names if parameters.get(name)}
        self.log = ChangeLog()
        self.connection: psycopg.AsyncConnection[Any] | None = None
        self.current: asyncio.Task[None] | None = None
        self.next: asyncio.Task[None] | None = None

    async def advance(self) -> ChangeLog:
        if self.next is None:
            self.next = asyncio.ensure_future(self._read_after(self.current))
        await asyncio.shield(self.next)
        return self.log

    async def _read_after(self, previous: asyncio.Task[None] | None) -> None:
        if previous is not None:
            await asyncio.wait({previous})
        self.current, self.next = self.next, None
        try:
            await self._read()
        except psycopg.OperationalError:  # the server ended the connection
            await self.close()
            await self._read()

    async def _read(self) -> None:
        if self.connection is None:
            self.connection = await psycopg.AsyncConnection.connect(
                **self.parameters, autocommit=True, connect_timeout=5, prepare_threshold=0
            )
        row = await (await self.connection.execute(sql.READ_NUMBER)).fetchone()
        number = row[0] if row else 0
        if number == self.log.stored:
            return
        if not 0 <= self.log.stored < number:
            self.log.start(number)
            return
        found = await self.connection.execute(f"{sql.READ_CHANGES}%s", (self.log.stored,))
        self.log.add(number, await found.fetchall())

    async def close(self) -> None:
        if self.connection is not None:
            connection, self.connection = self.connection, None
            await connection.close()
