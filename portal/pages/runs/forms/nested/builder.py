"""Builds the parts of an inputs form from a JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from portal.pages.runs.forms.file_field import FileChoice
from portal.pages.runs.forms.nested.nodes import Choice, FormPart, Group, ItemList, PartField
from portal.pages.runs.forms.nested.shape import (
    Branch,
    branches,
    fits,
    has_properties,
    is_same,
    properties,
    resolve,
    type_of,
)
from portal.pages.runs.forms.schema_fields import JsonField, SwitchField, choice_count, field_of, json_field
from portal.pages.runs.forms.text_fields import Schema, text_area
from portal.presenters.content.text import json_text

MAX_FIELDS = 200
_MAX_DEPTH = 4  # deeper values are JSON
_FRESH = object()  # the value of a part that shows its defaults
_ABSENT = object()  # the value of a part that is empty
_EMPTY: tuple[Any, ...] = ("", [], {}, None)
_MAX_RADIOS = 4  # choices; more get a select
_MAX_TEXT = 200


class _NotShownError(Exception):
    """The value needs a field for JSON: its controls can't show it, or there are too many of them."""


@dataclass
class Budget:
    """What a hostile schema may use of the page: fields, choices and characters of schemas."""

    fields: int = MAX_FIELDS
    choices: int = 1_000
    text: int = 40_000

    def take_field(self, made: forms.Field) -> None:
        """Counts the field, and omits its schema's text beyond the budget."""
        self.fields -= 1
        self.choices -= len(getattr(made, "choices", ()))
        if isinstance(made, JsonField):
            made.sub_schema = made.sub_schema if len(made.sub_schema) <= self.text else ""
            self.text -= len(made.sub_schema)


