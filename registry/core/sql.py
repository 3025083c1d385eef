"""Runs SQL without model instances, and runs prepared queries: querysets that are compiled once per process.

Creating model instances took half of the publishing time. Compiling a queryset takes Django several times
longer than the database needs to find a row by its key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Count, Model, QuerySet
from django.db.models import Value as Constant
from django.db.models.query import ModelIterable, get_related_populators

Row = TypeVar("Row")
P = ParamSpec("P")
T = TypeVar("T")
# Yields querysets, one or a tuple, before it uses their rows.
Reads = Generator[QuerySet[Any, Any] | tuple[QuerySet[Any, Any], ...], None, T]
Value = str | int | float | datetime
_FIRST_DATE = datetime(7999, 1, 1, tzinfo=UTC)
_MAX_PREPARED_PLACEHOLDERS = 50  # psycopg caches parsed statements with at most this many values


def insert_rows(
    model: type[Model],
    columns: Sequence[str],
    rows: Iterable[Sequence[int | str | bytes | None]],
    *,
    on_conflict: str = "",
) -> None:
    """Inserts the rows with ``executemany``; without rows, does nothing. ``on_conflict`` is a clause that is
    valid on PostgreSQL and SQLite.
    """
    values = list(rows)
    if not values:
        return
    quoted = ", ".join(connection.ops.quote_name(column) for column in columns)
    marks = ", ".join(["%s"] * len(columns))
    into = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {into} ({quoted}) VALUES ({marks}) {on_conflict}", values)


def execute(sql: str, values: Sequence[Any]) -> int:
    """Executes a statement; returns the number of rows that it changed."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return int(cursor.rowcount)


def fetch_all(sql: str, values: Sequence[Any]) -> list[Any]:
    """Runs a query, which must be valid on PostgreSQL and SQLite, and returns its rows as tuples."""
    with connection.cursor() as cursor:
        if len(values) > _MAX_PREPARED_PLACEHOLDERS and connection.vendor == "postgresql":
            sql, values = _inline_integers(sql, values)
        cursor.execute(sql, values or None)
        return list(cursor.fetchall())


def _inline_integers(sql: str, values: Sequence[Any]) -> tuple[str, list[Any]]:
    """The statement with non-negative integers written into it, and the remaining values. psycopg parses
    placeholders one by one; for a thousand values, this took longer than the query.
    """
    first, *texts = sql.split("%s")
    marks = [str(value) if type(value) is int and value >= 0 else "%s" for value in values]
    left = [value for value, mark in zip(values, marks, strict=True) if mark == "%s"]
    return first + "".join(map(str.__add__, marks, texts)), left


def placeholders(values: Sequence[object]) -> str:
    """The placeholders for a non-empty list of values: ``%s, %s``."""
    return ", ".join(["%s"] * len(values))


def try_lock(name: str) -> bool:
    """Acquires the named lock until the transaction ends; returns False if another transaction holds it.
    Always True on SQLite, where every transaction begins with the write lock.
    """
    if connection.vendor != "postgresql":
        return True
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
    return bool(fetch_all("SELECT pg_try_advisory_xact_lock(%s)", [number])[0][0])


