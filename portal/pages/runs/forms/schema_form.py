"""Form fields for the inputs of a run: one per property of a JSON Schema, or one for a JSON object."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from portal.pages.runs.forms.file_field import FileInputField, StoredFile
from portal.pages.runs.forms.nested.builder import MAX_FIELDS, FormBuilder, submitted
from portal.pages.runs.forms.nested.nodes import FormPart
from portal.pages.runs.forms.nested.shape import properties
from portal.pages.runs.forms.text_fields import Schema
from portal.presenters.content.punctuation import labelled, with_aside
from registry.packages.problems import Problem
from registry.packages.schemas.validate import validate

OUTPUT_DIR = "output_dir"

Store = Callable[["UploadedFile[bytes]"], StoredFile]


class FilesForm(forms.Form):
    """A form whose cleaned values can be uploads."""

    def keep_uploads(self, store: Store) -> None:
        """Stores the valid uploads and uses references to them instead, which the form shows when it is drawn
        again.
        """
        for name, value in self.cleaned_data.items():
            if isinstance(value, UploadedFile):
                self.fields[name].widget.stored = stored = store(value)
                self.cleaned_data[name] = {"input": stored.uid}


class SchemaForm(FilesForm):
    """Fields for the first 200 properties of ``schema``; cleaned fields become the inputs of a run.

    Fields are named ``input-0``, ``input-1`` …, because keys of an untrusted schema may be invalid ids.
    ``root`` is the tree of the fields. ``unmapped`` contains the given ``inputs`` that have no field.
    """

    def __init__(
        self,
        schema: Schema,
        *,
        inputs: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(**more)
        self.schema = schema
        builder = FormBuilder(self, schema)
        self.root = builder.root_group(inputs, defaults(schema))
        keys = {node.key for node in self.root.children}
        self.unmapped = {key: value for key, value in (inputs or {}).items() if key not in keys}
        if builder.defaults:
            sent = self.data.lists() if isinstance(self.data, MultiValueDict) else ()
            self.data = MultiValueDict(
                [*sent, *((name, submitted(field)) for name, field in builder.defaults.items())]
            )

    @property
    def nodes(self) -> list[FormPart]:
        return self.root.children

    def clean(self) -> dict[str, Any]:
        """Validates valid fields against the schema even if others are invalid, to show all errors at
        once.
        """
        cleaned = super().clean() or {}
        self.root.check(lambda name, upload: upload)
        if self.errors:
            valid = self.root.value(lambda name, upload: None)
            self.add_problems([each for each in validate(self.schema, valid) if self._concerns(each, valid)])
        return cleaned

    def _concerns(self, problem: Problem, values: Any) -> bool:
        """Whether the problem is that of one valid field, so that no missing value can be its reason."""
        node, rest = self.root.at(pointer_parts(problem.path))
        if node.kind != "field" or node.name in self.errors or self.cleaned_data.get(node.name) is None:
            return False
        return not rest or not isinstance(self.fields[node.name], FileInputField)

    def inputs(self, store: Store) -> dict[str, Any]:
        """The inputs of the run, by property; empty fields are omitted.

        Calls ``store`` for each upload. The form then shows the stored file if the run is refused.
        """

        def stored_file(name: str, upload: UploadedFile[bytes]) -> dict[str, str]:
            self.fields[name].widget.stored = stored = store(upload)
            return {"input": stored.uid}

        return dict(self.root.value(stored_file))

    def add_problems(self, problems: Sequence[Problem]) -> None:
        """Adds each problem of a refused request to the field that its path names, otherwise to the form."""
        for problem in problems:
            node, rest = self.root.at(pointer_parts(problem.path))
            message = problem.message(gettext)
            text = with_aside(message, "/".join(rest)) if rest else message
            error = forms.ValidationError(text, code=problem.code)
            self.add_error(node.name if node.name in self.fields else None, error)


def pointer_parts(path: str) -> list[str]:
    """The parts of a JSON pointer: ["city", "0"] for "/city/0"; [] if ``path`` is not a pointer."""
    parts = path.split("/")[1:] if path.startswith("/") else []
    return [part.replace("~1", "/").replace("~0", "~") for part in parts]


def pointer_key(path: str) -> str:
    """The first key of a JSON pointer: "city" for "/city/0"; "" if ``path`` is not a pointer."""
    return next(iter(pointer_parts(path)), "")


def defaults(schema: Schema) -> dict[str, Any]:
    """The constant or default of each property that has one.

    A property ``output_dir`` without default gets "output", so that the files of the run are kept.
    """
    rows = list(islice(properties(schema, schema), MAX_FIELDS))
    values = {
        key: sub["const"] if "const" in sub else sub["default"]
        for key, sub, _required in rows
        if "default" in sub or "const" in sub
    }
    if OUTPUT_DIR not in values and any(key == OUTPUT_DIR for key, _sub, _required in rows):
        values[OUTPUT_DIR] = "output"
    return values


class JsonInputsForm(FilesForm):
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
            message = problem.message(gettext)
            text = labelled(problem.path, message) if problem.path else message
            error = forms.ValidationError(text, code=problem.code)
            self.add_error("inputs_json", error)
