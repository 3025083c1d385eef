"""Form fields for strings of a JSON Schema: one line, several lines, dates and times."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.presenters.content.text import json_text

Schema = Mapping[str, Any]
MAX_ONE_LINE = 200  # characters; longer texts get a text area
MAX_HINT = 120
_INPUT_TYPES = {"email": "email", "idn-email": "email", "uri": "url", "iri": "url", "date": "date"}
_INPUT_TYPES |= {"date-time": "datetime-local", "time": "time"}
_LONG_FORMATS = {"multiline", "multi-line", "textarea", "text", "markdown", "html", "json", "yaml", "csv"}
_LONG_NAMES = {  # last words of the names of inputs that can have several lines
    *("text", "content", "contents", "body", "note", "notes", "message", "prompt", "instructions"),
    *("description", "comment", "comments", "summary", "code", "snippet", "markdown", "html", "xml"),
    *("json", "yaml", "csv", "sql", "log", "logs", "diff", "patch", "transcript", "article", "lines"),
}
_LONG_ENDINGS = ("文本", "文字", "内容", "正文", "备注", "描述", "说明", "代码", "文章", "日志", "提示词")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_UNSENDABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f]")  # controls that browsers change or forms refuse
_ISO = {
    "date": re.compile(r"\d{4}-\d\d-\d\d"),
    "datetime-local": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?"),
    "time": re.compile(r"\d\d:\d\d(:\d\d)?"),
}


class TextField(forms.CharField):
    """Cleans to text with LF line endings (browsers send CRLF), or to None if empty."""

    def to_python(self, value: Any) -> str | None:
        text = super().to_python(value)
        return text.replace("\r\n", "\n") if text else None

    def initial_value(self, value: object) -> object:
        return value if isinstance(value, str) else json_text(value)

    def holds(self, value: object) -> bool:
        """Whether the control shows the value and sends it back unchanged."""
        if not isinstance(value, str) or not value or _UNSENDABLE.search(value):
            return False
        return getattr(self.widget, "input_type", "") not in ("email", "url") or value == value.strip()


class TimeField(TextField):
    """Cleans the local value of a date or time input to a value of the schema's format, in UTC.

    Any other text is kept, so that the schema's validator reports it at the field.
    """

    def to_python(self, value: Any) -> str | None:
        text = super().to_python(value)
        for kind, pattern in _ISO.items():
            if text and kind != "date" and pattern.fullmatch(text.strip()):
                clock = text.strip()
                return f"{clock if len(clock.partition('T')[2] or clock) == 8 else clock + ':00'}Z"
        return text

    def initial_value(self, value: object) -> object:
        """The value without its zone; the control becomes a text input for a value that it can't show."""
        text = value if isinstance(value, str) else json_text(value)
        kind = str(self.widget.input_type)
        shown = text.removesuffix("Z") if kind != "date" else text
        if not _is_valid(kind, shown) or self.to_python(shown) != text:
            self.widget.input_type = "text"
            return text
        return shown


def _is_valid(kind: str, text: str) -> bool:
    if not _ISO[kind].fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text if kind != "time" else f"2000-01-01T{text}").replace(tzinfo=UTC)
    except ValueError:
        return False
    return True


def text_field(key: str, schema: Schema, common: dict[str, Any]) -> forms.Field:
    """The field for a string: an input of the schema's format, otherwise of one line or of several lines."""
    attributes: dict[str, Any] = {}
    examples = schema.get("examples")
    if isinstance(examples, list) and examples and isinstance(examples[0], str):
        attributes["placeholder"] = examples[0].splitlines()[0][:MAX_HINT] if examples[0] else ""
    kind = _INPUT_TYPES.get(str(schema.get("format")), "")
    limit = length_limit(schema, "maxLength")
    if kind in _ISO:
        if kind != "date":
            common = common | {"help_text": f"{common['help_text']} {_('Time in UTC.')}".strip()}
            attributes["step"] = 1
        widget = forms.TextInput(attrs=attributes | {"type": kind})
        return TimeField(widget=widget, strip=False, max_length=limit, **common)
    return TextField(widget=_widget(key, schema, kind, attributes), strip=False, max_length=limit, **common)


def _widget(key: str, schema: Schema, kind: str, attributes: dict[str, Any]) -> forms.Widget:
    if schema.get("format") == "password" or schema.get("writeOnly") is True:
        return forms.PasswordInput(attrs=attributes | {"autocomplete": "off"})
    if kind:
        return forms.TextInput(attrs=attributes | {"type": kind})
    return forms.TextInput(attrs=attributes) if _has_one_line(key, schema) else text_area(attributes)


def text_area(attributes: Mapping[str, Any]) -> forms.Textarea:
    return forms.Textarea(attrs={**attributes, "rows": 1, "class": "grows"})


def _has_one_line(key: str, schema: Schema) -> bool:
    """Whether a text input fits. It removes line breaks, so texts that may contain line breaks need a text
    area.
    """
    if isinstance(multiline := schema.get("x-multiline"), bool):
        return not multiline
    given = [schema.get("default"), *(_list_of(schema.get("examples")))]
    if any(isinstance(value, str) and "\n" in value for value in given):
        return False
    if schema.get("format") or schema.get("pattern"):
        return str(schema.get("format")) not in _LONG_FORMATS
    if (limit := length_limit(schema, "maxLength")) is not None:
        return limit <= MAX_ONE_LINE
    words = _WORD.findall(key)
    is_long = bool(words) and words[-1].lower() in _LONG_NAMES
    return not is_long and not key.endswith(_LONG_ENDINGS)


def _list_of(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def length_limit(schema: Schema, name: str) -> int | None:
    value = schema.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