class PreparedQuery(Generic[Row]):
    """The queryset that ``build`` returns for placeholders of the types in ``kinds``.

    ``build`` must return the same queryset for all values, and use them only as parameters of the statement.
    Values can't be None, because ``= NULL`` is never true.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Row]], *kinds: type[Value]) -> None:
        self._build, self._marks = build, [_mark(kind, at) for at, kind in enumerate(kinds)]
        self._plans: dict[str, _Plan] = {}

    def all(self, *values: Value) -> list[Row]:
        """The rows for the values: model instances, or tuples if the queryset is a ``values_list``."""
        plan = self._plans.get(connection.vendor)
        if plan is None:
            plan = self._plans[connection.vendor] = _compile(self._build(*self._marks), self._marks)
        adapted = [_adapt(value) for value in values]
        with connection.cursor() as cursor:
            cursor.execute(plan.sql, [adapted[each] if slot else each for each, slot in plan.parameters])
            rows = cursor.fetchall()
        return [plan.row(_convert_row(row, plan.converters)) for row in rows]

    def first(self, *values: Value) -> Row | None:
        return next(iter(self.all(*values)), None)


@dataclass(frozen=True)
class _Plan:
    """A compiled statement. ``parameters`` are pairs: a constant and False, or a position among the values
    and True.
    """

    sql: str
    parameters: Sequence[tuple[Any, bool]]
    converters: Sequence[tuple[int, Sequence[Any], Any]]
    row: Callable[[Sequence[Any]], Any]


def _mark(kind: type[Value], at: int) -> Value:
    """A placeholder value of this type for position ``at``. No query contains this value otherwise."""
    if kind is datetime:
        return _FIRST_DATE + timedelta(days=at)
    if kind is float:
        return 1e200 * (at + 2)
    return 2_000_000_000 + at if kind is int else f"prepared-{at}"


def _adapt(value: Value) -> Any:
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value


def _compile(queryset: QuerySet[Any, Any], marks: Sequence[Value]) -> _Plan:
    compiler = queryset.query.get_compiler(DEFAULT_DB_ALIAS)
    sql, values = compiler.as_sql()
    slots = {_adapt(mark): at for at, mark in enumerate(marks)}
    parameters = [(slots[each], True) if each in slots else (each, False) for each in values]
    assert {at for at, slot in parameters if slot} == set(range(len(marks))), sql
    found = compiler.get_converters([each[0] for each in compiler.select])
    converters = [(at, functions, column) for at, (functions, column) in found.items()]
    makes_models = queryset._iterable_class is ModelIterable
    return _Plan(sql, parameters, converters, _row_maker(compiler) if makes_models else tuple)


def _convert_row(row: Sequence[Any], converters: Sequence[tuple[int, Sequence[Any], Any]]) -> list[Any]:
    values = list(row)
    for at, functions, column in converters:
        for convert in functions:
            values[at] = convert(values[at], column, connection)
    return values


def _row_maker(compiler: Any) -> Callable[[Sequence[Any]], Any]:
    info = compiler.klass_info
    columns = [each[0].target.attname for each in compiler.select]
    fields = info["select_fields"]
    first, names = fields[0], [columns[at] for at in fields]
    after = fields[-1] + 1
    populators = get_related_populators(info, compiler.select, DEFAULT_DB_ALIAS)  # type: ignore[call-arg]
    load = info["model"].from_db

    def instance(row: Sequence[Any]) -> Any:
        found = load(DEFAULT_DB_ALIAS, names, row[first:after])
        for each in populators:
            each.populate(row, found)
        return found

    return instance


# Several querysets in one statement ------------------------------------------------------------------------
def evaluate(*querysets: QuerySet[Any, Any]) -> None:
    """Evaluates the querysets with one statement. Afterwards, iterating over them sends no query.

    The statement is a UNION ALL with the columns of all querysets, so use it for short lists.
    """
    pending = [each for each in querysets if each._result_cache is None]
    compilers = [each.query.get_compiler(DEFAULT_DB_ALIAS) for each in pending]
    parts = [_part(number, compiler) for number, compiler in enumerate(compilers)]
    found: list[list[Sequence[Any]]] = [[] for _ in pending]
    if len([part for part in parts if part]) > 1:
        for number, *values in _fetch_parts([part for part in parts if part]):
            part = parts[number]
            assert part
            found[number].append([values[slot] for slot in part.slots])
        for queryset, compiler, rows in zip(pending, compilers, found, strict=True):
            _fill(queryset, compiler, rows)
    for queryset in pending:
        queryset._fetch_all()


def gather(*reads: Reads[Any]) -> Reads[tuple[Any, ...]]:
    """The results of generators that run side by side: together they yield what each of them reads next,
    so that one statement reads it.
    """
    results: list[Any] = [None] * len(reads)
    active = dict(enumerate(reads))
    while active:
        wanted: list[QuerySet[Any, Any]] = []
        for number, each in list(active.items()):
            try:
                asked = next(each)
                wanted += asked if isinstance(asked, tuple) else (asked,)
            except StopIteration as end:
                results[number] = end.value
                del active[number]
        if wanted:
            yield tuple(wanted)
    return tuple(results)


def reads_of(*querysets: QuerySet[Any, Any]) -> Reads[None]:
    """Reads the querysets, for ``gather`` with other readers."""
    yield querysets


def read(reads: Reads[T]) -> T:
    """The result of a generator; what it yields is evaluated with one statement at a time."""
    while True:
        try:
            asked = next(reads)
        except StopIteration as end:
            result: T = end.value
            return result
        evaluate(*(asked if isinstance(asked, tuple) else (asked,)))


def read_together(*reads: Reads[Any]) -> tuple[Any, ...]:
    return read(gather(*reads))


class reader(Generic[P, T]):
    """Decorates a function that yields the querysets that it reads. A call returns its result; ``reads``
    returns the generator, for ``read_together``, or for ``gather`` and ``yield from`` in another reader.
    """

    def __init__(self, function: Callable[P, Reads[T]]) -> None:
        self.reads = function
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        return read(self.reads(*args, **kwargs))


def count_rows(queryset: QuerySet[Any, Any]) -> QuerySet[Any, int]:
    """A queryset with the number of rows as its only row; without rows, it is empty."""
    rows = queryset.order_by().annotate(all_rows=Constant(1)).values("all_rows")
    counted: QuerySet[Any, int] = rows.annotate(number=Count("pk")).values_list("number", flat=True)
    return counted


@dataclass(frozen=True)
class _Part:
    """One queryset of a joint statement. ``slots`` are the places of its columns in the statement's rows."""

    number: int
    sql: str
    values: Sequence[Any]
    names: Sequence[str]
    types: Sequence[str]
    slots: list[int] = field(default_factory=list)


