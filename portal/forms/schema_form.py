"""A Django form from a JSON Schema: its fields, its defaults, and the way back from a validator's paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from portal.forms.file_field import FileInputField, Kept
from portal.forms.schema_fields import Schema, field_of
from registry.packages.problems import Problem
from registry.packages.schemas import validate

OUTPUT_DIR = "output_dir"
_MOST_FIELDS = 200

Store = Callable[["UploadedFile[bytes]"], Kept]


class SchemaForm(forms.Form):
    """One field a property of ``schema``; cleaned fields become the inputs of a run.

    Fields are named ``input-0``, ``input-1`` …, so that any key of a stranger's schema makes a sound id.
    """

    use_required_attribute = False

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
                field.initial = field.shown(given[key])  # type: ignore[attr-defined]
            if isinstance(field, FileInputField):
                field.widget.artifacts = artifacts
            self.fields[name], self.names[key] = field, name
        self.left_over = {key: value for key, value in given.items() if key not in self.names}

    def clean(self) -> dict[str, Any]:
        """Where some fields are wrong, the rest is held to the schema too, so that all is said at once."""
        cleaned = super().clean() or {}
        if self.errors:
            told = {
                key: cleaned[name]
                for key, name in self.names.items()
                if cleaned.get(name) is not None and not isinstance(self.fields[name], FileInputField)
            }
            found = validate(self.schema, told)
            self.take([problem for problem in found if pointer_key(problem.path) in told])
        return cleaned

    def inputs(self, store: Store) -> dict[str, Any]:
        """What the run gets; uploaded files are stored first, and kept should the run then be refused."""
        values: dict[str, Any] = {}
        for key, name in self.names.items():
            value = self.cleaned_data.get(name)
            if isinstance(value, UploadedFile):
                kept = store(value)
                self.fields[name].widget.kept = kept
                value = {"input": kept.uid}
            if value is not None:
                values[key] = value
        return values

    def take(self, problems: Sequence[Problem]) -> None:
        """Puts each problem of a refused call to the field that its path names."""
        for problem in problems:
            key = pointer_key(problem.path)
            rest = problem.path.split("/", 2)[2:]
            where = f" ({'/'.join(rest)})" if rest else ""
            self.add_error(self.names.get(key) if key else None, problem.message(gettext) + where)


def pointer_key(path: str) -> str:
    """The first key of a JSON pointer such as "/city/0"."""
    return path.split("/")[1].replace("~1", "/").replace("~0", "~") if path.startswith("/") else ""


def properties(schema: Schema) -> list[tuple[str, Schema, bool]]:
    """Each property with its schema, a local reference followed once, and whether it must be there."""
    rows = schema.get("properties")
    if not isinstance(rows, Mapping):
        return []
    wanted = schema.get("required")
    required = {key for key in wanted if isinstance(key, str)} if isinstance(wanted, list) else set()
    return [
        (str(key), _resolved(schema, sub), key in required) for key, sub in list(rows.items())[:_MOST_FIELDS]
    ]


def _resolved(schema: Schema, sub: object) -> Schema:
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
    """What the author would fill in; the folder for files is always asked for, so that they are kept."""
    values = {
        key: sub["const"] if "const" in sub else sub["default"]
        for key, sub, _required in properties(schema)
        if "default" in sub or "const" in sub
    }
    if OUTPUT_DIR not in values and any(key == OUTPUT_DIR for key, _sub, _required in properties(schema)):
        values[OUTPUT_DIR] = "output"
    return values


class JsonInputsForm(forms.Form):
    """The same inputs as one JSON object."""

    inputs_json = forms.CharField(
        label=_("Inputs as JSON"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 6, "class": "code", "spellcheck": "false"}),
    )
    use_required_attribute = False

    def clean_inputs_json(self) -> dict[str, Any]:
        from portal.forms.schema_fields import parse_json

        text = self.cleaned_data["inputs_json"].strip()
        value = parse_json(text) if text else {}
        if not isinstance(value, dict):
            raise forms.ValidationError(_("The inputs are one JSON object: {…}."), "object")
        return value

    def inputs(self, store: Store) -> dict[str, Any]:
        return dict(self.cleaned_data["inputs_json"])

    def take(self, problems: Sequence[Problem]) -> None:
        for problem in problems:
            where = f"{problem.path}: " if problem.path else ""
            self.add_error("inputs_json", where + problem.message(gettext))
