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
