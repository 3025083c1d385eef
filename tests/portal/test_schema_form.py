from __future__ import annotations

from urllib.parse import quote

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils.datastructures import MultiValueDict

from portal.pages.runs.forms.file_field import StoredFile
from portal.pages.runs.forms.schema_form import JsonInputsForm, SchemaForm
from registry.models.identity import new_uid
from registry.packages.problems import Problem
from tests.pages import select

pytestmark = pytest.mark.row("C5", "P10", "P11")

SCHEMA = {
    "type": "object",
    "required": ["city", "days"],
    "properties": {
        "city": {"type": "string", "title": "Which city", "description": "In any language", "maxLength": 40},
        "days": {"type": "integer", "minimum": 0, "maximum": 14, "default": 3},
        "rate": {"type": "number", "minimum": 0},
        "unit": {"type": "string", "enum": ["C", "F"]},
        "level": {"enum": [1, 2, None]},
        "alerts": {"type": "boolean"},
        "verbose": {"type": "boolean", "default": True},
        "tags": {"type": "array", "items": {"type": "string"}},
        "sizes": {"type": "array", "items": {"type": "integer"}},
        "colours": {"type": "array", "items": {"enum": ["red", "green"]}},
        "filter": {"type": "object", "properties": {"from": {"type": "string"}}},
        "input_path": {"type": "string"},
        "when": {"$ref": "#/$defs/day"},
        "extra": {"type": "object"},
    },
    "$defs": {"day": {"type": "string", "format": "date"}},
}


def _form(files=None, **values):
    data = QueryDict(mutable=True)
    names = list(SCHEMA["properties"])
    for key, value in values.items():
        stem, _dot, part = key.partition("__")
        name = f"input-{names.index(stem)}" + (f"-{part}" if part else "")
        data.setlist(name, value if isinstance(value, list) else [value])
    uploads = MultiValueDict({f"input-{names.index(k)}-file": [v] for k, v in (files or {}).items()})
    return SchemaForm(SCHEMA, data=data, files=uploads)


def _inputs(form):
    assert form.is_valid(), form.errors
    return form.inputs(lambda upload: StoredFile("UID", upload.name, upload.size))


def test_each_type_has_its_control_with_the_authors_words():
    html = SchemaForm(SCHEMA).as_p()
    assert "Which city" in html
    assert "In any language" in html
    assert 'type="number"' in html
    assert 'min="0"' in html
    assert 'max="14"' in html
    assert 'type="date"' in html
    assert 'type="radio"' in html
    assert "<textarea" in html
    assert 'type="checkbox"' in html
    assert 'type="file"' in html


@pytest.mark.parametrize(
    ("key", "schema", "control"),
    [
        ("city", {}, "text"),
        ("data_source", {}, "text"),
        ("text_color", {}, "text"),
        ("text", {}, "textarea"),
        ("releaseNotes", {}, "textarea"),
        ("text", {"maxLength": 200}, "text"),
        ("city", {"maxLength": 201}, "textarea"),
        ("city", {"default": "a\nb"}, "textarea"),
        ("city", {"x-multiline": True}, "textarea"),
        ("text", {"x-multiline": False}, "text"),
        ("合同文本", {}, "textarea"),
        ("at", {"format": "date-time"}, "datetime-local"),
        ("at", {"format": "time"}, "time"),
        ("at", {"format": "date"}, "date"),
        ("at", {"format": "email"}, "email"),
        ("at", {"format": "uri"}, "url"),
        ("unit", {"enum": ["a", "b", "c", "d"]}, "radio"),
        ("unit", {"enum": ["a", "b", "c", "d", "e"]}, "select"),
        ("on", {"type": "boolean", "default": False}, "checkbox"),
    ],
)
def test_control_fits_the_type_and_format(key, schema, control):
    (field,) = SchemaForm({"properties": {key: {"type": "string", **schema}}})
    found = [*select(str(field), "textarea"), *select(str(field), "select"), *select(str(field), "input")]
    assert found[0].attributes.get("type", found[0].tag) == control


def test_required_field_is_marked():
    form = SchemaForm(SCHEMA)
    assert select(str(form["input-0"]), "input", required="")
    assert not select(str(form["input-2"]), "input", required="")


@pytest.mark.parametrize(
    ("rules", "attributes"),
    [
        ({"minimum": 0, "maximum": 9}, {"min": "0", "max": "9", "step": "1"}),
        ({"exclusiveMinimum": 0, "exclusiveMaximum": 9}, {"min": "1", "max": "8"}),
        ({"multipleOf": 5, "minimum": 10}, {"step": "5"}),
        ({"type": "number", "minimum": 0}, {"min": "0", "step": "any"}),
        ({"type": "number", "multipleOf": 0.5}, {"step": "0.5"}),
        ({"minimum": float("inf")}, {"step": "1"}),
    ],
)
def test_bounds_of_a_number_are_kept(rules, attributes):
    (field,) = SchemaForm({"properties": {"days": {"type": "integer", **rules}}})
    assert attributes.items() <= select(str(field), "input")[0].attributes.items()


