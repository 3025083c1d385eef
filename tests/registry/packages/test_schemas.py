"""JSON Schemas of strangers: nothing fetched, nothing that runs away, every flaw with its place."""

from __future__ import annotations

import http.server
import threading
from typing import Any

import pytest

from registry.packages.schemas.validate import MAX_BYTES, check_schema, validate, with_defaults
from worker.protocols.errors import MISSING_PARAM

pytestmark = pytest.mark.row("C5")


def nested(depth: int) -> dict:
    schema: dict = {"type": "string"}
    for _ in range(depth):
        schema = {"properties": {"a": schema}}
    return schema


def doubling(length: int) -> dict:
    """Every definition refers to the next one twice."""
    definitions = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(length)}
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{length}": {"type": "object"}}}


BAD: dict[str, Any] = {
    "http reference": ({"$ref": "http://127.0.0.1:9/x"}, "SCHEMA_REFERENCE", "/$ref"),
    "file reference": (
        {"properties": {"a": {"$ref": "file:///etc/passwd"}}},
        "SCHEMA_REFERENCE",
        "/properties/a/$ref",
    ),
    "relative reference": ({"$ref": "other.json#/x"}, "SCHEMA_REFERENCE", "/$ref"),
    "dynamic reference": ({"$dynamicRef": "http://x/#y"}, "SCHEMA_REFERENCE", "/$dynamicRef"),
    "reference to nothing": ({"$ref": "#/$defs/absent"}, "SCHEMA_INVALID", None),
    "unknown type": ({"properties": {"a/b": {"type": "strin"}}}, "SCHEMA_INVALID", "/properties/a~1b/type"),
    "wrong keyword": ({"required": "a"}, "SCHEMA_INVALID", "/required"),
    "broken pattern": ({"pattern": "("}, "SCHEMA_INVALID", "/pattern"),
    "look-around": ({"pattern": "(?=a)b"}, "SCHEMA_INVALID", "/pattern"),
    "unknown meta-schema": ({"$schema": "http://127.0.0.1:9/meta"}, "SCHEMA_INVALID", None),
    "too deep": (nested(40), "SCHEMA_TOO_LARGE", ""),
    "very deep": (nested(400), "SCHEMA_TOO_LARGE", ""),
    "too many parts": ({"enum": list(range(6000))}, "SCHEMA_TOO_LARGE", ""),
    "too many bytes": ({"description": "x" * 200_000}, "SCHEMA_TOO_LARGE", ""),
    "no object": ([1], "SCHEMA_INVALID", ""),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_schema_that_cannot_be_used_says_where(kind: str) -> None:
    schema, code, path = BAD[kind]
    (problem,) = check_schema(schema, where="input_schema")
    assert problem.code == code
    assert path in (None, problem.path)
    assert "input_schema" in problem.message()
    assert [one.code for one in validate(schema, {})] == [code]


@pytest.mark.parametrize("letter", ["x", "\u4e2d"])
def test_the_stated_number_of_bytes_is_the_limit(letter: str) -> None:
    room = MAX_BYTES - len('{"description": ""}')
    fitting = {"description": letter * (room // len(letter.encode()))}
    assert check_schema(fitting) == ()
    (problem,) = check_schema({**fitting, "title": "abc"})
    assert problem.code == "SCHEMA_TOO_LARGE"
    assert str(MAX_BYTES) in problem.message()


def test_nothing_is_fetched() -> None:
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/x"
    for schema in (
        {"$ref": address},
        {"$schema": address},
        {"$id": address, "$ref": "#/a"},
        {"$id": address},
    ):
        check_schema(schema)
        validate(schema, {})
    server.shutdown()
    server.server_close()
    assert asked == []


def test_a_value_that_does_not_fit_says_where() -> None:
    schema = {
        "type": "object",
        "properties": {"a/b": {"items": {"type": "integer"}}, "c": {"maximum": 3}},
        "required": ["d"],
    }
    found = validate(schema, {"a/b": [1, "x"], "c": 5})
    assert [(one.code, one.path) for one in found] == [
        ("VALUE_INVALID", "/a~1b/1"),
        ("VALUE_INVALID", "/c"),
        ("VALUE_INVALID", "/d"),
    ]
    reason: Any = found[2].params["reason"]
    assert reason.params == {"value": "d"}
    assert validate(schema, {"d": 1, "a/b": [1]}) == ()


@pytest.mark.row("P5")
def test_missing_field_has_its_own_path_code_and_name() -> None:
    schema = {"properties": {"城市": {"required": ["a/b"]}}, "required": ["days"]}
    found = validate(schema, {"城市": {}}, missing=MISSING_PARAM)
    assert [(one.code, one.path) for one in found] == [
        ("MISSING_PARAM", "/days"),
        ("MISSING_PARAM", "/城市/a~1b"),
    ]
    assert found[1].message().endswith("a/b.")


def test_many_flaws_are_cut() -> None:
    assert len(validate({"items": {"type": "string"}}, list(range(1000)))) == 50


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", r"^(\w+\s?)*$", "(x+x+)+y"])
def test_a_catastrophic_pattern_does_no_harm(pattern: str) -> None:
    assert (
        validate({"pattern": pattern}, "a" * 50_000 + "!")
        or validate({"pattern": pattern}, "x" * 50_000) is not None
    )


def test_a_pattern_that_grows_when_compiled_is_refused() -> None:
    assert check_schema({"pattern": "((((a{1,100}){1,100}){1,100}){1,100})"})


def test_references_that_multiply_are_counted_before_they_are_followed() -> None:
    assert [one.code for one in validate(doubling(30), {})] == ["VALUE_TOO_COSTLY"]
    tree = {"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}
    value: dict = {}
    for _ in range(40):
        value = {"a": value}
    assert [one.code for one in validate(tree, value)] == ["VALUE_TOO_COSTLY"]


def test_ordinary_recursion_is_followed() -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#"}, "left": {"$ref": "#"}}, "required": ["n"]}
    value: dict = {"n": 0}
    for n in range(60):
        value = {"n": n, "next": value}
    assert validate(tree, value) == ()
    assert validate(tree, {"n": 1, "next": {}})[0].path == "/next/n"


def test_references_to_oneself_end() -> None:
    assert validate({"$ref": "#"}, {}) == ()
    loop = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    assert validate(loop, {}) == ()


def test_values_that_are_no_json_are_problems() -> None:
    for value in ({"a": object()}, {"a": float("nan")}, {1: 2}, {"a": "\ud800"}, {"a": 10**400}):
        validate({"type": "object"}, value)
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    assert validate({"type": "object"}, deep)


def test_defaults_fill_what_is_left_out() -> None:
    schema = {
        "properties": {
            "a": {"default": 1},
            "b": {"default": [1]},
            "c": {"properties": {"d": {"default": True}}},
            "e": {"type": "string"},
        }
    }
    given = {"b": None, "c": {}}
    assert with_defaults(schema, given) == {"a": 1, "b": None, "c": {"d": True}}
    assert given == {"b": None, "c": {}}
    filled = with_defaults(schema, {})
    filled["b"].append(2)
    assert with_defaults(schema, {})["b"] == [1]


REASONS: list[tuple[Any, Any, str, str | None]] = [  # what is broken, and the value that the reason shows
    ({"type": ["integer", "null"]}, "x", "type", "integer, null"),
    ({"minimum": 3}, 1, "minimum", "3"),
    ({"maxLength": 2}, "abc", "maxLength", "2"),
    ({"enum": ["天", 2]}, 1, "enum", "天, 2"),
    ({"pattern": "^a"}, "b", "pattern", "^a"),
    ({"format": "date"}, "b", "format", "date"),
    ({"properties": {"a": {}}, "additionalProperties": False}, {"z": 1}, "additionalProperties", "z"),
    ({"additionalProperties": False}, {"z": 1}, "falseSchema", None),
    ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1, "type", "string, null"),
    ({"oneOf": [{"type": "string"}, {"type": "null"}]}, 1, "type", "string, null"),
    ({"oneOf": [{"type": "string"}, {"minimum": 3}]}, 1, "oneOf", None),
    ({"oneOf": [{"type": "integer"}, {"minimum": 1}]}, 1, "oneOf", None),
    ({"anyOf": [{"const": 1}, {"const": 2}]}, 3, "anyOf", None),
    ({"not": {"type": "string"}}, "a", "not", None),
    ({"minProperties": 2}, {}, "minProperties", "2"),
    ({"contains": {"type": "string"}}, [1], "contains", None),
]


@pytest.mark.parametrize(("schema", "value", "keyword", "shown"), REASONS)
def test_a_reason_shows_its_value_and_can_be_translated(schema, value, keyword, shown) -> None:
    found = validate(schema, value)[0]
    reason: Any = found.params["reason"]
    assert reason.params.keys() == ({"value"} if shown else set())
    value_shown = str(reason.params.get("value", ""))
    assert sorted(value_shown.split(", ")) == sorted((shown or "").split(", "))  # types have no order
    assert value_shown in found.message()
    translated = found.message(lambda text: text.replace(reason.template, "<%(value)s>" if shown else "<>"))
    assert f"<{value_shown}>" in translated


def test_each_keyword_has_one_reason_of_its_own() -> None:
    templates: dict[str, set[str]] = {}
    for schema, value, keyword, _shown in REASONS:
        reason: Any = validate(schema, value)[0].params["reason"]
        templates.setdefault(keyword, set()).add(reason.template)
    assert {len(each) for each in templates.values()} == {1}
    assert len(set.union(*templates.values())) == len(templates)


def test_a_rare_keyword_has_the_reason_of_the_validator() -> None:
    found = validate({"propertyNames": {"maxLength": 1}}, {"ab": 1})[0]
    assert '"ab" is longer than 1 character' in found.message()
