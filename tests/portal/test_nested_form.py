"""Nested inputs of the run form: groups, lists and choices, their errors, and that every value comes back."""

from __future__ import annotations

import json
from time import process_time
from typing import Any

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from portal.pages.runs.forms.nested.builder import MAX_FIELDS
from portal.pages.runs.forms.schema_form import SchemaForm
from registry.packages.problems import Problem
from tests.pages import controls, parts, select

pytestmark = pytest.mark.row("C5", "P10", "P11")

ORDER = {
    "type": "object",
    "required": ["customer", "lines"],
    "properties": {
        "customer": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "vip": {"type": "boolean", "default": True}},
        },
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
        "ship_to": {
            "type": "object",
            "required": ["street"],
            "properties": {"street": {"type": "string"}, "floor": {"type": "integer", "default": 0}},
        },
        "target": {
            "oneOf": [
                {
                    "title": "Mail",
                    "type": "object",
                    "required": ["kind", "to"],
                    "properties": {"kind": {"const": "mail"}, "to": {"type": "string"}},
                },
                {
                    "title": "Folder",
                    "type": "object",
                    "required": ["kind"],
                    "properties": {"kind": {"const": "folder"}, "name": {"type": "string", "default": "out"}},
                },
            ]
        },
    },
    "$defs": {
        "line": {
            "type": "object",
            "required": ["item"],
            "properties": {"item": {"type": "string"}, "count": {"type": "integer", "default": 1}},
        }
    },
}


def _html(form: SchemaForm) -> str:
    return "".join(render_to_string("runs/input.html", {"node": node}) for node in form.nodes)


def _post(schema: Any, sent: list[tuple[str, str]]) -> SchemaForm:
    data = QueryDict(mutable=True)
    for name, value in sent:
        data.appendlist(name, value)
    return SchemaForm(schema, data=data)


def _fill(form: SchemaForm, **changes: str) -> list[tuple[str, str]]:
    """What a browser sends for the form after the user changed some fields and pressed the button."""
    sent = [(name, value) for name, value in controls(_html(form)) if name not in changes]
    return sent + list(changes.items())


def _inputs(form: SchemaForm) -> dict[str, Any]:
    assert form.is_valid(), form.errors
    return form.inputs(lambda upload: pytest.fail(str(upload)))


VALUES = {
    "customer": {"name": "Ada", "vip": False},
    "lines": [{"item": "tea", "count": 2}, {"item": "milk"}],
    "ship_to": {"street": "Long Street"},
    "target": {"kind": "folder", "name": "x"},
}


def test_nested_values_are_shown_and_come_back():
    form = SchemaForm(ORDER, inputs=VALUES)
    assert len(parts(_html(form), "item")) == 2
    assert not select(_html(form), "textarea")
    assert _inputs(_post(ORDER, controls(_html(form)))) == VALUES


def test_empty_optional_object_is_omitted_and_its_required_field_is_not_missed():
    sent = _fill(SchemaForm(ORDER), **{"input-0-0": "Ada"})
    assert _inputs(_post(ORDER, sent)) == {"customer": {"name": "Ada", "vip": True}, "lines": []}


def test_required_field_of_an_optional_object_is_missed_once_another_has_a_value():
    form = _post(ORDER, _fill(SchemaForm(ORDER), **{"input-0-0": "Ada", "input-2-1": "0"}))
    assert list(form.errors) == ["input-2-0"]


def test_items_are_added_with_defaults_and_removed_while_other_values_stay():
    form = _post(ORDER, _fill(SchemaForm(ORDER), **{"input-0-0": "Ada", "redraw": "add:input-1"}))
    form = _post(ORDER, _fill(form, **{"input-1-0-0": "tea", "input-1-0-1": "5", "redraw": "add:input-1"}))
    page = _html(form)
    assert len(parts(page, "item")) == 2
    assert [box["id"] for box in parts(page, "item") if "autofocus" in box.attributes] == [
        "id_input-1-item-1"
    ]
    form = _post(ORDER, _fill(form, **{"input-1-1-0": "milk", "redraw": "remove:input-1:0"}))
    assert _inputs(_post(ORDER, controls(_html(form)))) == {
        "customer": {"name": "Ada", "vip": True},
        "lines": [{"item": "milk", "count": 1}],
    }


