"""Skills by their keys, each with its team and its latest version, as search and match show them.

The ORM makes such a statement anew each time, and a model instance of every row's team: that was a third of a
search. Here the statement is made once, and what its columns hold is read as the ORM reads it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.models import BooleanField, Model
from django.db.models.base import ModelState

from registry import bulk
from registry.models import Skill, Team, Version

_UNREAD = frozenset({"manifest", "body", "problems", "provenance", "changelog"})  # until they are asked for
_FROM = """
    FROM registry_skill JOIN registry_team ON registry_team.id = registry_skill.team_id
    LEFT JOIN registry_version ON registry_version.id = registry_skill.latest_id
    WHERE registry_skill.id IN ({keys})
"""
_ORDERED = """
    SELECT id, paths, priority, usage_count, last_used_at FROM registry_skill WHERE id IN ({keys}) ORDER BY id
"""


@dataclass(frozen=True)
class Order:
    """What of a skill decides whether and where it is offered among others that fit as well."""

    key: int
    paths: Sequence[str]
    priority: float
    usage_count: int
    last_used_at: datetime | None


def orders_of(keys: Sequence[int]) -> list[Order]:
    rows = bulk.read(_ORDERED.format(keys=bulk.places(keys)), keys) if keys else ()
    return [
        Order(key, () if paths == "[]" else json.loads(paths), priority, count, aware(last))
        for key, paths, priority, count, last in rows
    ]


def aware(moment: datetime | None) -> datetime | None:
    """SQLite keeps moments without their zone, which is UTC."""
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


def skills_of(keys: Sequence[int]) -> dict[int, Skill]:
    """By key, in no order; what is not there is left out."""
    if not keys:
        return {}
    shape = _shape(connection.vendor)
    teams: dict[int, Team] = {}
    found = {}
    for row in bulk.read(f"{shape.select}{_FROM.format(keys=bulk.places(keys))}", keys):
        skill = _skill(shape, row, teams)
        found[skill.pk] = skill
    return found


@dataclass(frozen=True)
class _Columns:
    """Those of a model that are read, from which place of a row, and how some of them are understood."""

    model: type[Model]
    names: tuple[str, ...]
    start: int
    end: int
    understood: tuple[tuple[str, Callable[..., Any], Any], ...]

    def made(self, row: Sequence[Any]) -> Any:
        """As unpickling makes an instance, which takes a third of the time that its constructor takes."""
        values = dict(zip(self.names, row[self.start : self.end], strict=True))
        for name, understand, column in self.understood:
            if values[name] is not None:
                values[name] = understand(values[name], column, connection)
        made = self.model.__new__(self.model)
        values["_state"] = state = ModelState()
        state.adding, state.db = False, connection.alias
        made.__dict__ = values
        return made


@dataclass(frozen=True)
class _Shape:
    select: str
    skill: _Columns
    team: _Columns
    version: _Columns


@lru_cache
def _shape(vendor: str) -> _Shape:  # databases write some kinds of values differently
    skill = _columns(Skill, 0)
    team = _columns(Team, skill.end)
    version = _columns(Version, team.end, _UNREAD)
    names = [
        f'{each.model._meta.db_table}."{name}"' for each in (skill, team, version) for name in each.names
    ]
    return _Shape(f"SELECT {', '.join(names)}", skill, team, version)


def _columns(model: type[Model], start: int, unread: frozenset[str] = frozenset()) -> _Columns:
    fields = [field for field in model._meta.concrete_fields if field.name not in unread]
    understood = []
    for field in fields:
        column = field.get_col(model._meta.db_table)
        ways = [*connection.ops.get_db_converters(column), *field.get_db_converters(connection)]
        if not isinstance(field, BooleanField):  # drivers read those as they are
            understood += [(field.attname, way, column) for way in ways]
    names = tuple(field.attname for field in fields)
    return _Columns(model, names, start, start + len(names), tuple(understood))


def _skill(shape: _Shape, row: Sequence[Any], teams: dict[int, Team]) -> Skill:
    skill: Skill = shape.skill.made(row)
    if skill.team_id not in teams:
        teams[skill.team_id] = shape.team.made(row)
    _point(skill, "team", teams[skill.team_id])
    _point(skill, "latest", shape.version.made(row) if skill.latest_id else None)
    return skill


def _point(skill: Skill, name: str, to: Model | None) -> None:
    """As ``select_related`` does it."""
    Skill._meta.get_field(name).set_cached_value(skill, to)  # type: ignore[union-attr]  # of foreign keys
