"""The form for a script without an input schema: rows of names with values or files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from portal.pages.runs.forms.file_field import FileChoice, FileInputField, StoredFile
from portal.pages.runs.forms.schema_form import FilesForm, Store, pointer_key
from portal.presenters.content.text import json_text
from registry.packages.problems import Problem
from worker.files.inputs import is_reference

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
BLANK_ROWS = 3
_MAX_ROWS = 100


class ArgumentsForm(FilesForm):
    """A form with rows of two fields, such as ``key-0`` and ``value-0``: the name and the value of an
    argument.

    The script gets the argument ``input_path`` as ``--input-path``.
    """

    use_required_attribute = False

    def __init__(
        self,
        *,
        inputs: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(**more)
        given = list((inputs or {}).items())
        for number in range(min(self._row_count(len(given)), _MAX_ROWS)):
            key, value = given[number] if number < len(given) else ("", None)
            self._add_row(number, key, value)

    def _row_count(self, given: int) -> int:
        sent = str(self.data.get("rows", "")) if self.is_bound else ""
        rows = int(sent) if sent.isascii() and sent.isdigit() and len(sent) < 4 else given + BLANK_ROWS
        return rows + BLANK_ROWS if self.data.get("add_rows") else rows

    def _add_row(self, number: int, key: str, value: object) -> None:
        name = forms.CharField(
            label=_("Name"),
            required=False,
            initial=key,
            widget=forms.TextInput(attrs={"class": "code", "autocapitalize": "off"}),
        )
        content = FileInputField(label=_("Value"), required=False)
        content.widget.text_first = True
        if value is not None:
            content.initial = content.initial_value(
                value if isinstance(value, str) or is_reference(value) else json_text(value, indent=None)
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
                self.add_error(f"key-{number}", _("Enter a name for this argument."))
            elif key and not _KEY.fullmatch(key):
                self.add_error(
                    f"key-{number}",
                    _("A name must contain only letters, digits and “_”, and start with a letter."),
                )
            elif key in seen:
                self.add_error(
                    f"key-{number}", _("Another argument already has this name. Choose a different one.")
                )
            seen.add(key) if key else None
        return self.cleaned_data

    def inputs(self, store: Store) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for number in range(len(self.fields) // 2):
            value = self.cleaned_data[f"value-{number}"]
            if isinstance(value, UploadedFile):
                stored: StoredFile = store(value)
                self.fields[f"value-{number}"].widget.stored = stored
                value = {"input": stored.uid}
            key = self.cleaned_data[f"key-{number}"]
            if key and not (value is None and self._has_removed_file(number)):
                values[key] = "" if value is None else value
        return values

    def _has_removed_file(self, number: int) -> bool:
        choice = self[f"value-{number}"].value()
        return isinstance(choice, FileChoice) and choice.is_removed

    def add_problems(self, problems: Sequence[Problem]) -> None:
        """Adds each problem of a refused request to the row that its path names, otherwise to the form."""
        keys = {self.cleaned_data.get(f"key-{n}"): f"key-{n}" for n in range(len(self.fields) // 2)}
        for problem in problems:
            error = forms.ValidationError(problem.message(gettext), code=problem.code)
            self.add_error(keys.get(pointer_key(problem.path) or None), error)
