"""Loads skills by primary key, each with its team and latest version, for search and match.

The ORM would build the statement for each call and a team instance for each row, which took a third of a
search's time. Here, the statement is built once, and the ORM's own converters convert the columns.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.models import BooleanField, Model
from django.db.models.base import ModelState

from registry.core.sql import Reads, reader
from registry.index import sql
from registry.models import Skill, Team, Version

_DEFERRED_FIELDS = frozenset({"manifest", "body", "problems", "provenance", "changelog"})  # loaded on access


@dataclass(frozen=True)
class RankFields:
    """The fields of a skill that filter and rank matches in addition to their scores."""

    key: int
    slug: str
    paths: Sequence[str]
    priority: float
    usage_count: int
    last_used_at: datetime | None


def rank_fields(skill: Skill) -> RankFields:
    return RankFields(
        skill.pk, skill.slug, skill.paths, skill.priority, skill.usage_count, skill.last_used_at
    )


def assume_utc(moment: datetime | None) -> datetime | None:
    """The moment, with UTC as its time zone if it has none. SQLite returns moments without a time zone."""
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


@reader
def load_skills(keys: Sequence[int]) -> Reads[dict[int, Skill]]:
    """Skills by primary key, each with team and latest version. Keys that do not exist are omitted."""
    shape = _shape(connection.vendor)
    yield (rows := sql.skill_rows(shape.columns, shape.types, keys))
    return {skill.pk: skill for skill in _skills(shape, rows)}


@dataclass(frozen=True)
class OrderFields:
    """The fields of a skill that order skills with equal scores."""

    key: int
    usage_count: int
    last_used_at: datetime | None
    released_at: datetime | None  # the time of the latest version


@reader
def load_first_skills(
    keys: Sequence[int], limit: int, order: Callable[[OrderFields], tuple[float, ...]]
) -> Reads[list[Skill]]:
    """The first ``limit`` of the skills with these primary keys, sorted by ``order``, each with team and
    latest version. Builds only these, because building a skill takes longer than reading its row.
    """
    shape = _shape(connection.vendor)
    yield (rows := sql.skill_rows(shape.columns, shape.types, keys))
    first = sorted(rows, key=lambda row: order(_order_fields(shape, row)))[:limit]
    return list(_skills(shape, first))


@dataclass(frozen=True)
class _Columns:
    """The columns of a model in a result row: their names, their slice and the converters of their values."""

    model: type[Model]
    names: tuple[str, ...]
    types: tuple[str, ...]
    start: int
    end: int
    converters: tuple[tuple[str, Callable[..., Any], Any], ...]

    def value(self, name: str, row: Sequence[Any]) -> Any:
        value = row[self.start + self.names.index(name)]
        for converted, convert, column in self.converters:
            if converted == name and value is not None:
                value = convert(value, column, connection)
        return value

    def build(self, row: Sequence[Any]) -> Any:
        """Builds a model instance without its constructor, as unpickling does. This takes a third
        of the constructor's time.
        """
        values = dict(zip(self.names, row[self.start : self.end], strict=True))
        for name, convert, column in self.converters:
            if values[name] is not None:
                values[name] = convert(values[name], column, connection)
        instance = self.model.__new__(self.model)
        values["_state"] = state = ModelState()
        state.adding, state.db = False, connection.alias
        instance.__dict__ = values
        return instance


@dataclass(frozen=True)
class _Shape:
    columns: str  # quoted names with aliases, separated by commas
    types: Mapping[str, str]  # by alias
    skill: _Columns
    team: _Columns
    version: _Columns


@lru_cache
def _shape(vendor: str) -> _Shape:  # one per vendor, because databases represent some types differently
    skill = _columns(Skill, 0)
    team = _columns(Team, skill.end)
    version = _columns(Version, team.end, _DEFERRED_FIELDS)
    parts = (skill, team, version)
    names = [f'{each.model._meta.db_table}."{name}"' for each in parts for name in each.names]
    types = {f"c{at}": kind for at, kind in enumerate(kind for each in parts for kind in each.types)}
    columns = ", ".join(f"{name} AS {alias}" for name, alias in zip(names, types, strict=True))
    return _Shape(columns, types, skill, team, version)


def _columns(model: type[Model], start: int, unread: frozenset[str] = frozenset()) -> _Columns:
    fields = [field for field in model._meta.concrete_fields if field.name not in unread]
    converters = []
    for field in fields:
        column = field.get_col(model._meta.db_table)
        functions = [*connection.ops.get_db_converters(column), *field.get_db_converters(connection)]
        if isinstance(field, BooleanField):  # drivers convert booleans, but SQLite's not in every statement
            functions = [lambda value, *_: bool(value)] if connection.vendor == "sqlite" else []
        converters += [(field.attname, function, column) for function in functions]
    names = tuple(field.attname for field in fields)
    types = tuple(str(field.db_type(connection)).partition("(")[0] for field in fields)
    return _Columns(model, names, types, start, start + len(names), tuple(converters))


def _order_fields(shape: _Shape, row: Sequence[Any]) -> OrderFields:
    return OrderFields(
        shape.skill.value("id", row),
        shape.skill.value("usage_count", row),
        shape.skill.value("last_used_at", row),
        shape.version.value("created_at", row),
    )


def _skills(shape: _Shape, rows: Iterable[Sequence[Any]]) -> Iterator[Skill]:
    teams: dict[int, Team] = {}
    return (_skill(shape, row, teams) for row in rows)


def _skill(shape: _Shape, row: Sequence[Any], teams: dict[int, Team]) -> Skill:
    skill: Skill = shape.skill.build(row)
    if skill.team_id not in teams:
        teams[skill.team_id] = shape.team.build(row)
    _cache_relation(skill, "team", teams[skill.team_id])
    _cache_relation(skill, "latest", shape.version.build(row) if skill.latest_id else None)
    return skill


def _cache_relation(skill: Skill, name: str, to: Model | None) -> None:
    Skill._meta.get_field(name).set_cached_value(skill, to)  # type: ignore[union-attr]  # of foreign keys