class FormBuilder:
    """Adds the fields of each part to ``form``.

    Fields are named by their place in the schema (``input-0-2``), because keys of an untrusted schema may be
    invalid ids. A value that its control can't show gets a field for JSON, such as ``input-0-2-json``.
    ``data`` is the submitted data; the part of a new item or choice shows its defaults.
    """

    def __init__(self, form: forms.Form, root: Schema) -> None:
        self.form, self.root = form, root
        self.data: Any = form.data if form.is_bound else None
        self.budget = Budget(MAX_FIELDS * 2 if form.is_bound else MAX_FIELDS)
        self.defaults: dict[str, forms.Field] = {}  # fields of new items and choices

    def root_group(self, value: Mapping[str, Any] | None, defaults: Mapping[str, Any]) -> Group:
        """The group of all inputs: the first properties of the schema, with the given values or defaults."""
        group = Group(self.form, "input", "", must=True)
        for number, (key, sub, required) in enumerate(islice(properties(self.root, self.root), MAX_FIELDS)):
            if value is not None:
                inner = value.get(key, _ABSENT)
            else:
                default = defaults.get(key)
                inner = fresh_value(sub, required) if default in _EMPTY else default
            group.children.append(
                self.build(f"input-{number}", key, sub, inner, required=required, must=True)
            )
        return group

    def build(
        self, name: str, key: str, schema: Schema, value: Any, *, required: bool, must: bool, depth: int = 0
    ) -> FormPart:
        """The part for one value. ``must`` is set if the surrounding object always exists."""
        if self.data is not None:  # the submitted data has the values
            value = _FRESH if must else _ABSENT
        if self.data is not None and f"{name}-json" in self.data:
            return self._json(name, key, schema, value, required and must)
        try:
            part = self._part(name, key, schema, value, required, must, depth)
            return part or self._field(name, key, schema, value, required, must)
        except _NotShownError:
            return self._json(name, key, schema, value, required and must)

    def _part(
        self, name: str, key: str, schema: Schema, value: Any, required: bool, must: bool, depth: int
    ) -> FormPart | None:
        """The group, list or choice for the value; None if a single field fits."""
        if "const" in schema or "enum" in schema or depth >= _MAX_DEPTH:
            return None
        rows = branches(self.root, schema)
        if rows and not all("const" in row.schema for row in rows):
            return self._choice(name, key, schema, value, required, must, depth, rows)
        if has_properties(schema):
            return self._group(name, key, schema, value, required, must, depth)
        items = resolve(self.root, schema.get("items")) if type_of(schema) == "array" else {}
        if has_properties(items) or type_of(items) == "array" or branches(self.root, items):
            return self._list(name, key, schema, value, required, must, depth, items)
        return None

    def _group(
        self, name: str, key: str, schema: Schema, value: Any, required: bool, must: bool, depth: int
    ) -> FormPart:
        if len(schema["properties"]) > self.budget.fields:
            raise _NotShownError
        rows = list(properties(self.root, schema))
        constants = {each: sub["const"] for each, sub, needed in rows if needed and "const" in sub}
        exists = must and required
        if not _holds_group(value, {row[0] for row in rows}, constants, exists):
            raise _NotShownError
        group = Group(self.form, name, key, required, constants=constants, must=exists)
        self._add_part(group, schema)
        for number, (child, sub, needed) in enumerate(rows):
            if child not in constants:
                inner = child_value(value, child, sub, exists and needed)
                group.children.append(
                    self.build(
                        f"{name}-{number}", child, sub, inner, required=needed, must=exists, depth=depth + 1
                    )
                )
        return group

    def _list(
        self,
        name: str,
        key: str,
        schema: Schema,
        value: Any,
        required: bool,
        must: bool,
        depth: int,
        items: Schema,
    ) -> FormPart:
        exists = required and must
        values = value if isinstance(value, list) else []
        if not _is_open(value) and (not isinstance(value, list) or not (value or exists)):
            raise _NotShownError
        numbers, added = self._numbers(name, len(values))
        if self.data is None and len(numbers) * 2 > self.budget.fields:
            raise _NotShownError
        node = ItemList(self.form, name, key, required, must=exists, added=added)
        self._add_part(node, schema)
        for place, number in enumerate(numbers):
            inner = values[place] if place < len(values) else fresh_value(items)
            with self._new(number == added):
                item = self.build(
                    f"{name}-{number}",
                    gettext("Item"),
                    items,
                    inner,
                    required=True,
                    must=True,
                    depth=depth + 1,
                )
            node.items.append((number, item))
        return node

    def _numbers(self, name: str, count: int) -> tuple[list[int], int | None]:
        """The numbers of the items, and the number of the item that the submitted data adds."""
        if self.data is None:
            return list(range(count)), None
        sent = [text for text in _list(self.data, f"{name}-items") if text.isascii() and text.isdigit()]
        numbers = list(dict.fromkeys(int(text) for text in sent if len(text) < 5))[: self.budget.fields // 2]
        action, _colon, target = str(self.data.get("redraw", "")).partition(":")
        if action == "remove":
            numbers = [number for number in numbers if target != f"{name}:{number}"]
        if action == "add" and target == name and len(numbers) * 2 + 2 < self.budget.fields:
            return [*numbers, max(numbers, default=-1) + 1], max(numbers, default=-1) + 1
        return numbers, None

    def _choice(
        self, name: str, key: str, schema: Schema, value: Any, required: bool, must: bool, depth: int,
        rows: list[Branch],
    ) -> FormPart:  # fmt: skip
        place = 0 if value is _FRESH and required else None
        if not _is_open(value):
            place = next((n for n, row in enumerate(rows) if fits(self.root, row.schema, value)), None)
            if place is None:
                raise _NotShownError
        shown = place
        if self.data is not None:
            place, shown = (_place(self.data.get(f"{name}-{each}"), len(rows)) for each in ("kind", "was"))
        node = Choice(self.form, name, key, required, place=place, is_new=place != shown)
        self._add_part(node, schema)
        labels = [(str(number), row.label[:_MAX_TEXT]) for number, row in enumerate(rows)]
        exists = required and must
        self.form.fields[f"{name}-kind"] = forms.ChoiceField(
            label=self.form.fields[name].label,
            choices=labels if exists else [("", "—"), *labels],
            required=exists,
            initial="" if place is None else str(place),
            widget=forms.RadioSelect if len(labels) <= _MAX_RADIOS else forms.Select,
        )
        if place is not None:
            row = rows[place]
            inner = fresh_value(row.schema) if _is_open(value) else value
            with self._new(node.is_new):
                node.chosen = self.build(
                    f"{name}-{place}", row.label, row.schema, inner, required=True, must=True, depth=depth + 1
                )
        return node

    @contextmanager
    def _new(self, is_new: bool) -> Iterator[None]:
        """Builds a part that the user has not seen, with its defaults, and notes its fields."""
        if not is_new:
            yield
            return
        data, before, self.data = self.data, set(self.form.fields), None
        yield
        self.data = data
        self.defaults |= {name: made for name, made in self.form.fields.items() if name not in before}

    def _field(self, name: str, key: str, schema: Schema, value: Any, required: bool, must: bool) -> FormPart:
        if choice_count(schema) > self.budget.choices:
            raise _NotShownError
        made = field_of(key, _leaf_schema(schema, must), required=required and must)
        if isinstance(made, SwitchField) and self._has_three_states(name, value):
            made = field_of(key, _leaf_schema(schema, False), required=False)
        if not _is_open(value) and not made.holds(value):  # type: ignore[attr-defined]
            raise _NotShownError
        self.budget.take_field(made)
        if value is _ABSENT and "default" in schema and schema["default"] not in _EMPTY:
            hint = _("Default: %(value)s.") % {"value": _short(schema["default"])}
            made.help_text = f"{made.help_text} {hint}".strip()
        made.needed = required  # type: ignore[attr-defined]
        self._show(made, value)
        self.form.fields[name] = made
        return FormPart(self.form, name, key, required)

    def _has_three_states(self, name: str, value: Any) -> bool:
        """Whether a switch must be a choice, because the given inputs don't have its value."""
        return value is _ABSENT if self.data is None else self.data.get(name) in ("", "true", "false")

    def _json(self, name: str, key: str, schema: Schema, value: Any, required: bool) -> FormPart:
        made = json_field(key, schema, required=required)
        self.budget.take_field(made)
        self._show(made, value)
        self.form.fields[f"{name}-json"] = made
        return FormPart(self.form, f"{name}-json", key, required)

    def _show(self, made: forms.Field, value: Any) -> None:
        if not _is_open(value):
            made.initial = made.initial_value(value) if hasattr(made, "initial_value") else value
            if "\n" in str(made.initial) and type(made.widget) is forms.TextInput:
                made.widget = text_area(made.widget.attrs)

    def _add_part(self, node: FormPart, schema: Schema) -> None:
        label = str(schema.get("title") or node.key)[:_MAX_TEXT]
        part = PartField(label=label, help_text=str(schema.get("description") or "")[:2_000])
        part.key, part.needed = node.key[:_MAX_TEXT], node.needed
        self.budget.fields -= 1
        self.form.fields[node.name] = part


def _is_open(value: Any) -> bool:
    """Whether the value is none of the given inputs."""
    return value is _FRESH or value is _ABSENT


def _holds_group(value: Any, keys: set[str], constants: Mapping[str, Any], exists: bool) -> bool:
    """Whether the fields of a group show the value completely."""
    if _is_open(value):
        return True
    return (
        isinstance(value, Mapping)
        and set(constants) <= set(value) <= keys
        and all(is_same(value[key], constant) for key, constant in constants.items())
        and (exists or len(value) > len(constants))
    )


def child_value(value: Any, key: str, sub: Schema, exists: bool) -> Any:
    """The value of a property of ``value``, which can be a mapping, ``_FRESH`` or ``_ABSENT``."""
    if isinstance(value, Mapping):
        return value.get(key, _ABSENT)
    return _ABSENT if value is _ABSENT else fresh_value(sub, exists)


def fresh_value(sub: Schema, exists: bool = True) -> Any:
    """The constant or default of a schema, unless it is empty; otherwise ``_FRESH`` or ``_ABSENT``."""
    if "const" in sub:
        return sub["const"]
    if "default" in sub and sub["default"] not in _EMPTY:
        return sub["default"]
    return _FRESH if exists or not has_properties(sub) else _ABSENT


def submitted(made: forms.Field) -> list[str]:
    """The values that a browser sends for the field's initial value."""
    if isinstance(made, SwitchField):
        return ["on"] if made.initial else []
    if isinstance(made.initial, FileChoice) or made.initial is None:
        return []
    return [str(each) for each in made.initial] if isinstance(made.initial, list) else [str(made.initial)]


def _leaf_schema(schema: Schema, must: bool) -> Schema:
    """The schema, without a default if its object may be missing; a boolean then has three states."""
    return schema if must else {name: value for name, value in schema.items() if name != "default"}


def _place(text: object, count: int) -> int | None:
    number = (
        int(text) if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 3 else -1
    )
    return number if 0 <= number < count else None


def _list(data: Any, name: str) -> list[str]:
    return [str(each) for each in (data.getlist(name) if hasattr(data, "getlist") else data.get(name, []))]


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json_text(value, indent=None)
    return text[:80]