def test_buttons_of_a_list_name_their_item():
    page = _html(SchemaForm(ORDER, inputs=VALUES))
    buttons = [button.attributes["value"] for button in select(page, "button", name="redraw")]
    assert buttons[:3] == ["remove:input-1:0", "remove:input-1:1", "add:input-1"]


def test_choice_shows_the_fields_of_the_chosen_schema():
    form = _post(ORDER, _fill(SchemaForm(ORDER), **{"input-3-kind": "1", "redraw": "show"}))
    page = _html(form)
    assert [field["value"] for field in select(page, "input", name="input-3-1-1")] == ["out"]
    assert not select(page, "input", name="input-3-0-1")
    sent = _fill(form, **{"input-0-0": "Ada"})
    assert _inputs(_post(ORDER, sent))["target"] == {"kind": "folder", "name": "out"}


def test_choice_whose_fields_were_not_shown_starts_no_run():
    form = _post(ORDER, _fill(SchemaForm(ORDER), **{"input-0-0": "Ada", "input-3-kind": "1"}))
    assert [error.code for error in form.errors.as_data()["input-3"]] == ["new"]


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/customer/name", "input-0-0"),
        ("/lines/1/count", "input-1-1-1"),
        ("/lines/9", "input-1"),
        ("/lines", "input-1"),
        ("/target/name", "input-3-1-1"),
        ("/ship_to/unknown", "input-2"),
        ("/unknown", "__all__"),
    ],
)
def test_problem_is_shown_at_its_nested_field(path, field):
    form = _post(ORDER, controls(_html(SchemaForm(ORDER, inputs=VALUES))))
    assert form.is_valid()
    form.add_problems([Problem("VALUE_INVALID", path, None, {"reason": "x"})])
    assert list(form.errors) == [field]
    if field != "__all__":
        assert [
            found for found in parts(_html(form)) if found.attributes.get("id") == f"id_{field}"
        ] or select(_html(form), "input", id=f"id_{field}")


def test_other_nested_fields_are_checked_while_one_is_invalid():
    schema = {
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "object", "properties": {"c": {"type": "string", "minLength": 3}}},
        }
    }
    form = _post(schema, [("input-0", "x"), ("input-1-0", "y")])
    assert sorted(form.errors) == ["input-0", "input-1-0"]


def test_value_that_no_control_shows_is_json():
    inputs = VALUES | {"ship_to": {"street": "A", "more": 1}, "target": {"kind": "fax"}}
    form = SchemaForm(ORDER, inputs=inputs)
    assert [area["name"] for area in select(_html(form), "textarea")] == ["input-2-json", "input-3-json"]
    assert _inputs(_post(ORDER, controls(_html(form)))) == inputs


def test_nullable_reference_has_the_control_of_its_target():
    schema = {
        "properties": {"day": {"anyOf": [{"$ref": "#/$defs/day"}, {"type": "null"}], "default": None}},
        "$defs": {"day": {"type": "string", "format": "date"}},
    }
    assert select(_html(SchemaForm(schema)), "input", name="input-0")[0]["type"] == "date"


def _cycle() -> dict[str, Any]:
    node = {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/node"}}}
    endless = {"$ref": "#/$defs/endless"}
    return {
        "properties": {"a": endless, "b": {"$ref": "#/$defs/node"}},
        "$defs": {"node": node, "endless": endless},
    }


def _wide() -> dict[str, Any]:
    big = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(2_000)}}
    return {"properties": {f"p{n}": {"$ref": "#/$defs/big"} for n in range(10_000)}, "$defs": {"big": big}}


def _bushy() -> dict[str, Any]:
    node: dict[str, Any] = {"type": "object", "required": [f"p{n}" for n in range(9)]}
    node["properties"] = {f"p{n}": {"$ref": "#/$defs/node"} for n in range(9)}
    return {"properties": {"a": {"$ref": "#/$defs/node"}}, "required": ["a"], "$defs": {"node": node}}


def _choices() -> dict[str, Any]:
    rows = [{"title": f"{n}", "$ref": "#/$defs/node"} for n in range(12)]
    node = {"oneOf": rows}
    enum = {"enum": [f"{n}" * 50 for n in range(500)], "description": "d" * 50_000, "title": "t" * 50_000}
    properties = {f"p{n}": {"$ref": "#/$defs/enum"} for n in range(190)}
    return {"properties": {"a": node, **properties}, "required": ["a"], "$defs": {"node": node, "enum": enum}}


