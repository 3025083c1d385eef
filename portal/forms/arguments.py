"""The form for a script without a schema: rows of names with values or files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from portal.forms.file_field import FileInputField, Kept
from portal.forms.schema_form import Store, pointer_key
from portal.showing.texts import json_text
from registry.packages.problems import Problem
from worker.inputs import is_file_property

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
BLANK_ROWS = 3
_MOST_ROWS = 100


class ArgumentsForm(forms.Form):
    """Rows ``key-0``, ``value-0`` …: ``input_path`` is given to the script as ``--input-path``."""

    use_required_attribute = False

    def __init__(
        self,
        *,
        inputs: Mapping[str, Any] | None = None,
        artifacts: Sequence[tuple[str, str]] = (),
        **more: Any,
    ) -> None:
        super().__init__(**more)
        given = list((inputs or {}).items())
        for number in range(min(self._row_count(len(given)), _MOST_ROWS)):
            key, value = given[number] if number < len(given) else ("", None)
            self._add_row(number, key, value, artifacts)

    def _row_count(self, given: int) -> int:
        asked = str(self.data.get("rows", "")) if self.is_bound else ""
        rows = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 4 else given + BLANK_ROWS
        return rows + BLANK_ROWS if self.data.get("more") else rows

    def _add_row(self, number: int, key: str, value: object, artifacts: Sequence[tuple[str, str]]) -> None:
        name = forms.CharField(
            label=_("Name"),
            required=False,
            initial=key,
            widget=forms.TextInput(attrs={"class": "code", "autocapitalize": "off"}),
        )
        content = FileInputField(label=_("Value"), required=False)
        content.widget.text_first = True
        content.widget.artifacts = artifacts
        if value is not None:
            content.initial = content.shown(
                value if isinstance(value, str) or _is_file_value(value) else json_text(value, indent=None)
            )
        self.fields[f"key-{number}"], self.fields[f"value-{number}"] = name, content

    @property
    def rows(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
        return [(self[f"key-{n}"], self[f"value-{n}"]) for n in range(len(self.fields) // 2)]

    def clean(self) -> dict[str, Any]:
        seen: set[str] = set()
        for number in range(len(self.fields) // 2):
            key = self.cleaned_data.get(f"key-{number}") or ""
            if not key and self.cleaned_data.get(f"value-{number}") is not None:
                self.add_error(f"key-{number}", _("Name this argument."))
            elif key and not _KEY.fullmatch(key):
                self.add_error(
                    f"key-{number}", _("A name has letters, digits and “_”, and begins with a letter.")
                )
            elif self._is_misnamed_file(number, key):
                self.add_error(f"key-{number}", _("The name of a file ends in “_path” or “_file”."))
            elif key in seen:
                self.add_error(f"key-{number}", _("This name is given twice."))
            seen.add(key) if key else None
        return self.cleaned_data

    def _is_misnamed_file(self, number: int, key: str) -> bool:
        value = self.cleaned_data.get(f"value-{number}")
        return value is not None and not isinstance(value, str) and not is_file_property(key, None)

    def inputs(self, store: Store) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for number in range(len(self.fields) // 2):
            value = self.cleaned_data[f"value-{number}"]
            if isinstance(value, UploadedFile):
                kept: Kept = store(value)
                self.fields[f"value-{number}"].widget.kept = kept
                value = {"input": kept.uid}
            if key := self.cleaned_data[f"key-{number}"]:
                values[key] = "" if value is None else value
        return values

    def take(self, problems: Sequence[Problem]) -> None:
        """Puts each problem of a refused call to the row whose name its path holds."""
        keys = {self.cleaned_data.get(f"key-{n}"): f"key-{n}" for n in range(len(self.fields) // 2)}
        for problem in problems:
            self.add_error(keys.get(pointer_key(problem.path) or None), problem.message(gettext))


def _is_file_value(value: object) -> bool:
    return isinstance(value, Mapping) and bool({"input", "artifact"} & set(value))
