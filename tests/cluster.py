"""The services that the environment names, and a corner of a test's own in each of them.

``DATABASE_URL``, ``REDIS_URL`` and ``STORAGE_URL`` say where the suite runs. A site in processes of its own
gets a database, a Redis database and a prefix in the bucket that no other test uses.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests import migrated

DEFAULT_POSTGRES = "postgres://postgres@127.0.0.1:5432/postgres"


def make_bucket() -> None:
    """The bucket that ``STORAGE_URL`` names, where its server has none yet."""
    address = os.environ.get("STORAGE_URL")
    if not address:
        return
    import boto3

    client = boto3.client(
        "s3",
        endpoint_url=os.environ.get("SKILLQUAY_S3_ENDPOINT") or None,
        region_name=os.environ.get("SKILLQUAY_S3_REGION", "us-east-1"),
        aws_access_key_id=os.environ["SKILLQUAY_S3_ACCESS_KEY"],
        aws_secret_access_key=os.environ["SKILLQUAY_S3_SECRET_KEY"],
    )
    client.create_bucket(Bucket=urlsplit(address).netloc)  # again changes nothing


@contextmanager
def corner(*, tables: bool = True) -> Iterator[dict[str, str]]:
    """The environment of processes of a test's own; what the suite runs without, they run without too."""
    places = {"REDIS_URL": own_redis(), "STORAGE_URL": own_storage()}
    places |= {name: value for name, value in os.environ.items() if name.startswith("SKILLQUAY_S3_")}
    if not is_postgres(os.environ.get("DATABASE_URL", "")):
        yield {**places, "DATABASE_URL": ""}
        return
    with own_database(os.environ["DATABASE_URL"], tables=tables) as database:
        yield {**places, "DATABASE_URL": database}


def own_storage() -> str:
    """A prefix in the bucket that nobody else writes under."""
    address = os.environ.get("STORAGE_URL", "")
    return address and f"{address}/{secrets.token_hex(8)}"


def own_redis() -> str:
    """Another of the server's sixteen databases, one for each of the processes that run the suite."""
    address = os.environ.get("REDIS_URL", "")
    if not address:
        return ""
    named = urlsplit(address)
    process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return named._replace(path=f"/{(int(named.path.strip('/') or 0) + 1 + process) % 16}").geturl()


@contextmanager
def own_database(server: str, *, tables: bool = True) -> Iterator[str]:
    """The address of a new database beside the named one, dropped at the end."""
    name = f"skillquay_test_{secrets.token_hex(6)}"
    execute(server, f"CREATE DATABASE {name} TEMPLATE {migrated.template() if tables else 'template1'}")
    try:
        yield urlsplit(server)._replace(path=f"/{name}").geturl()
    finally:
        execute(server, f"DROP DATABASE {name} WITH (FORCE)")


def postgres() -> str:
    """A PostgreSQL server for what must hold there wherever the suite runs; skips where none answers."""
    import psycopg

    named = os.environ.get("DATABASE_URL", "")
    server = named if is_postgres(named) else os.environ.get("TEST_POSTGRES_URL", DEFAULT_POSTGRES)
    try:
        execute(server, "SELECT 1")
    except psycopg.OperationalError:
        shown = urlsplit(server)
        pytest.skip(
            f"no PostgreSQL for us at {shown.hostname}:{shown.port or 5432}: name one in TEST_POSTGRES_URL"
        )
    return server


def execute(server: str, statement: str) -> None:
    """One statement outside any transaction, over the server's own database ``postgres``."""
    import psycopg

    address = urlsplit(server)._replace(path="/postgres").geturl()
    with psycopg.connect(address, autocommit=True, connect_timeout=3) as connection:
        connection.execute(statement)


@contextmanager
def connected(database: str | Path) -> Iterator[Any]:
    """A connection of the test's own, each statement by itself: to a PostgreSQL address or a SQLite file."""
    if isinstance(database, str):
        import psycopg

        connection: Any = psycopg.connect(database, autocommit=True)
    else:
        connection = sqlite3.connect(database, timeout=20, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def lock_of(table: str, connection: Any) -> tuple[str, ...]:
    """The statements after which nobody else writes to the table: SQLite locks the whole database."""
    if isinstance(connection, sqlite3.Connection):
        return ("BEGIN IMMEDIATE",)
    return ("BEGIN", f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")


def is_postgres(address: str) -> bool:
    return urlsplit(address).scheme in ("postgres", "postgresql")
