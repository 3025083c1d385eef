import json
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper


class BytewiseCharField(models.CharField):  # type: ignore[type-arg]  # not subscriptable at run time
    """Text that sorts by code point on every database; PostgreSQL would sort it by its locale."""

    def db_parameters(self, connection: BaseDatabaseWrapper) -> dict[str, Any]:
        parameters: dict[str, Any] = super().db_parameters(connection)
        if connection.vendor == "postgresql":
            parameters["collation"] = "C"
        return parameters


class DocumentField(models.JSONField):
    """JSON that comes back as it was written: PostgreSQL's jsonb would forget the order of its keys.

    A form's fields stand in the order of their schema, an output in its author's. It is kept as text, so no
    query looks into it.
    """

    def db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        return "text" if connection.vendor == "postgresql" else super().db_type(connection)

    def get_db_prep_value(self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False) -> Any:
        return value if value is None else json.dumps(value, cls=self.encoder)
