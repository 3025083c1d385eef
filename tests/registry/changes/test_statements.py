"""The event loop's connection to PostgreSQL, also if the server ends it or is away."""

from __future__ import annotations

import asyncio
import time

import psycopg
import pytest
from django.db import connection

from registry.changes.numbers import PostgresNumbers, open_numbers
from registry.changes.statements import Statements
from tests.event_loops import run_in_loop
from tests.registry.changes.conftest import connected

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.row("P9"),
    pytest.mark.cluster,
    pytest.mark.postgresql,
]
TIMEOUT_S = 10


def _numbers():
    found = open_numbers(connection)
    assert isinstance(found, PostgresNumbers)
    return found


def _end_connection(statements):
    """Makes the server end the connection of the statements."""
    with connected() as database:
        database.execute(f"SELECT pg_terminate_backend({statements.pgconn.backend_pid})")


async def _run(statements, name, *values):
    done = asyncio.get_running_loop().create_future()
    statements.run(name, values, lambda rows, error: done.set_result((rows, error)))
    return await asyncio.wait_for(done, TIMEOUT_S)


def test_statement_returns_rows_and_errors():
    async def run():
        texts = {
            b"double": "SELECT n, 2 * n FROM generate_series(1, $1::int) n",
            b"fail": "SELECT 1 / $1::int",
        }
        statements = await Statements.open(_numbers().parameters, texts)
        found = [await _run(statements, *each) for each in ((b"double", 2), (b"fail", 0), (b"double", 0))]
        await statements.close()
        return found

    (rows, error), (_, failure), (empty, _) = run_in_loop(run())
    assert (rows, error) == ([(1, 2), (2, 4)], None)
    assert isinstance(failure, psycopg.OperationalError)
    assert empty == []


def test_connection_that_the_server_ends_passes_the_error_and_stops_reading():
    async def run():
        statements = await Statements.open(_numbers().parameters, {b"sleep": "SELECT 1 FROM pg_sleep(60)"})
        running = asyncio.create_task(_run(statements, b"sleep"))
        await asyncio.sleep(0.1)
        await asyncio.to_thread(_end_connection, statements)
        _, error = await running
        _, next_error = await _run(statements, b"sleep")
        is_read = asyncio.get_running_loop().remove_reader(statements.socket)
        await statements.close()
        return error, next_error, is_read

    error, next_error, is_read = run_in_loop(run())
    assert isinstance(error, psycopg.OperationalError)
    assert isinstance(next_error, psycopg.OperationalError)
    assert not is_read


def test_wrong_statement_raises():
    async def run():
        with pytest.raises(psycopg.Error):
            await Statements.open(_numbers().parameters, {b"wrong": "SELECT absent"})

    run_in_loop(run())


def _raise_number():
    with connected() as database:
        database.execute("UPDATE registry_sitenumber SET number = number + 1")


def test_call_during_a_read_shares_the_next_one():
    async def read(numbers):
        return (await numbers.advance()).number

    async def run():
        numbers = _numbers()
        await read(numbers)
        first = asyncio.create_task(read(numbers))
        await asyncio.sleep(0)
        time.sleep(0.1)  # the server answers the read that was just sent
        _raise_number()
        second = asyncio.create_task(read(numbers))
        found = await asyncio.wait_for(asyncio.gather(first, second), TIMEOUT_S)
        await numbers.close()
        return found

    before, after = run_in_loop(run())
    assert after > before


def test_numbers_are_read_on_a_new_connection_after_the_server_ended_the_old_one():
    async def run():
        numbers = _numbers()
        before = (await numbers.advance()).number
        await asyncio.to_thread(_end_connection, numbers.statements)
        await asyncio.to_thread(_raise_number)
        logs = await asyncio.wait_for(asyncio.gather(*(numbers.advance() for _ in range(3))), TIMEOUT_S)
        await numbers.close()
        return before, [log.number for log in logs]

    before, after = run_in_loop(run())
    assert all(number > before for number in after)


def test_every_caller_gets_the_error_while_the_server_is_away():
    async def run():
        numbers = _numbers()
        address = numbers.parameters["port"]
        numbers.parameters["port"] = 1
        first = [asyncio.create_task(numbers.advance()) for _ in range(2)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)  # these share the next read
        later = [asyncio.create_task(numbers.advance()) for _ in range(2)]
        found = await asyncio.wait_for(asyncio.gather(*first, *later, return_exceptions=True), TIMEOUT_S)
        numbers.parameters["port"] = address
        number = (await asyncio.wait_for(numbers.advance(), TIMEOUT_S)).number
        await numbers.close()
        return found, number

    found, number = run_in_loop(run())
    assert [type(each) for each in found] == [psycopg.OperationalError] * 4
    assert number > 0


def test_cancelled_caller_ends_no_read_of_others():
    async def run():
        numbers = _numbers()
        callers = [asyncio.create_task(numbers.advance()) for _ in range(3)]
        await asyncio.sleep(0)
        callers[0].cancel()
        found = await asyncio.wait_for(asyncio.gather(*callers, return_exceptions=True), TIMEOUT_S)
        await numbers.close()
        return found

    cancelled, *others = run_in_loop(run())
    assert isinstance(cancelled, asyncio.CancelledError)
    assert all(log.number > 0 for log in others)
