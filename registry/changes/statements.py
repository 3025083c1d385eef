"""Runs prepared statements on a PostgreSQL connection of the event loop.

Calls libpq itself: a cursor of psycopg takes longer than all other work for a kept answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psycopg
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

Rows = list[tuple[int, ...]]
Done = Callable[[Rows, psycopg.Error | None], None]


class Statements:
    """A connection that runs one statement at a time. Statements return integers only.

    The error that ends the connection goes to the statement that runs; without one, to the next one.
    """

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self.connection, self.pgconn = connection, connection.pgconn
        self.loop, self.socket = asyncio.get_running_loop(), connection.pgconn.socket
        self.done: Done | None = None  # receives the result of the current statement
        self.result: PGresult | None = None
        self.loop.add_reader(self.socket, self._receive)
        self.is_open = True

    @classmethod
    async def open(cls, parameters: Mapping[str, Any], statements: Mapping[bytes, str]) -> Statements:
        """A new connection with these statements. Raises psycopg.Error."""
        connection = await psycopg.AsyncConnection.connect(**parameters, autocommit=True, connect_timeout=5)
        opened = cls(connection)
        try:
            for name, statement in statements.items():
                await opened._prepare(name, statement)
        except BaseException:
            await opened.close()
            raise
        return opened

    async def _prepare(self, name: bytes, statement: str) -> None:
        prepared = self.loop.create_future()

        def finish(rows: Rows, error: psycopg.Error | None) -> None:
            if not prepared.done():
                prepared.set_exception(error) if error else prepared.set_result(None)

        self._run(finish, lambda: self.pgconn.send_prepare(name, statement.encode()))
        await prepared

    def run(self, name: bytes, values: Sequence[int], done: Done) -> None:
        """Runs the statement, and calls ``done`` with its rows, or with an error, at once or later."""
        texts = [b"%d" % value for value in values]
        self._run(done, lambda: self.pgconn.send_query_prepared(name, texts))

    def _run(self, done: Done, send: Callable[[], None]) -> None:
        self.done = done
        try:
            send()
            if self.pgconn.flush():  # a connection that works takes the few bytes at once
                raise psycopg.OperationalError("the server accepts no data")
        except psycopg.Error as error:
            self._finish([], error)

    def _receive(self) -> None:
        """Takes what the server has sent. A statement ends with a result of None."""
        try:
            self.pgconn.consume_input()
            while not self.pgconn.is_busy():
                if (result := self.pgconn.get_result()) is None:
                    return self._finish_with_result()
                self.result = result
        except psycopg.Error as error:
            self._stop_reading()  # otherwise the loop would call this function all the time
            self._finish([], error)
        return None

    def _finish_with_result(self) -> None:
        result, self.result = self.result, None
        if result is None:  # the server sent something else, for example a changed setting
            return None
        if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
            return self._finish([], psycopg.OperationalError(result.error_message.decode("utf-8", "replace")))
        columns = range(result.nfields)
        rows = [tuple(int(result.get_value(row, c) or 0) for c in columns) for row in range(result.ntuples)]
        return self._finish(rows, None)

    def _finish(self, rows: Rows, error: psycopg.Error | None) -> None:
        done, self.done = self.done, None
        if done:
            done(rows, error)

    def _stop_reading(self) -> None:
        if self.is_open:
            self.is_open = False
            self.loop.remove_reader(self.socket)

    async def close(self) -> None:
        self._stop_reading()
        await self.connection.close()
