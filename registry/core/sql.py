"""Runs SQL without model instances, and runs prepared queries: querysets that are compiled once per process.

Creating model instances took half of the publishing time. Compiling a queryset takes Django several times
longer than the database needs to find a row by its key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache, update_wrapper
from typing import Any, Generic, ParamSpec, Protocol, TypeAlias, TypeVar, overload

from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Aggregate, Count, Model, QuerySet
from django.db.models import Value as Constant

from registry.core.queries.plans import Plan, Statement, Value, compile_plan, compile_statement, mark

Row = TypeVar("Row")
P = ParamSpec("P")
T = TypeVar("T")
_VALUES = frozenset({str, int, float, datetime, date})
_MAX_PLANS = 1000  # of prepared querysets; a plan takes about 10 kB
_MAX_JOINT_STATEMENTS = 200
_MAX_PREPARED_PLACEHOLDERS = 200  # as in ``registry.core.postgresql``, which SQLite does not need


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


class Rows(Sequence[Row]):
    """The rows of a prepared queryset for some values, read when they are first used, or by ``evaluate``."""

    def __init__(self, plan: Plan, values: Sequence[Value]) -> None:
        self.plan, self.values = plan, values
        self._result_cache: list[Row] | None = None

    def _fetch_all(self) -> list[Row]:
        if self._result_cache is None:
            statement = self.plan.statement
            rows = fetch_all(statement.sql, self.plan.bind(self.values)) if statement else []
            self._result_cache = self.plan.rows(rows)
        return self._result_cache

    def first(self) -> Row | None:
        return next(iter(self), None)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._fetch_all())

    def __len__(self) -> int:
        return len(self._fetch_all())

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        return self._fetch_all()[index]


class StatementRows(Rows[Any]):
    """The rows of a statement in SQL, as tuples; without rows if ``sql`` is "".

    ``columns`` maps the names of its columns to types that both databases have, such as "text" and "bigint".
    Values of other types differ between a statement that runs alone and one that runs with others.
    """

    def __init__(self, sql: str, values: Sequence[Any], columns: Mapping[str, str]) -> None:
        statement = Statement(sql, tuple(columns), tuple(columns.values()), is_unlimited=False)
        super().__init__(Plan(statement if sql else None, values), ())


Readable: TypeAlias = QuerySet[Any, Any] | Rows[Any]
# Yields querysets or prepared rows, one or a tuple, before it uses their rows.
Reads: TypeAlias = Generator[Readable | tuple[Readable, ...], None, T]


def padded(values: Sequence[T]) -> list[T]:
    """The values, the last one repeated so that their number is a power of two: lists of 5 to 8 values then
    have the same plan. For conditions that ignore repeated values, such as ``IN``.
    """
    return [*values, *[values[-1]] * (next_power_of_two(len(values)) - len(values))] if values else []


def next_power_of_two(number: int) -> int:
    """The smallest power of two that is not less than ``number``: numbers that are rounded up to it have few
    plans.
    """
    return 1 << max(number - 1, 0).bit_length()


class QueryShape(Protocol):
    """What querysets built for an object depend on, apart from its values. Must be hashable."""

    @property
    def kinds(self) -> Sequence[type[Value]]:
        """The types of its values."""

    def example(self, values: Sequence[Any]) -> Any:
        """An object of this shape with these values."""


class prepared(Generic[P, Row]):
    """Decorates a function that builds a queryset. A call returns the queryset's rows; the queryset is built
    and compiled once for each combination of the arguments' shapes.

    Arguments that are texts, numbers or times are values: the function must use them only as parameters of
    the statement, and each of them must be one. An actor has a shape, such as its roles, and the primary keys
    of its user and teams as values. All other arguments, such as None, and keyword arguments are constants:
    the function may branch on them. It must not compare values, and gets no rows to compare them with.
    """

    def __init__(self, build: Callable[P, QuerySet[Any, Row]]) -> None:
        self.build = build
        update_wrapper(self, build)

    def __call__(self, *args: P.args, **constants: P.kwargs) -> Rows[Row]:
        values: list[Value] = []
        shapes: list[Any] = []
        for each in args:
            kind = type(each)
            if kind in _VALUES:
                shapes.append(kind)
                values.append(each)  # type: ignore[arg-type]
            elif (shape := getattr(each, "query_shape", None)) is not None:
                shapes.append(shape)
                values += each.query_values  # type: ignore[attr-defined]
            else:
                shapes.append(each)
        return Rows(_plan(self.build, tuple(shapes), tuple(constants.items())), values)


@lru_cache(maxsize=_MAX_PLANS)
def _plan(
    build: Callable[..., QuerySet[Any, Any]],
    shapes: Sequence[Any],
    constants: Sequence[tuple[str, Any]],
) -> Plan:
    args: list[Any] = []
    marks: list[Value] = []
    used: list[int] = []
    for shape in shapes:
        if isinstance(shape, type):
            used.append(len(marks))
            marks.append(mark(shape, len(marks)))
            args.append(marks[-1])
        elif hasattr(shape, "example"):
            own = [mark(kind, len(marks) + at) for at, kind in enumerate(shape.kinds)]
            marks += own
            args.append(shape.example(own))
        else:
            args.append(shape)
    return compile_plan(build(*args, **dict(constants)), marks, used=used)


# Several querysets in one statement ------------------------------------------------------------------------
def evaluate(*reads: Readable) -> None:
    """Reads the rows of querysets and prepared querysets with one statement. Afterwards, iterating over them
    sends no query.

    The statement is a UNION ALL with the columns of all querysets, so use it for short lists.
    """
    pending = list({id(each): each for each in reads if each._result_cache is None}.values())
    parts = [part for part in map(_part, pending) if part.statement]
    if len(parts) > 1:
        statements = tuple(part.statement for part in parts if part.statement)
        is_prepared = all(type(part.rows) is Rows for part in parts)
        sql, slots = (_join_prepared if is_prepared else _join)(statements)
        found: list[list[Sequence[Any]]] = [[] for _ in parts]
        for number, *values in fetch_all(sql, [value for part in parts for value in part.values]):
            found[number].append([values[slot] for slot in slots[number]])
        for part, rows in zip(parts, found, strict=True):
            _fill(part, rows)
    for each in pending:
        each._fetch_all()


def gather(*reads: Reads[Any]) -> Reads[tuple[Any, ...]]:
    """The results of generators that run side by side: together they yield what each of them reads next,
    so that one statement reads it.
    """
    results: list[Any] = [None] * len(reads)
    active = dict(enumerate(reads))
    while active:
        wanted: list[Readable] = []
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


def reads_of(*querysets: Readable) -> Reads[None]:
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
    counted: QuerySet[Any, Any] = aggregate_rows(queryset, number=Count("pk"))
    return counted.values_list("number", flat=True)


def aggregate_rows(queryset: QuerySet[Any, Any], **aggregates: Aggregate) -> QuerySet[Any, tuple[Any, ...]]:
    """A queryset with these aggregates over all rows as its only row; without rows, it is empty."""
    rows = queryset.order_by().annotate(all_rows=Constant(1)).values("all_rows")
    found: QuerySet[Any, tuple[Any, ...]] = rows.annotate(**aggregates).values_list(*aggregates)
    return found


@dataclass(frozen=True)
class _Part:
    """A queryset of a joint statement; without ``statement`` if it has no rows for certain."""

    rows: Any
    statement: Statement | None
    values: Sequence[Any] = ()
    compiler: Any = None


def _part(rows: Readable) -> _Part:
    if isinstance(rows, Rows):
        plan = rows.plan
        return _Part(rows, plan.statement, plan.bind(rows.values) if plan.statement else ())
    compiler = rows.query.get_compiler(DEFAULT_DB_ALIAS)
    try:
        return _Part(rows, *compile_statement(compiler), compiler)
    except EmptyResultSet:
        return _Part(rows, None)


def _join(statements: Sequence[Statement]) -> tuple[str, list[list[int]]]:
    """The joint statement, and the slots of each statement's columns. A row has the statement's number, then
    the slots, which statements share by type.
    """
    slots: list[str] = []
    slots_of: list[list[int]] = []
    for statement in statements:
        free = dict(enumerate(slots))
        own: list[int] = []
        for kind in statement.types:
            slot = next((each for each, other in free.items() if other == kind), len(slots))
            if slot == len(slots):
                slots.append(kind)
            free.pop(slot, None)
            own.append(slot)
        slots_of.append(own)
    selects = []
    for number, (statement, own) in enumerate(zip(statements, slots_of, strict=True)):
        names = dict(zip(own, statement.names, strict=True))
        columns = [names.get(slot) or f"CAST(NULL AS {kind})" for slot, kind in enumerate(slots)]
        # SQLite would ignore the order of a subquery without a limit.
        sql = f"{statement.sql} LIMIT 2147483647" if statement.is_unlimited else statement.sql
        selects.append(f"SELECT {number}, {', '.join(columns)} FROM ({sql}) part{number}")
    return " UNION ALL ".join(selects), slots_of


_join_prepared = lru_cache(maxsize=_MAX_JOINT_STATEMENTS)(_join)


def _fill(part: _Part, rows: Sequence[Sequence[Any]]) -> None:
    """Fills prepared rows, or lets Django make the results of a queryset, from rows of the database."""
    queryset, compiler = part.rows, part.compiler
    if compiler is None:
        queryset._result_cache = queryset.plan.rows(rows)
        return
    own = queryset._query
    compiler.execute_sql = lambda *args, **kwargs: [rows]
    # The setter of ``query`` would change the form of the rows.
    queryset._query = own.chain()
    queryset._query.get_compiler = lambda *args, **kwargs: compiler
    queryset._fetch_all()
    queryset._query = own
