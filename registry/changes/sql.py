"""SQL of change numbers: the triggers that raise them, and the queries that read them.

On SQLite, the triggers run right after each change, because only one writer is active at a time. On
PostgreSQL, a trigger that locked the site's row until commit would make all writers wait. The triggers
therefore record changes at commit. A trigger that runs after all other deferred ones, such as checks of
foreign keys, then raises the numbers.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

from registry.changes.watched_tables import Raise, WatchedTable

PREFIX = "skillquay_change_"
READ_NUMBER = "SELECT number FROM registry_sitenumber WHERE id = 1"
READ_CHANGES = "SELECT kind, key, number FROM registry_changenumber WHERE number > "  # and a number
SEED_NUMBER = "INSERT INTO registry_sitenumber (id, number) VALUES (1, %s) ON CONFLICT (id) DO NOTHING"
RAISE_SITE = "UPDATE registry_sitenumber SET number = number + 1 WHERE id = 1"
RAISE_COMMON = (
    "INSERT INTO registry_changenumber (kind, key, number) SELECT 0, 0, number FROM registry_sitenumber "
    "WHERE id = 1 ON CONFLICT (kind, key) DO UPDATE SET number = excluded.number"
)

SQLITE_TRIGGERS = """
    SELECT name, sql FROM sqlite_master
    WHERE type = 'trigger' AND name LIKE 'skillquay!_change!_%' ESCAPE '!'
"""
POSTGRES_TRIGGERS = """
    SELECT tgname, obj_description(oid, 'pg_trigger') FROM pg_trigger
    WHERE starts_with(tgname, 'skillquay_change_') AND tgrelid IN (
        SELECT pg_class.oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace
    )
"""
POSTGRES_DROP = """
    DO $$
    DECLARE found record;
    BEGIN
        FOR found IN SELECT oid::regprocedure AS name FROM pg_proc
            WHERE starts_with(proname, 'skillquay_change_') AND pronamespace = current_schema()::regnamespace
        LOOP
            EXECUTE 'DROP FUNCTION ' || found.name || ' CASCADE';
        END LOOP;
    END $$
"""
POSTGRES_FUNCTIONS = (
    """
    CREATE FUNCTION skillquay_change_note(noted_kind integer, noted_key bigint) RETURNS void
    LANGUAGE plpgsql AS $$
    DECLARE
        mark text := ',' || noted_kind || ':' || noted_key || ',';
        noted text := coalesce(current_setting('skillquay.noted', true), '');
    BEGIN
        IF length(noted) < 4000 THEN
            IF position(mark IN noted) > 0 THEN
                RETURN;
            END IF;
            PERFORM set_config('skillquay.noted', noted || mark, true);
        END IF;
        INSERT INTO registry_pendingchange (kind, key) VALUES (noted_kind, noted_key);
    END $$
    """,
    """
    CREATE FUNCTION skillquay_change_raise() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        raised bigint := nullif(current_setting('skillquay.number', true), '')::bigint;
    BEGIN
        IF raised IS NULL THEN
            INSERT INTO registry_sitenumber (id, number) VALUES (1, 1)
                ON CONFLICT (id) DO UPDATE SET number = registry_sitenumber.number + 1
                RETURNING number INTO raised;
            PERFORM set_config('skillquay.number', raised::text, true);
        END IF;
        INSERT INTO registry_changenumber (kind, key, number) VALUES (NEW.kind, NEW.key, raised)
            ON CONFLICT (kind, key) DO UPDATE SET number = excluded.number;
        DELETE FROM registry_pendingchange WHERE id = NEW.id;
        RETURN NULL;
    END $$
    """,
)
POSTGRES_RAISE_TRIGGER = (
    "CREATE CONSTRAINT TRIGGER skillquay_change_raise AFTER INSERT ON registry_pendingchange "
    "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION skillquay_change_raise()"
)


def execute(connection: BaseDatabaseWrapper, statement: str, values: Sequence[Any] | None = None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def fetch_pairs(connection: BaseDatabaseWrapper, query: str) -> list[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


def sqlite_drop(trigger: str) -> str:
    return f"DROP TRIGGER {trigger}"


def postgres_comment(trigger: str, table: str, text: str) -> str:
    """The statement that stores ``text`` as the trigger's comment, which ``POSTGRES_TRIGGERS`` reads."""
    return f"COMMENT ON TRIGGER {trigger} ON \"{table}\" IS '{text}'"


