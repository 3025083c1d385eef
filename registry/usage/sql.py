"""SQL of use counts: an upsert and a union that the ORM lacks."""

from datetime import date
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.models import QuerySet

from registry.core.sql import fetch_all, insert_rows
from registry.models import Skill, UseDay

_INCREMENT_ON_CONFLICT = (
    "ON CONFLICT (skill_id, day, kind, version) DO UPDATE SET count = registry_useday.count + 1"
)


def count_use_of_day(skill_id: int, version: str, kind: str, day: date) -> None:
    """Adds 1 to the day's uses of this version and kind. Uses SQL, because the ORM's upsert can't add to the
    stored value.
    """
    row = (skill_id, version, kind, day.isoformat(), 1)
    insert_rows(
        UseDay, ("skill_id", "version", "kind", "day", "count"), [row], on_conflict=_INCREMENT_ON_CONFLICT
    )


def union_rows(*querysets: QuerySet[Skill, Any]) -> list[Any]:
    """The rows of all querysets, read with one UNION ALL, because Django can't combine slices. Returns [] if
    Django detects that one of the querysets is empty.
    """
    try:
        statements = [each.query.sql_with_params() for each in querysets]
    except EmptyResultSet:
        return []
    union = " UNION ALL ".join(f"SELECT * FROM ({statement}) AS ranked" for statement, _ in statements)
    return fetch_all(union, [value for _, values in statements for value in values])
