"""The tables of a site that are copied, and the neutral form of their rows.

A row is a list of JSON values in the order of ``Table.fields``. It does not depend on the database.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import models

# Rebuilt after the copy.
DERIVED = {
    "registry.CountedSkill",
    "registry.FacetCount",
    "registry.Misspelling",
    "registry.PinnedPosting",
    "registry.PinnedTrigger",
    "registry.Posting",
    "registry.Term",
    "registry.TermScope",
    "registry.Trigger",
}
# Describe one database or its processes, not the site.
LOCAL = {
    "registry.ChangeNumber",
    "registry.PendingChange",
    "registry.RateCount",
    "registry.SiteNumber",
    "worker.ServiceProcess",
}
_MAX_EXACT = 2**53  # integers up to this size have an exact float
_DIGESTS = 2**256


@dataclass(frozen=True)
class Table:
    name: str  # as registry.Skill
    model: type[models.Model]
    fields: tuple[models.Field[Any, Any], ...]

    @property
    def columns(self) -> list[str]:
        return [str(field.column) for field in self.fields]

    @property
    def key(self) -> int:
        """The index of the primary key in a row."""
        return self.fields.index(self.model._meta.pk)


@dataclass
class Totals:
    """Number and digest of rows. The digest, a sum of hashes, does not depend on the order of the rows."""

    rows: int = 0
    digest: int = 0

    def add(self, row: list[Any]) -> None:
        text = json.dumps(_comparable(row), sort_keys=True, separators=(",", ":"))
        self.rows += 1
        self.digest = (self.digest + int.from_bytes(hashlib.sha256(text.encode()).digest())) % _DIGESTS

    def document(self) -> dict[str, Any]:
        return {"rows": self.rows, "digest": f"{self.digest:064x}"}

    @classmethod
    def of(cls, rows: Iterable[list[Any]]) -> Totals:
        totals = cls()
        for row in rows:
            totals.add(row)
        return totals


def copied_tables() -> list[Table]:
    """The tables of all models, except those in DERIVED and LOCAL, ordered by name."""
    found = [
        Table(model._meta.label, model, tuple(f for f in model._meta.concrete_fields if not f.generated))
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy and model._meta.label not in DERIVED | LOCAL
    ]
    return sorted(found, key=lambda table: table.name)


def neutral(value: Any) -> Any:
    """The database-independent JSON value for a value that Django has read."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, UUID | Decimal):
        return str(value)
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(value).decode()
    return value


def native(field: models.Field[Any, Any], value: Any) -> Any:
    """The field's Django value for a value from ``neutral``."""
    if value is None:
        return None
    if isinstance(field, models.BinaryField):
        return base64.b64decode(value)
    if isinstance(field, models.DateTimeField):
        return datetime.fromisoformat(value)
    if isinstance(field, models.DateField | models.UUIDField | models.DecimalField):
        return field.to_python(value)
    return value


def _comparable(value: Any) -> Any:
    """The value with numbers as ``jsonb`` columns return them: 1.0 as 1, and 1e300 as an integer."""
    if isinstance(value, list):
        return [_comparable(each) for each in value]
    if isinstance(value, dict):
        return {key: _comparable(each) for key, each in value.items()}
    if isinstance(value, float) and value.is_integer() and abs(value) <= _MAX_EXACT:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _MAX_EXACT:
        return _as_float(value)
    return value


def _as_float(value: int) -> float | int:
    try:
        return float(value)
    except OverflowError:
        return value
