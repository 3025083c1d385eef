"""Form fields for JSON Schema properties.

A field cleans to a JSON value (file fields also to an UploadedFile), or to None if it is empty.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from portal.pages.runs.forms.file_field import FileInputField
from portal.pages.runs.forms.nested.shape import type_of
from portal.pages.runs.forms.text_fields import Schema, text_field
from portal.presenters.content.punctuation import sentences
from portal.presenters.content.text import json_text
from worker.files.inputs import is_file_property

_MAX_RADIOS = 4  # choices; more get a select
_MAX_CHOICES = 500
_MAX_LABEL, _MAX_HELP, _MAX_SCHEMA = 200, 1_000, 4_000  # characters
_MAX_BOUND = 10**300
NULL = object()  # the cleaned value of a field that contains null, as None means an empty field


class IntegerField(forms.IntegerField):
    def holds(self, value: object) -> bool:
        """Whether the control shows the value and sends it back unchanged."""
        return isinstance(value, int) and not isinstance(value, bool)


class NumberField(forms.FloatField):
    """Cleans to an int if the text has no decimal point or exponent, otherwise to a float."""

    def to_python(self, value: Any) -> Any:
        try:
            return int(str(value))
        except ValueError:
            return super().to_python(value)

    def holds(self, value: object) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool)


class SwitchField(forms.BooleanField):
    def initial_value(self, value: object) -> object:
        return bool(value)

    def holds(self, value: object) -> bool:
        return isinstance(value, bool)


class ChoiceField(forms.ChoiceField):
    """A choice among the schema's values, of any JSON type. The values of the HTML options are JSON."""

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return _marked(json.loads(text)) if text else None

    def initial_value(self, value: object) -> object:
        return json.dumps(value)

    def holds(self, value: object) -> bool:
        return any(value_ == json.dumps(value) for value_, _label in _flat(self.choices))


class ChoicesField(forms.MultipleChoiceField):
    widget = forms.CheckboxSelectMultiple

    def clean(self, value: Any) -> Any:
        return [json.loads(text) for text in super().clean(value)] or None

    def initial_value(self, value: object) -> object:
        return [json.dumps(item) for item in value] if isinstance(value, list) else []

    def holds(self, value: object) -> bool:
        """The boxes send their values in the order of the page."""
        if not isinstance(value, list) or not value:
            return False
        chosen = {json.dumps(item) for item in value}
        return [text for text, _label in _flat(self.choices) if text in chosen] == self.initial_value(value)


class JsonField(forms.CharField):
    """Cleans to any JSON value, for schemas without a control of their own."""

    widget = forms.Textarea
    sub_schema = ""

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return _marked(parse_json(text)) if text.strip() else None

    def initial_value(self, value: object) -> object:
        return json_text(value)

    def holds(self, value: object) -> bool:
        return True


class LinesField(forms.CharField):
    """Cleans to a list of scalars, one per line. Text that starts with ``[`` is parsed as a JSON array
    instead.
    """

    widget = forms.Textarea

    def __init__(self, *, item_type: str, **more: Any) -> None:
        super().__init__(**more)
        self.item_type = item_type

    def clean(self, value: Any) -> Any:
        text = super().clean(value).strip()
        if text.startswith("["):
            return parse_json(text)
        return [self._item(line.strip()) for line in text.splitlines() if line.strip()] or None

    def _item(self, line: str) -> Any:
        if self.item_type == "string":
            return line
        value = parse_json(line)
        if isinstance(value, bool) != (self.item_type == "boolean") or not isinstance(value, int | float):
            raise ValidationError(
                _("“%(line)s” is not of type %(type)s."),
                "invalid",
                {"line": line, "type": self.item_type},
            )
        return value

    def initial_value(self, value: object) -> object:
        if not isinstance(value, list) or not value:
            return json_text(value)
        lines = [item if isinstance(item, str) else json.dumps(item) for item in value]
        is_plain = all(line == line.strip() and len(line.splitlines()) == 1 for line in lines)
        is_plain = is_plain and all(map(self._is_item, value)) and "\x00" not in "".join(lines)
        return "\n".join(lines) if is_plain and not "".join(lines).startswith("[") else json_text(value)

    def _is_item(self, value: object) -> bool:
        kinds = {"string": str, "boolean": bool}
        if kind := kinds.get(self.item_type):
            return isinstance(value, kind)
        return isinstance(value, int | float) and not isinstance(value, bool)

    def holds(self, value: object) -> bool:
        return isinstance(value, list)


