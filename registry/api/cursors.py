"""Opaque pages: a cursor is the place after the last row seen, of one list with one set of filters."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet

from registry.packages.problems import refuse

LONGEST_PAGE = 100
USUAL_PAGE = 30
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Page:
    """What a list asked for: how many, after which place, of which list (its name and its filters)."""

    limit: int
    after: tuple[Any, ...] | None
    of: str

    def next_cursor(self, place: Sequence[Any]) -> str:
        text = json.dumps([self.of, *place], separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def page_of(name: str, query: Mapping[str, Any], *, kinds: tuple[type, ...]) -> Page:
    """The page that the query asks for; ``kinds`` are the types of the places this list gives out."""
    filters = {key: str(value) for key, value in query.items() if key not in ("cursor", "limit", "wait")}
    of = hashlib.sha256(json.dumps([name, filters], sort_keys=True).encode()).hexdigest()[:12]
    cursor = query.get("cursor")
    return Page(query.get("limit") or USUAL_PAGE, _place(cursor, of, kinds) if cursor else None, of)


def _place(cursor: str, of: str, kinds: tuple[type, ...]) -> tuple[Any, ...]:
    try:
        parts = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        good = parts[0] == of and [type(part) for part in parts[1:]] == list(kinds)
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        good = False
    if not good or any(isinstance(part, str) and "\0" in part for part in parts):
        raise refuse("CURSOR_INVALID", path="cursor")
    return tuple(parts[1:])


def newest_first(rows: QuerySet[Row], page: Page) -> tuple[list[Row], str | None]:
    """A page of rows by their time-ordered uid, newest first."""
    if page.after:
        rows = rows.filter(uid__lt=page.after[0])
    return _cut(rows.order_by("-uid")[: page.limit + 1], page, lambda row: [row.uid])  # type: ignore[attr-defined]


def in_order(rows: QuerySet[Row], page: Page) -> tuple[list[Row], str | None]:
    """A page of rows in the order they were written."""
    if page.after:
        rows = rows.filter(pk__gt=page.after[0])
    return _cut(rows.order_by("pk")[: page.limit + 1], page, lambda row: [row.pk])


def highest_first(rows: QuerySet[Row], page: Page, field: str) -> tuple[list[Row], str | None]:
    """A page of rows by a field, highest first, then by uid."""
    if page.after:
        value, uid = page.after
        rows = rows.filter(Q(**{f"{field}__lt": value}) | Q(**{field: value, "uid__gt": uid}))
    chosen = rows.order_by(f"-{field}", "uid")[: page.limit + 1]
    return _cut(chosen, page, lambda row: [getattr(row, field), row.uid])  # type: ignore[attr-defined]


def _cut(
    rows: QuerySet[Row], page: Page, place: Callable[[Row], Sequence[Any]]
) -> tuple[list[Row], str | None]:
    found = list(rows)
    more = len(found) > page.limit
    shown = found[: page.limit]
    return shown, page.next_cursor(place(shown[-1])) if more else None
