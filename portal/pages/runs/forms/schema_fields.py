"""Form fields for JSON Schema properties.

A field cleans to a JSON value (file fields also to an UploadedFile), or to None if it is empty.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from portal.pages.runs.forms.file_field import FileInputField
from portal.presenters.content.text import json_text
from worker.files.inputs import is_file_property

Schema = Mapping[str, Any]
MAX_ONE_LINE = 120  # characters; longer texts get a text area
_ONE_LINE_TYPES = {"email": "email", "idn-email": "email", "uri": "url", "iri": "url", "date": "date"}


_LONG_TEXTS = (  # parts of the names of inputs that can have several lines
    *(
        "text",
        "content",
        "body",
        "note",
        "message",
        "prompt",
        "question",
        "description",
        "comment",
        "summary",
    ),
    *("code", "script", "source", "markdown", "html", "xml", "json", "yaml", "csv", "sql", "data", "input"),
    *("log", "diff", "patch", "template", "document", "article", "transcript", "lines", "list", "rows"),
    *("文本", "内容", "正文", "备注", "描述", "代码", "文章", "数据"),
)


class TextField(forms.CharField):
    """Cleans to text with LF line endings (browsers send CRLF), or to None if empty."""

    def to_python(self, value: Any) -> str | None:
        text = super().to_python(value)
        return text.replace("\r\n", "\n") if text else None

    def initial_value(self, value: object) -> object:
        return value if isinstance(value, str) else json_text(value)


class NumberField(forms.FloatField):
    """Cleans to an int if the text has no decimal point or exponent, otherwise to a float."""

    def to_python(self, value: Any) -> Any:
        try:
            return int(str(value))
        except ValueError:
            return super().to_python(value)


class SwitchField(forms.BooleanField):
    def initial_value(self, value: object) -> object:
        return bool(value)


class ChoiceField(forms.ChoiceField):
    """A choice among the schema's values, of any JSON type. The values of the HTML options are JSON."""

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return json.loads(text) if text else None

    def initial_value(self, value: object) -> object:
        return json.dumps(value)


class ChoicesField(forms.MultipleChoiceField):
    widget = forms.CheckboxSelectMultiple

    def clean(self, value: Any) -> Any:
        return [json.loads(text) for text in super().clean(value)] or None

    def initial_value(self, value: object) -> object:
        return [json.dumps(item) for item in value] if isinstance(value, list) else []


class JsonField(forms.CharField):
    """Cleans to any JSON value, for schemas without a control of their own."""

    widget = forms.Textarea

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return parse_json(text) if text.strip() else None

    def initial_value(self, value: object) -> object:
        return json_text(value)


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
        if not isinstance(value, list):
            return json_text(value)
        lines = [item if isinstance(item, str) else json.dumps(item) for item in value]
        is_plain = all(line == line.strip() and len(line.splitlines()) == 1 for line in lines)
        return "\n".join(lines) if is_plain and not "".join(lines).startswith("[") else json_text(value)


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
    """The field for one property: a control for its type, otherwise a ``JsonField``.

    The field has two more attributes, ``key`` and ``sub_schema``. The latter is the property's schema as JSON
    for a ``JsonField``, and "" for other fields.
    """
    common = {
        "required": required,
        "label": str(schema.get("title") or key),
        "help_text": str(schema.get("description") or ""),
    }
    field = _field(key, schema, common)
    field.help_text = " ".join(str(text) for text in (field.help_text, _format_hint(field)) if text)
    field.key, field.sub_schema = key, json_text(schema) if isinstance(field, JsonField) else ""  # type: ignore[attr-defined]
    return field


def _format_hint(field: forms.Field) -> Any:
    if isinstance(field, LinesField):
        return _("One per line.")
    return _("Enter a JSON value.") if isinstance(field, JsonField) else ""