def _marked(value: Any) -> Any:
    return NULL if value is None else value


def _flat(choices: Any) -> list[tuple[str, Any]]:
    return list(choices)


def parse_json(text: str) -> Any:
    """The JSON value of the text. Raises ValidationError for invalid JSON, NaN, Infinity and too deep
    nesting.
    """
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ValidationError(
            _("Invalid JSON: %(reason)s at line %(line)d, column %(column)d."),
            "json",
            {"reason": error.msg, "line": error.lineno, "column": error.colno},
        ) from None
    except (ValueError, RecursionError):
        raise ValidationError(_("Invalid JSON."), "json") from None


def _no_constant(name: str) -> None:
    raise ValueError(name)


def field_of(key: str, schema: Schema, *, required: bool) -> forms.Field:
    """The field for one value: a control for its type, otherwise a ``JsonField``.

    The field has the attribute ``key``. A ``JsonField`` has ``sub_schema``, its schema as JSON, which is ""
    for a long one.
    """
    return _with_hint(_field(key, schema, _common(key, schema, required)), key, schema)


def choice_count(schema: Schema) -> int:
    """The number of choices in the field for the schema."""
    items = schema.get("items")
    rows = [schema.get(name) for name in ("enum", "oneOf", "anyOf")]
    rows.append(items.get("enum") if isinstance(items, Mapping) else None)
    return max(len(each) if isinstance(each, list) else 0 for each in rows)


def json_field(key: str, schema: Schema, *, required: bool) -> forms.Field:
    """The field for the value as JSON, whatever its type."""
    return _with_hint(_json(_common(key, schema, required)), key, schema)


def _common(key: str, schema: Schema, required: bool) -> dict[str, Any]:
    return {
        "required": required,
        "label": str(schema.get("title") or key)[:_MAX_LABEL],
        "help_text": str(schema.get("description") or "")[:_MAX_HELP],
    }


def _with_hint(field: forms.Field, key: str, schema: Schema) -> forms.Field:
    field.help_text = sentences((field.help_text, _format_hint(field)))
    field.key = key[:_MAX_LABEL]  # type: ignore[attr-defined]
    if isinstance(field, JsonField):
        field.sub_schema = json_text(schema) if _is_short(schema) else ""
    return field


def _is_short(schema: Schema) -> bool:
    """Whether the schema's JSON has at most about ``_MAX_SCHEMA`` characters."""
    size, pending = 0, list[Any]([schema])
    while pending and size <= _MAX_SCHEMA:
        value: Any = pending.pop()
        size += 4 + (len(value) if isinstance(value, str) else 0)
        if isinstance(value, Mapping):
            pending += [*value, *value.values()] if len(value) < _MAX_SCHEMA else [" " * _MAX_SCHEMA]
        elif isinstance(value, list):
            pending += value[:_MAX_SCHEMA]
    return size <= _MAX_SCHEMA


def _format_hint(field: forms.Field) -> Any:
    if isinstance(field, LinesField):
        return _("One per line.")
    return _("Enter a JSON value.") if isinstance(field, JsonField) else ""


