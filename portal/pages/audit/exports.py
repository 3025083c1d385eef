"""Downloads of audit entries as CSV and as JSON lines."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.http import FileResponse

from portal.delivery.downloads import as_file, csv_lines, download
from portal.presenters.audit import text_of
from registry.core.time import rfc3339
from registry.models import AuditEntry

COLUMNS = (
    "id",
    "at",
    "user",
    "as_user",
    "capacity",
    "token",
    "address",
    "team",
    "action",
    "target",
    "description",
    "detail",
    "sequence",
    "hash",
)


def export(entries: Iterator[AuditEntry], kind: str) -> FileResponse:
    """A download in the format ``kind``, one of ``FORMATS``."""
    lines, media_type = FORMATS[kind]
    file = as_file(lines(map(_row, entries)))
    return download(file, f"audit.{kind}", media_type)


def _csv(rows: Iterator[Mapping[str, Any]]) -> Iterator[bytes]:
    yield codecs.BOM_UTF8 + csv_lines([COLUMNS])  # Excel reads UTF-8 only with a byte order mark
    for row in rows:
        yield csv_lines([_texts(row)])


def _texts(row: Mapping[str, Any]) -> list[str]:
    return [value if isinstance(value, str) else _json(value) for value in row.values()]


def _json_lines(rows: Iterator[Mapping[str, Any]]) -> Iterator[bytes]:
    return (f"{_json(row)}\n".encode("utf-8", "replace") for row in rows)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


FORMATS: dict[str, tuple[Callable[[Iterator[Mapping[str, Any]]], Iterator[bytes]], str]] = {
    "csv": (_csv, "text/csv; charset=utf-8"),
    "jsonl": (_json_lines, "application/jsonl"),
}


def _row(entry: AuditEntry) -> dict[str, Any]:
    values = (
        entry.uid,
        rfc3339(entry.at),
        entry.user.username if entry.user else "",
        entry.as_user.username if entry.as_user else "",
        entry.capacity,
        entry.token_name,
        getattr(entry, "shown_address", ""),
        entry.team.slug if entry.team else "",
        entry.action,
        entry.target,
        text_of(entry),
        entry.detail or {},
        entry.sequence,
        entry.entry_hash,
    )
    return dict(zip(COLUMNS, values, strict=True))
