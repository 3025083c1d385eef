"""The form field for a size, such as "500 MB" or "10 GB"."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.utils.translation import gettext_lazy as _

_UNITS = {"TB": 10**12, "GB": 10**9, "MB": 10**6, "KB": 10**3, "B": 1}
_SIZE = re.compile(r"(\d{1,20}(?:[.,]\d{1,9})?)\s*([KMGT]?B)?", re.IGNORECASE)


class SizeField(forms.CharField):
    """Cleans to a number of bytes, or None. A number without a unit counts bytes."""

    default_error_messages = {"invalid": _("Enter a size, such as 500 MB or 10 GB.")}

    def __init__(self, *, min_value: int, max_value: int, **more: Any) -> None:
        super().__init__(**more)
        self._limits = MinValueValidator(min_value), MaxValueValidator(max_value)

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return None
        found = _SIZE.fullmatch(text)
        if not found:
            raise forms.ValidationError(self.error_messages["invalid"], "invalid")
        size = int(Decimal(found[1].replace(",", ".")) * _UNITS[(found[2] or "B").upper()])
        for limit in self._limits:
            limit(size)
        return size

    def prepare_value(self, value: Any) -> Any:
        return size_text(value) if isinstance(value, int) else value


def size_text(size: int) -> str:
    """The exact size with the largest unit that needs at most three decimals, such as "1.5 GB"."""
    fitting = (unit for unit, factor in _UNITS.items() if size >= factor and size * 1000 % factor == 0)
    unit = next(fitting, "B")
    return f"{Decimal(size) / _UNITS[unit]:f} {unit.replace('KB', 'kB')}"
