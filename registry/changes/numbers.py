"""The change numbers that this process has read: which teams, skills and users changed, and when.

Read the site's number before you read the data of an answer. The answer is current as long as none of the
numbers that it depends on is higher. In the opposite order, an outdated answer could get a new number.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Collection, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import psycopg
from django.db.backends.base.base import BaseDatabaseWrapper

from registry.changes import sql
from registry.changes.dependency import CATALOG, Dependency
from registry.changes.statements import Rows, Statements
from registry.models import ChangeKind

MAX_KEYS = 50_000  # teams, skills and users whose numbers a process remembers
_IN_CATALOG = frozenset({ChangeKind.SKILL.value, ChangeKind.TEAM.value})
_NUMBER, _CHANGES = b"number", b"changes"
_STATEMENTS = {_NUMBER: sql.READ_NUMBER, _CHANGES: f"{sql.READ_CHANGES}$1"}


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
    """Reads the numbers without blocking. Calls in the iteration of the loop in which a read starts share it,
    as in ``SqliteNumbers``. Later calls share the next read, because the current one may have started before
    a change that they must see.
    """

    def __init__(self, parameters: dict[str, Any]) -> None:
        names = ("dbname", "user", "password", "host", "port")
        self.parameters = {name: parameters[name] for name in names if parameters.get(name)}
        self.log = ChangeLog()
        self.statements: Statements | None = None
        self.is_new = False  # the connection was opened for the current read
        self.opening: asyncio.Task[None] | None = None
        self.waiting: list[asyncio.Future[None]] = []  # calls that share the current read
        self.waiting_for_next: list[asyncio.Future[None]] = []
        self.is_shared = False  # whether a call may share the current read

    async def advance(self) -> ChangeLog:
        done = asyncio.get_running_loop().create_future()
        if self.is_shared:
            self.waiting.append(done)
        elif self.waiting:
            self.waiting_for_next.append(done)
        else:
            self._start([done])
        await done
        return self.log

    def _start(self, waiting: list[asyncio.Future[None]]) -> None:
        loop = asyncio.get_running_loop()
        self.waiting, self.is_shared, self.is_new = waiting, True, False
        loop.call_soon(self._end_sharing)
        if self.statements is None:
            self.opening = loop.create_task(self._read_on_new_connection())
        else:
            self.statements.run(_NUMBER, (), self._receive_number)

    def _end_sharing(self) -> None:
        self.is_shared = False

    async def _read_on_new_connection(self) -> None:
        self.is_new = True
        try:
            await self.close()
            self.statements = await Statements.open(self.parameters, _STATEMENTS)
        except Exception as error:  # any error, because the calls must not wait forever
            return self._finish(error)
        return self.statements.run(_NUMBER, (), self._receive_number)

    def _receive_number(self, rows: Rows, error: psycopg.Error | None) -> None:
        if error:
            return self._fail(error)
        assert self.statements
        number = rows[0][0] if rows else 0
        if number == self.log.stored:
            return self._finish(None)
        if not 0 <= self.log.stored < number:
            self.log.start(number)
            return self._finish(None)
        return self.statements.run(_CHANGES, (self.log.stored,), partial(self._receive_changes, number))

    def _receive_changes(self, number: int, rows: Rows, error: psycopg.Error | None) -> None:
        if error:
            return self._fail(error)
        self.log.add(number, ((kind, key, raised) for kind, key, raised in rows))
        return self._finish(None)

    def _fail(self, error: psycopg.Error) -> None:
        """Repeats the read once on a new connection, because the server may have ended the old one."""
        if self.is_new:
            return self._finish(error)
        self.opening = asyncio.get_running_loop().create_task(self._read_on_new_connection())
        return None

    def _finish(self, error: Exception | None) -> None:
        waiting, self.waiting, self.is_shared = self.waiting, [], False
        for done in waiting:
            if done.done():  # cancelled
                continue
            if error:
                done.set_exception(error)
            else:
                done.set_result(None)
        if self.waiting_for_next:
            following, self.waiting_for_next = self.waiting_for_next, []
            self._start(following)

    async def close(self) -> None:
        if self.statements is not None:
            statements, self.statements = self.statements, None
            await statements.close()
