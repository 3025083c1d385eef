"""Form fields for the inputs of a run: one per property of a JSON Schema, or one for a JSON object."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from portal.pages.runs.forms.file_field import FileInputField, StoredFile
from portal.pages.runs.forms.schema_fields import field_of
from portal.pages.runs.forms.text_fields import Schema, text_area
from registry.packages.problems import Problem
from registry.packages.schemas.validate import validate

OUTPUT_DIR = "output_dir"
_MAX_FIELDS = 200

Store = Callable[["UploadedFile[bytes]"], StoredFile]


class SchemaForm(forms.Form):
    """One field for each of the first ``_MAX_FIELDS`` properties of ``schema``; cleaned fields become the
    inputs of a run.

    Fields are named ``input-0``, ``input-1`` …, because keys of an untrusted schema may be invalid ids.
    ``unmapped`` contains the given ``inputs`` that have no field.
    """

    def __init__(
        self,
        schema: Schema,
        *,
        inputs: Mapping[str, Any] | None = None,
        artifacts: Sequence[tuple[str, str]] = (),
        **more: Any,
    ) -> None:
        super().__init__(**more)
        self.schema = schema
        self.names: dict[str, str] = {}  # key → field name
        given = defaults(schema) if inputs is None else inputs
        for number, (key, sub, required) in enumerate(properties(schema)):
            name = f"input-{number}"
            field = field_of(key, sub, required=required)
            if key in given:
                value = given[key]
                field.initial = field.initial_value(value) if hasattr(field, "initial_value") else value
                if "\n" in str(field.initial) and type(field.widget) is forms.TextInput:
                    field.widget = text_area(field.widget.attrs)
            if isinstance(field, FileInputField):
                field.widget.artifacts = artifacts
            self.fields[name], self.names[key] = field, name
        self.unmapped = {key: value for key, value in given.items() if key not in self.names}

    def clean(self) -> dict[str, Any]:
        """Validates valid fields against the schema even if others are invalid, to show all errors at
        once.
        """
        cleaned = super().clean() or {}
        if self.errors:
            valid = {
                key: cleaned[name]
                for key, name in self.names.items()
                if cleaned.get(name) is not None and not isinstance(self.fields[name], FileInputField)
            }
            found = validate(self.schema, valid)
            self.add_problems([problem for problem in found if pointer_key(problem.path) in valid])
        return cleaned

    def inputs(self, store: Store) -> dict[str, Any]:
        """The inputs of the run, by property; empty fields are omitted.

        Calls ``store`` for each upload. The form then shows the stored file if the run is refused.
        """
        values: dict[str, Any] = {}
        for key, name in self.names.items():
            value = self.cleaned_data.get(name)
            if isinstance(value, UploadedFile):
                stored = store(value)
                self.fields[name].widget.stored = stored
                value = {"input": stored.uid}
            if value is not None:
                values[key] = value
        return values

    def add_problems(self, problems: Sequence[Problem]) -> None:
        """Adds each problem of a refused request to the field that its path names, otherwise to the form."""
        for problem in problems:
            key = pointer_key(problem.path)
            rest = problem.path.split("/", 2)[2:]
            where = f" ({'/'.join(rest)})" if rest else ""
            error = forms.ValidationError(problem.message(gettext) + where, code=problem.code)
            self.add_error(self.names.get(key) if key else None, error)


def pointer_key(path: str) -> str:
    """The first key of a JSON pointer: "city" for "/city/0"; "" if ``path`` is not a pointer."""
    return path.split("/")[1].replace("~1", "/").replace("~0", "~") if path.startswith("/") else ""


def properties(schema: Schema) -> list[tuple[str, Schema, bool]]:
    """Key, schema and required flag of the first ``_MAX_FIELDS`` properties.

    A local ``$ref`` of a property is replaced by its target, once.
    """
    rows = schema.get("properties")
    if not isinstance(rows, Mapping):
        return []
    names = schema.get("required")
    required = {key for key in names if isinstance(key, str)} if isinstance(names, list) else set()
    return [
        (str(key), _resolve(schema, sub), key in required) for key, sub in list(rows.items())[:_MAX_FIELDS]
    ]


def _resolve(schema: Schema, sub: object) -> Schema:
    if not isinstance(sub, Mapping):
        return {}
    reference = sub.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return sub
    found: Any = schema
    for part in reference[2:].split("/"):
        found = found.get(part) if isinstance(found, Mapping) else None
    return (
        {**found, **{key: value for key, value in sub.items() if key != "$ref"}}
        if isinstance(found, Mapping)
        else sub
    )


def defaults(schema: Schema) -> dict[str, Any]:
    """The constant or default of each property that has one.

    A property ``output_dir`` without default gets "output", so that the files of the run are kept.
    """
    values = {
        key: sub["const"] if "const" in sub else sub["default"]
        for key, sub, _required in properties(schema)
        if "default" in sub or "const" in sub
    }
    if OUTPUT_DIR not in values and any(key == OUTPUT_DIR for key, _sub, _required in properties(schema)):
        values[OUTPUT_DIR] = "output"
    return values


class JsonInputsForm(forms.Form):
    """A text field for the inputs as one JSON object."""

    inputs_json = forms.CharField(
        label=_("Inputs (JSON)"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 6, "class": "code", "spellcheck": "false"}),
    )
    use_required_attribute = False

    def clean_inputs_json(self) -> dict[str, Any]:
        from portal.pages.runs.forms.schema_fields import parse_json

        text = self.cleaned_data["inputs_json"].strip()
        value = parse_json(text) if text else {}
        if not isinstance(value, dict):
            raise forms.ValidationError(_("The inputs must be one JSON object: {…}."), "object")
        return value

    def inputs(self, store: Store) -> dict[str, Any]:
        return dict(self.cleaned_data["inputs_json"])

    def add_problems(self, problems: Sequence[Problem]) -> None:
        for problem in problems:
            where = f"{problem.path}: " if problem.path else ""
            error = forms.ValidationError(where + problem.message(gettext), code=problem.code)
            self.add_error("inputs_json", error)
