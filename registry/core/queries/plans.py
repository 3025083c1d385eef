"""Compiles querysets into plans: statements that run for other values than those they were compiled with.

A queryset is compiled with marks, values that no query contains otherwise. The marks among the statement's
parameters show where each value belongs. Compiling takes Django several times longer than the database needs
to find a row by its key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import QuerySet
from django.db.models.base import Model, ModelState
from django.db.models.query import FlatValuesListIterable, ModelIterable, ValuesListIterable
from django.db.models.signals import post_init, pre_init

Value = str | int | float | datetime | date
_FIRST_DATE = datetime(7999, 1, 1, tzinfo=UTC)
_FIRST_INTEGER = 2_000_000_000
_INTEGER_MARK = re.compile(r"(20000\d{5})")
_NAME = re.compile(r"[a-z_{}]{1,40}")  # needs no escapes as a text in a statement
_TIME = re.compile(r"\d{4}-\d\d-\d\d( .*)?")


@dataclass(frozen=True, eq=False)
class Statement:
    """A compiled query. ``names`` and ``types`` are the quoted names of its columns and their types in the
    database. ``is_unlimited`` means that it is ordered and has no limit.
    """

    sql: str
    names: Sequence[str]
    types: Sequence[str]
    is_unlimited: bool


@dataclass(frozen=True, eq=False)
class Plan:
    """A compiled queryset; without ``statement`` if it has no rows, whatever the values.

    ``slots`` are pairs of a parameter's index and the index of its value. ``texts`` have a parameter's index
    and the parts of a text: constants, and at odd places the indexes of integer values.
    """

    statement: Statement | None
    parameters: Sequence[Any] = ()
    slots: Sequence[tuple[int, int]] = ()
    texts: Sequence[tuple[int, Sequence[Any]]] = ()
    converters: Sequence[tuple[int, Sequence[Any], Any]] = ()
    make_row: Callable[[Sequence[Any]], Any] = tuple

    def bind(self, values: Sequence[Value]) -> list[Any]:
        """The parameters of the statement for these values."""
        bound = list(self.parameters)
        for at, slot in self.slots:
            bound[at] = _adapt(values[slot])
        for at, parts in self.texts:
            bound[at] = "".join(str(values[each]) if place % 2 else each for place, each in enumerate(parts))
        return bound

    def rows(self, found: Iterable[Sequence[Any]]) -> list[Any]:
        """Model instances, tuples or values from rows of the database."""
        make_row, converters = self.make_row, self.converters
        return [make_row(_convert_row(row, converters) if converters else row) for row in found]


def mark(kind: type[Value], at: int) -> Value:
    """A placeholder value of this type for position ``at``. No query contains this value otherwise."""
    if issubclass(kind, datetime):
        return _FIRST_DATE + timedelta(days=at)
    if issubclass(kind, date):
        return _FIRST_DATE.date() + timedelta(days=at)
    if kind is float:
        return 1e200 * (at + 2)
    return _FIRST_INTEGER + at if kind is int else f"prepared-{at}"


def compile_plan(queryset: QuerySet[Any, Any], marks: Sequence[Value], *, used: Iterable[int] = ()) -> Plan:
    """The plan of a queryset that was built with these marks.

    Fails if a mark with an index in ``used`` is in no parameter, or if a parameter is a time that is no mark:
    the plan would then return wrong rows for other values or later.
    """
    compiler = queryset.query.get_compiler(DEFAULT_DB_ALIAS)
    try:
        statement, parameters = compile_statement(compiler)
    except EmptyResultSet:
        return Plan(None)
    known = {_adapt(each): at for at, each in enumerate(marks)}
    slots = [(at, known[each]) for at, each in enumerate(parameters) if _is_value(each) and each in known]
    texts = [
        (at, [known[int(part)] if place % 2 else part for place, part in enumerate(parts)])
        for at, each in enumerate(parameters)
        if isinstance(each, str) and len(parts := _INTEGER_MARK.split(each)) > 1
    ]
    found = {slot for _at, slot in slots} | {slot for _at, parts in texts for slot in parts[1::2]}
    assert found >= set(used), statement.sql
    bound = {at for at, _slot in slots}
    assert not any(_is_time(each) for at, each in enumerate(parameters) if at not in bound), parameters
    return Plan(statement, parameters, slots, texts, _converters(compiler), _row_maker(queryset, compiler))


def compile_statement(compiler: Any) -> tuple[Statement, Sequence[Any]]:
    """The statement and its parameters. Raises EmptyResultSet if the query has no rows for certain."""
    sql, parameters = compiler.as_sql(with_col_aliases=True)
    types = [each[0].output_field.db_type(connection).partition("(")[0] for each in compiler.select]
    names = [connection.ops.quote_name(each[2]) for each in compiler.select]
    is_unlimited = bool(compiler.query.order_by) and not compiler.query.is_sliced
    if connection.vendor == "sqlite":
        sql, parameters = _with_literals(sql, parameters)
    return Statement(sql, names, types, is_unlimited), parameters


def _with_literals(sql: str, parameters: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """The statement with constants such as a status in its text, and the remaining parameters. SQLite would
    compile it again at each execution if it compared a parameter with the condition of a partial index.
    """
    first, *texts = sql.split("%s")
    if len(texts) != len(parameters):  # "%%s" is no placeholder
        return sql, parameters
    marks = list(map(_literal, parameters, [first, *texts]))
    left = [each for each, mark in zip(parameters, marks, strict=True) if mark == "%s"]
    return first + "".join(map(str.__add__, marks, texts)), left


def _literal(parameter: Any, before: str) -> str:
    """The literal of a constant after this text, or a placeholder."""
    if isinstance(parameter, str) and _NAME.fullmatch(parameter):
        return f"'{parameter}'"
    is_compared = type(parameter) is int and before.endswith(" = ")  # a number may also be that of a column
    return str(parameter) if is_compared and 0 <= parameter < 100 else "%s"


def _adapt(value: Value) -> Any:
    if type(value) is int or type(value) is str:  # most values
        return value
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    return connection.ops.adapt_datefield_value(value) if isinstance(value, date) else value


def _is_value(parameter: object) -> bool:
    return isinstance(parameter, str | int | float | date)


def _is_time(parameter: object) -> bool:
    is_text = isinstance(parameter, str) and _TIME.fullmatch(parameter)
    return bool(is_text) or isinstance(parameter, date)


def _converters(compiler: Any) -> list[tuple[int, Sequence[Any], Any]]:
    found = compiler.get_converters([each[0] for each in compiler.select])
    return [(at, functions, column) for at, (functions, column) in found.items()]


def _convert_row(row: Sequence[Any], converters: Sequence[tuple[int, Sequence[Any], Any]]) -> list[Any]:
    values = list(row)
    for at, functions, column in converters:
        for convert in functions:
            values[at] = convert(values[at], column, connection)
    return values


def _row_maker(queryset: Any, compiler: Any) -> Callable[[Sequence[Any]], Any]:
    assert not queryset._prefetch_related_lookups
    assert not queryset._known_related_objects
    kind = queryset._iterable_class
    if kind is ModelIterable:
        return _instance_maker(compiler)
    assert kind in (ValuesListIterable, FlatValuesListIterable), kind
    return _first_column if kind is FlatValuesListIterable else tuple


def _first_column(row: Sequence[Any]) -> Any:
    return row[0]


def _instance_maker(compiler: Any) -> Callable[[Sequence[Any]], Any]:
    annotations = list((compiler.annotation_col_map or {}).items())
    make = _model_maker(compiler.klass_info, compiler.select)

    def instance(row: Sequence[Any]) -> Any:
        found = make(row)
        for name, at in annotations:
            setattr(found, name, row[at])
        return found

    return instance


def _model_maker(info: Any, select: Sequence[Any]) -> Callable[[Sequence[Any]], Any]:
    """A function that makes an instance of a model, with its selected related instances, from a row. Django's
    ``from_db`` takes three times as long, because it also sends signals, which our models do not use.
    """
    model, fields = info["model"], info["select_fields"]
    assert model.from_db.__func__ is Model.from_db.__func__  # type: ignore[attr-defined]
    assert not pre_init.has_listeners(model), model
    assert not post_init.has_listeners(model), model
    names = [select[at][0].target.attname for at in fields]
    first, after = fields[0], fields[-1] + 1
    key = fields[names.index(model._meta.pk.attname)]
    related = [
        (_model_maker(each, select), each["local_setter"], each["remote_setter"])
        for each in info.get("related_klass_infos", ())
    ]

    def instance(row: Sequence[Any]) -> Any:
        if row[key] is None:
            return None
        found = model.__new__(model)
        found._state = state = ModelState()
        state.adding, state.db = False, DEFAULT_DB_ALIAS
        found.__dict__.update(zip(names, row[first:after], strict=True))
        for make, set_here, set_there in related:
            other = make(row)
            set_here(found, other)
            if other is not None:
                set_there(other, found)
        return found

    return instance