def _field(key: str, schema: Schema, common: dict[str, Any]) -> forms.Field:
    if is_file_property(key, schema):
        return FileInputField(**common)
    if choices := _values(schema):
        return ChoiceField(choices=_choices(choices, blank=not common["required"]), **common)
    kind = _type(schema)
    if kind == "string":
        return TextField(
            widget=_text_widget(key, schema),
            strip=False,
            max_length=_length_limit(schema, "maxLength"),
            **common,
        )
    if kind in ("integer", "number"):
        return _number(schema, kind, common)
    if kind == "boolean":
        return _boolean(schema, common)
    if kind == "array":
        return _list(schema, common)
    return _json(common)


def _type(schema: Schema) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        real = [name for name in kind if name != "null"]
        return str(real[0]) if len(real) == 1 else ""
    return kind if isinstance(kind, str) else ""


def _values(schema: Schema) -> Sequence[Any]:
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return values if isinstance(values, list) and len(values) <= 500 else []


def _choices(values: Sequence[Any], *, blank: bool) -> list[tuple[str, Any]]:
    rows = [
        (json.dumps(value), value if isinstance(value, str) and value else json_text(value))
        for value in values
    ]
    return [("", "—"), *rows] if blank or len(rows) > 1 else rows


def _text_widget(key: str, schema: Schema) -> forms.Widget:
    attributes: dict[str, Any] = {}
    examples = schema.get("examples")
    if isinstance(examples, list) and examples and isinstance(examples[0], str):
        attributes["placeholder"] = examples[0].splitlines()[0][:MAX_ONE_LINE] if examples[0] else ""
    if schema.get("format") == "password" or schema.get("writeOnly") is True:
        return forms.PasswordInput(attrs=attributes | {"autocomplete": "off"})
    if kind := _ONE_LINE_TYPES.get(str(schema.get("format"))):
        return forms.TextInput(attrs=attributes | {"type": kind})
    if _has_one_line(key, schema):
        return forms.TextInput(attrs=attributes)
    return text_area(attributes)


def text_area(attributes: Mapping[str, Any]) -> forms.Textarea:
    return forms.Textarea(attrs={**attributes, "rows": 1, "class": "grows"})


def _has_one_line(key: str, schema: Schema) -> bool:
    """Whether a text input fits. It removes line breaks, so texts that may contain line breaks need a text
    area.
    """
    if schema.get("format") or schema.get("pattern"):
        return True
    if limit := _length_limit(schema, "maxLength"):
        return limit <= MAX_ONE_LINE
    given = [schema.get("default"), *(_list_of(schema.get("examples")))]
    has_break = any(isinstance(value, str) and "\n" in value for value in given)
    words = f"{key} {schema.get('title', '')}".lower()
    return not has_break and not any(word in words for word in _LONG_TEXTS)


def _list_of(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _length_limit(schema: Schema, name: str) -> int | None:
    value = schema.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _number(schema: Schema, kind: str, common: dict[str, Any]) -> forms.Field:
    bounds: dict[str, Any] = {
        "min_value": _bound(schema.get("minimum")),
        "max_value": _bound(schema.get("maximum")),
    }
    if kind == "integer":
        return forms.IntegerField(**bounds, **common)
    return NumberField(widget=forms.NumberInput(attrs={"step": "any"}), **bounds, **common)


def _bound(value: object) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _boolean(schema: Schema, common: dict[str, Any]) -> forms.Field:
    if common["required"] or isinstance(schema.get("default"), bool):
        return SwitchField(**common | {"required": False})
    return ChoiceField(choices=[("", "—"), ("true", _("Yes")), ("false", _("No"))], **common)


def _list(schema: Schema, common: dict[str, Any]) -> forms.Field:
    items = schema.get("items")
    if not isinstance(items, Mapping):
        return _json(common)
    if values := _values(items):
        return ChoicesField(choices=_choices(values, blank=False)[-len(values) :], **common)
    kind = _type(items)
    if kind not in ("string", "integer", "number", "boolean"):
        return _json(common)
    return LinesField(item_type=kind, widget=forms.Textarea(attrs={"rows": 3, "class": "grows"}), **common)


def _json(common: dict[str, Any]) -> forms.Field:
    attributes = {"rows": 5, "class": "code", "spellcheck": "false"}
    return JsonField(widget=forms.Textarea(attrs=attributes), **common)