def sqlite_triggers(table: str, watched: WatchedTable, columns: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The names and statements of the table's triggers. ``columns`` are all columns of the table."""
    for name, event, of, raises in _triggers(table, watched, columns):
        when = " OR ".join(f'OLD."{column}" IS NOT NEW."{column}"' for column in of)
        body = " ".join(_sqlite_raise(each, event) for each in raises)
        yield (
            name,
            f'CREATE TRIGGER {name} AFTER {_event(event, of)} ON "{table}" FOR EACH ROW '
            f"{f'WHEN ({when}) ' if of else ''}BEGIN "
            f"UPDATE registry_sitenumber SET number = number + 1 WHERE id = 1; {body} END",
        )


def postgres_triggers(
    table: str, watched: WatchedTable, columns: Sequence[str]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """The names and statements of the table's triggers: for each, its function and the trigger itself."""
    for name, event, of, raises in _triggers(table, watched, columns):
        when = " OR ".join(f'OLD."{column}" IS DISTINCT FROM NEW."{column}"' for column in of)
        body = " ".join(
            f"PERFORM skillquay_change_note({each.kind.value}, found.key) "
            f"FROM ({_keys(each, event)}) found WHERE found.key IS NOT NULL;"
            for each in raises
        )
        yield (
            name,
            (
                f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
                f"$$ BEGIN {body} RETURN NULL; END $$",
                f'CREATE CONSTRAINT TRIGGER {name} AFTER {_event(event, of)} ON "{table}" '
                f"DEFERRABLE INITIALLY DEFERRED FOR EACH ROW {f'WHEN ({when}) ' if of else ''}"
                f"EXECUTE FUNCTION {name}()",
            ),
        )


def _triggers(
    table: str, watched: WatchedTable, columns: Sequence[str]
) -> Iterator[tuple[str, str, tuple[str, ...], list[Raise]]]:
    yield f"{PREFIX}{table}_insert", "INSERT", (), list(watched.raises)
    yield f"{PREFIX}{table}_delete", "DELETE", (), list(watched.raises)
    every = tuple(column for column in columns if column not in watched.ignored)
    for number, of in enumerate(dict.fromkeys(each.columns for each in watched.raises)):
        raises = [each for each in watched.raises if each.columns == of]
        yield f"{PREFIX}{table}_update{number or ''}", "UPDATE", of or every, raises


def _event(event: str, of: Iterable[str]) -> str:
    return f"UPDATE OF {', '.join(f'{chr(34)}{column}{chr(34)}' for column in of)}" if of else event


def _keys(raised: Raise, event: str) -> str:
    rows = {"INSERT": ("NEW",), "DELETE": ("OLD",), "UPDATE": ("OLD", "NEW")}[event]
    return " UNION ".join(f"SELECT {raised.key} AS key {raised.source}".format(row=row) for row in rows)


def _sqlite_raise(raised: Raise, event: str) -> str:
    """The statements that raise the numbers of the keys: an update, and an insert of missing rows. An upsert
    would not work, because the conflict clause of the statement that fired the trigger takes precedence.
    """
    kind, keys = raised.kind.value, _keys(raised, event)
    return (
        f"UPDATE registry_changenumber SET number = site.number FROM registry_sitenumber site "
        f"WHERE site.id = 1 AND kind = {kind} AND key IN ({keys}); "
        f"INSERT INTO registry_changenumber (kind, key, number) "
        f"SELECT DISTINCT {kind}, found.key, site.number FROM ({keys}) found, registry_sitenumber site "
        f"WHERE site.id = 1 AND found.key IS NOT NULL AND NOT EXISTS (SELECT 1 "
        f"FROM registry_changenumber known WHERE known.kind = {kind} AND known.key = found.key);"
    )


def read_site_number(connection: BaseDatabaseWrapper) -> int:
    """The site's change number; 0 before the first change."""
    with connection.cursor() as cursor:
        cursor.execute(READ_NUMBER)
        row = cursor.fetchone()
    return int(row[0]) if row else 0
