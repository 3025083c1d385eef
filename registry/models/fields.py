"""Model fields that behave the same on SQLite and PostgreSQL."""

import json
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper


class BytewiseCharField(models.CharField):  # type: ignore[type-arg]  # not subscriptable at run time
    """Text that sorts by code point on every database. PostgreSQL would otherwise sort by its locale."""

    def db_parameters(self, connection: BaseDatabaseWrapper) -> dict[str, Any]:
        parameters: dict[str, Any] = super().db_parameters(connection)
        if connection.vendor == "postgresql":
            parameters["collation"] = "C"
        return parameters


class DocumentField(models.JSONField):
    """JSON that keeps the order of its keys, which PostgreSQL's jsonb does not.

    The order matters for form fields and outputs. PostgreSQL stores the value as text, so queries can't
    filter by its content.
    """

    def db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        return "text" if connection.vendor == "postgresql" else super().db_type(connection)

    def get_db_prep_value(self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False) -> Any:
        return value if value is None else json.dumps(value, cls=self.encoder)