@pytest.mark.parametrize("make", [_cycle, _wide, _bushy, _choices], ids=lambda make: make.__name__)
def test_hostile_schema_makes_a_small_form(make):
    schema, started = make(), process_time()
    form = SchemaForm(schema)
    page = _html(form)
    assert process_time() - started < 1  # twice the budget of a page, as a busy machine is slower
    assert len(form.fields) <= 2 * MAX_FIELDS
    assert len(page) < 600_000


# Schemas and values of them, for the test that every value comes back.

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = st.one_of(
    TEXTS, st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False, allow_infinity=False)
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2)
)
LEAVES: list[tuple[dict[str, Any], st.SearchStrategy[Any]]] = [
    ({"type": "string"}, TEXTS),
    ({"type": "string", "x-multiline": True}, TEXTS),
    ({"type": "string", "format": "date-time"}, st.datetimes().map(lambda at: f"{at.isoformat()}Z") | TEXTS),
    ({"type": "string", "format": "date"}, st.dates().map(str)),
    ({"type": "string", "format": "email"}, TEXTS),
    ({"type": "integer", "default": 7}, st.integers()),
    ({"type": "number"}, st.floats(allow_nan=False, allow_infinity=False) | st.integers()),
    ({"type": "boolean"}, st.booleans()),
    ({"type": "boolean", "default": True}, st.booleans()),
    ({"enum": ["a", 1, None, True]}, st.sampled_from(["a", 1, None, True])),
    ({"enum": list("abcdefg")}, st.sampled_from("abcdefg")),
    ({"const": "fixed"}, st.just("fixed")),
    ({"type": "array", "items": {"type": "string"}}, st.lists(TEXTS, max_size=3)),
    ({"type": "array", "items": {"type": "number"}}, st.lists(st.integers() | TEXTS, max_size=3)),
    ({"type": "array", "items": {"enum": ["a", "b", "c"]}}, st.lists(st.sampled_from("abc"), max_size=3)),
    ({"type": ["string", "null"]}, TEXTS | st.none()),
    ({"$ref": "#/$defs/text"}, TEXTS),
    ({}, JSON),
]


@st.composite
def schemas(draw: st.DrawFn, depth: int = 3) -> tuple[dict[str, Any], st.SearchStrategy[Any]]:
    """A schema, and a strategy for its values."""
    kind = draw(st.sampled_from(["leaf", "leaf", "object", "list", "choice"] if depth else ["leaf"]))
    if kind == "leaf":
        return draw(st.sampled_from(LEAVES))
    if kind == "list":
        items, values = draw(objects(depth - 1))
        return {"type": "array", "items": items}, st.lists(values, max_size=2)
    if kind == "choice":
        rows = [draw(objects(depth - 1)) for _ in range(2)]
        branches = [{**schema, "title": f"Branch {n}"} for n, (schema, _values) in enumerate(rows)]
        return {"oneOf": branches}, st.one_of([values for _schema, values in rows])
    return draw(objects(depth - 1))


@st.composite
def objects(draw: st.DrawFn, depth: int = 3) -> tuple[dict[str, Any], st.SearchStrategy[Any]]:
    keys = draw(st.lists(st.sampled_from(["a", "text", "b~/", "c"]), max_size=3, unique=True))
    rows = {key: draw(schemas(depth)) for key in keys}
    required = draw(st.lists(st.sampled_from(keys), unique=True)) if keys else []
    schema = {
        "type": "object",
        "properties": {key: schema for key, (schema, _values) in rows.items()},
        "required": required,
    }
    needed = {key: rows[key][1] for key in required}
    optional = {key: values for key, (_schema, values) in rows.items() if key not in required}
    return schema, st.fixed_dictionaries(needed, optional=optional)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_every_value_comes_back_from_the_filled_form(data: st.DataObject) -> None:
    schema, values = data.draw(objects())
    schema["$defs"] = {"text": {"type": "string"}}
    inputs = data.draw(values)
    shown = SchemaForm(schema, inputs=inputs)
    assert not shown.unmapped
    form = _post(schema, controls(f"<form>{_html(shown)}</form>"))
    assert form.is_valid(), form.errors
    found = form.inputs(lambda upload: pytest.fail(str(upload)))
    assert json.dumps(found, sort_keys=True) == json.dumps(inputs, sort_keys=True)
    again = _post(schema, controls(_html(form)))
    assert again.is_valid()
    assert again.inputs(lambda upload: pytest.fail(str(upload))) == found