@pytest.mark.parametrize(
    ("format", "shown", "value"),
    [
        ("date-time", "2026-11-21T10:30", "2026-11-21T10:30:00Z"),
        ("date-time", "2026-11-21T10:30:05", "2026-11-21T10:30:05Z"),
        ("date-time", "2026-11-21T10:30:00+01:00", "2026-11-21T10:30:00+01:00"),
        ("time", "10:30", "10:30:00Z"),
        ("date", "2026-11-21", "2026-11-21"),
    ],
)
def test_times_are_sent_in_utc_and_shown_again(format, shown, value):
    schema = {"properties": {"at": {"type": "string", "format": format}}}
    form = SchemaForm(schema, data=QueryDict(f"input-0={quote(shown)}"))
    assert _inputs(form) == {"at": value}
    again = SchemaForm(schema, inputs={"at": value})["input-0"]
    kind = select(str(again), "input")[0]["type"]
    assert kind == ("text" if "+" in value else {"date-time": "datetime-local"}.get(format, format))
    assert again.value() == (value if "+" in value or format == "date" else value[:-1])


def test_values_keep_their_json_types_and_what_is_empty_is_left_out():
    form = _form(
        city="北京", days="0", rate="2", unit='"C"', level="2", alerts="false", tags="a\r\nb", sizes="1\n2",
        colours=['"red"'], filter__0="x", extra='{"a": 1}', when="2026-11-21",
    )  # fmt: skip
    assert _inputs(form) == {
        "city": "北京", "days": 0, "rate": 2, "unit": "C", "level": 2, "alerts": False, "verbose": False,
        "tags": ["a", "b"], "sizes": [1, 2], "colours": ["red"], "filter": {"from": "x"},
        "when": "2026-11-21", "extra": {"a": 1},
    }  # fmt: skip
    assert _inputs(_form(city="x", days="1")) == {"city": "x", "days": 1, "verbose": False}


def test_defaults_are_filled_in_before_anything_is_sent():
    form = SchemaForm(SCHEMA)
    assert form["input-1"].value() == 3
    assert form["input-6"].value() is True


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"days": "1"}, "input-0"),
        ({"city": "x", "days": "-1"}, "input-1"),
        ({"city": "x", "days": "many"}, "input-1"),
        ({"city": "x", "days": "1", "rate": "nan"}, "input-2"),
        ({"city": "x", "days": "1", "unit": '"K"'}, "input-3"),
        ({"city": "x", "days": "1", "sizes": "1\nx"}, "input-8"),
        ({"city": "x", "days": "1", "extra": "{"}, "input-13"),
        ({"city": "x", "days": "1", "extra": "[" * 100_000}, "input-13"),
    ],
)
def test_a_wrong_value_is_said_at_its_field(values, field):
    form = _form(**values)
    assert not form.is_valid()
    assert list(form.errors) == [field]


def test_a_file_is_an_upload_a_text_or_an_earlier_runs_artifact():
    upload = SimpleUploadedFile("data.csv", b"1,2")
    assert _inputs(_form({"input_path": upload}, city="x", days="1"))["input_path"] == {"input": "UID"}
    assert _inputs(_form(city="x", days="1", input_path__text="/data/x"))["input_path"] == "/data/x"
    path = f"{new_uid()}/out.csv"
    artifact = _inputs(_form(city="x", days="1", input_path__artifact=path))["input_path"]
    assert artifact == {"artifact": path}
    assert not _form(city="x", days="1", input_path__artifact="abc/out.csv").is_valid()  # no run ID
    both = _form({"input_path": SimpleUploadedFile("a", b"x")}, city="x", days="1", input_path__text="y")
    assert not both.is_valid()


def test_an_upload_of_a_refused_form_need_not_be_sent_again():
    form = _form({"input_path": SimpleUploadedFile("data.csv", b"1,2")}, city="x", days="1")
    _inputs(form)
    assert 'name="input-11-kept" value="UID/data.csv"' in str(form["input-11"])
    again = _form(city="x", days="1", input_path__kept="UID/data.csv")
    assert _inputs(again)["input_path"] == {"input": "UID"}


def test_a_validators_path_leads_back_to_the_field():
    form = _form(city="x", days="1", sizes="1")
    assert form.is_valid()
    form.add_problems([Problem("NOT_FOUND", "/sizes/0", None, {"what": "size", "name": "1"})])
    assert "(0)" in form.errors["input-8"][0]


def test_an_earlier_runs_inputs_fill_the_form_and_unknown_ones_are_kept_apart():
    inputs = {"city": "上海", "tags": ["a\nb"], "input_path": {"artifact": "r/x"}, "other": 1}
    form = SchemaForm(SCHEMA, inputs=inputs)
    assert form["input-0"].value() == "上海"
    assert form["input-7"].value() == '[\n  "a\\nb"\n]'
    assert 'value="r/x"' in str(form["input-11"])
    assert form.unmapped == {"other": 1}
    assert form["input-1"].value() is None  # what was not given then is not given now


def test_strange_keys_and_texts_make_no_markup():
    schema = {"properties": {'"><script>alert(1)</script>': {"title": "<b>x", "description": "<img src=x>"}}}
    html = "".join(render_to_string("runs/field.html", {"field": field}) for field in SchemaForm(schema))
    assert "<script>" not in html
    assert "<img" not in html
    assert "<b>" not in html


def _store_nothing(upload):
    raise AssertionError(upload)


def test_the_same_as_json_refuses_what_is_no_object():
    assert not JsonInputsForm(data={"inputs_json": "[1]"}).is_valid()
    form = JsonInputsForm(data={"inputs_json": '{"a": 1}'})
    assert form.is_valid()
    assert form.inputs(_store_nothing) == {"a": 1}
