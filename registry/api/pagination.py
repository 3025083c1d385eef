"""Cursor pagination. A cursor is a position in one list with one set of filters."""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet

from registry.api.errors import CURSOR_INVALID

MAX_PAGE_SIZE = 100
DEFAULT_PAGE_SIZE = 30
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Page:
    """The requested page: its size, the position after which it starts (None for the first page), and a
    digest of the list and its filters.
    """

    limit: int
    after: tuple[Any, ...] | None
    of: str

    def next_cursor(self, position: Sequence[Any]) -> str:
        text = json.dumps([self.of, *position], separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_page(name: str, query: Mapping[str, Any], *, kinds: tuple[type, ...]) -> Page:
    """The page that the validated query requests from the list ``name``. ``kinds`` are the types of the
    values in a cursor. Raises CURSOR_INVALID if the cursor is malformed or belongs to another list or other
    filters.
    """
    filters = {key: str(value) for key, value in query.items() if key not in ("cursor", "limit", "wait")}
    of = hashlib.sha256(json.dumps([name, filters], sort_keys=True).encode()).hexdigest()[:12]
    cursor = query.get("cursor")
    return Page(
        query.get("limit") or DEFAULT_PAGE_SIZE, _read_cursor(cursor, of, kinds) if cursor else None, of
    )


def _read_cursor(cursor: str, of: str, kinds: tuple[type, ...]) -> tuple[Any, ...]:
    try:
        parts = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        is_valid = parts[0] == of and [type(part) for part in parts[1:]] == list(kinds)
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        is_valid = False
    if not is_valid or any(isinstance(part, str) and "\0" in part for part in parts):
        raise CURSOR_INVALID.refusal().at("cursor")
    return tuple(parts[1:])


def newest_first(rows: QuerySet[Row], page: Page) -> tuple[list[Row], str | None]:
    """The rows of the page, newest first by their time-ordered ``uid``, and the cursor of the next page (None
    on the last page).
    """
    if page.after:
        rows = rows.filter(uid__lt=page.after[0])
    return _split_page(rows.order_by("-uid")[: page.limit + 1], page, lambda row: [row.uid])  # type: ignore[attr-defined]


def in_order(rows: QuerySet[Row], page: Page) -> tuple[list[Row], str | None]:
    """Like ``newest_first``, but in the order of insertion."""
    if page.after:
        rows = rows.filter(pk__gt=page.after[0])
    return _split_page(rows.order_by("pk")[: page.limit + 1], page, lambda row: [row.pk])


def last_first(rows: QuerySet[Row], page: Page) -> tuple[list[Row], str | None]:
    """Like ``newest_first``, but in reverse order of insertion, for rows without a uid."""
    if page.after:
        rows = rows.filter(pk__lt=page.after[0])
    return _split_page(rows.order_by("-pk")[: page.limit + 1], page, lambda row: [row.pk])


def highest_first(rows: QuerySet[Row], page: Page, field: str) -> tuple[list[Row], str | None]:
    """Like ``newest_first``, but sorted by ``field``, highest first, then by uid, oldest first."""
    if page.after:
        value, uid = page.after
        rows = rows.filter(Q(**{f"{field}__lt": value}) | Q(**{field: value, "uid__gt": uid}))
    selected = rows.order_by(f"-{field}", "uid")[: page.limit + 1]
    return _split_page(selected, page, lambda row: [getattr(row, field), row.uid])  # type: ignore[attr-defined]


def _split_page(
    rows: QuerySet[Row], page: Page, position: Callable[[Row], Sequence[Any]]
) -> tuple[list[Row], str | None]:
    found = list(rows)
    has_more = len(found) > page.limit
    items = found[: page.limit]
    return items, page.next_cursor(position(items[-1])) if has_more else None