def _part(number: int, compiler: Any) -> _Part | None:
    """The compiled queryset; None if it has no rows for certain."""
    try:
        sql, values = compiler.as_sql(with_col_aliases=True)
    except EmptyResultSet:
        return None
    if compiler.query.order_by and not compiler.query.is_sliced:
        sql += " LIMIT 2147483647"  # SQLite would ignore the order of a subquery without a limit
    types = [each[0].output_field.db_type(connection).partition("(")[0] for each in compiler.select]
    names = [connection.ops.quote_name(each[2]) for each in compiler.select]
    return _Part(number, sql, values, names, types)


def _fetch_parts(parts: Sequence[_Part]) -> list[Any]:
    """The rows of all parts: the part's number, then its columns in its slots, which parts share by type."""
    slots: list[str] = []
    for part in parts:
        free = dict(enumerate(slots))
        for kind in part.types:
            slot = next((each for each, other in free.items() if other == kind), len(slots))
            if slot == len(slots):
                slots.append(kind)
            free.pop(slot, None)
            part.slots.append(slot)
    selects = []
    for part in parts:
        names = dict(zip(part.slots, part.names, strict=True))
        columns = [names.get(slot) or f"CAST(NULL AS {kind})" for slot, kind in enumerate(slots)]
        selects.append(f"SELECT {part.number}, {', '.join(columns)} FROM ({part.sql}) part{part.number}")
    return fetch_all(" UNION ALL ".join(selects), [value for part in parts for value in part.values])


def _fill(queryset: Any, compiler: Any, rows: Sequence[Sequence[Any]]) -> None:
    """Lets Django make the queryset's results from rows that are already read."""
    own = queryset._query
    compiler.execute_sql = lambda *args, **kwargs: [rows]
    # The setter of ``query`` would change the form of the rows.
    queryset._query = own.chain()
    queryset._query.get_compiler = lambda *args, **kwargs: compiler
    queryset._fetch_all()
    queryset._query = own