def _field(key: str, schema: Schema, common: dict[str, Any]) -> forms.Field:
    if is_file_property(key, schema):
        return FileInputField(**common)
    if choices := _values(schema):
        return _choice(_choices(choices, blank=not common["required"]), common)
    if rows := _titled_constants(schema):
        return _choice(
            [("", "—"), *rows] if not common["required"] or len(rows) > _MAX_RADIOS else rows, common
        )
    kind = type_of(schema)
    if kind == "string":
        return text_field(key, schema, common)
    if kind in ("integer", "number"):
        return _number(schema, kind, common)
    if kind == "boolean":
        return _boolean(schema, common)
    if kind == "array":
        return _list(schema, common)
    return _json(common)


def _values(schema: Schema) -> Sequence[Any]:
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return values if isinstance(values, list) and len(values) <= _MAX_CHOICES else []


def _titled_constants(schema: Schema) -> list[tuple[str, Any]]:
    """The choices of a ``oneOf`` or ``anyOf`` whose branches are constants with titles."""
    rows = schema.get("oneOf") or schema.get("anyOf")
    if not isinstance(rows, list) or not 1 < len(rows) <= _MAX_CHOICES:
        return []
    if not all(isinstance(row, Mapping) and "const" in row for row in rows):
        return []
    return [(json.dumps(row["const"]), str(row.get("title") or row["const"])[:_MAX_LABEL]) for row in rows]


def _choices(values: Sequence[Any], *, blank: bool) -> list[tuple[str, Any]]:
    rows = [
        (json.dumps(value), value if isinstance(value, str) and value else json_text(value))
        for value in values
    ]
    return [("", "—"), *rows] if blank or len(rows) > _MAX_RADIOS else rows


def _choice(choices: list[tuple[str, Any]], common: dict[str, Any]) -> ChoiceField:
    """Radio buttons for few choices, otherwise a select; a required single choice is selected."""
    if sum(value != "" for value, _label in choices) > _MAX_RADIOS:
        return ChoiceField(choices=choices, **common)
    field = ChoiceField(choices=choices, widget=forms.RadioSelect, **common)
    field.initial = choices[0][0] if choices[0][0] == "" or len(choices) == 1 else None
    return field


def _number(schema: Schema, kind: str, common: dict[str, Any]) -> forms.Field:
    least, most = _bound(schema.get("minimum")), _bound(schema.get("maximum"))
    if kind == "integer":
        above, below = _bound(schema.get("exclusiveMinimum")), _bound(schema.get("exclusiveMaximum"))
        least = math.floor(above) + 1 if least is None and above is not None else least
        most = math.ceil(below) - 1 if most is None and below is not None else most
    step = _bound(schema.get("multipleOf"))
    fits = step is not None and step > 0 and (least is None or least % step == 0)
    attributes = {"step": step if fits else 1 if kind == "integer" else "any"}
    field = IntegerField if kind == "integer" else NumberField
    widget = forms.NumberInput(attrs=attributes)
    bounds: dict[str, Any] = {"min_value": least, "max_value": most}
    return field(widget=widget, **bounds, **common)


def _bound(value: object) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if -_MAX_BOUND < value < _MAX_BOUND else None


def _boolean(schema: Schema, common: dict[str, Any]) -> forms.Field:
    if common["required"] or isinstance(schema.get("default"), bool):
        return SwitchField(**common | {"required": False})
    return _choice([("", "—"), ("true", _("Yes")), ("false", _("No"))], common)


def _list(schema: Schema, common: dict[str, Any]) -> forms.Field:
    items = schema.get("items")
    if not isinstance(items, Mapping):
        return _json(common)
    if values := _values(items):
        return ChoicesField(choices=_choices(values, blank=False)[-len(values) :], **common)
    kind = type_of(items)
    if kind not in ("string", "integer", "number", "boolean"):
        return _json(common)
    return LinesField(item_type=kind, widget=forms.Textarea(attrs={"rows": 3, "class": "grows"}), **common)


def _json(common: dict[str, Any]) -> forms.Field:
    attributes = {"rows": 5, "class": "code", "spellcheck": "false"}
    return JsonField(widget=forms.Textarea(attrs=attributes), **common)
