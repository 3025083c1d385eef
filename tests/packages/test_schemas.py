"""JSON Schemas of strangers: nothing fetched, nothing that runs away, every flaw with its place."""

from __future__ import annotations

import http.server
import threading

import pytest

from registry.packages.schemas import check_schema, validate, with_defaults

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


BAD = {
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
        ("VALUE_INVALID", ""),
        ("VALUE_INVALID", "/a~1b/1"),
        ("VALUE_INVALID", "/c"),
    ]
    assert found[0].message() == "d is missing."
    assert validate(schema, {"d": 1, "a/b": [1]}) == ()


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
    assert validate(tree, {"n": 1, "next": {}})[0].path == "/next"


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


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ({"type": ["integer", "null"]}, "x", "It must be of the type "),
        ({"minimum": 3}, 1, "It must be 3 or more."),
        ({"maxLength": 2}, "abc", "It must have at most 2 characters."),
        ({"enum": ["天", 2]}, 1, "It must be one of 天, 2."),
        ({"pattern": "^a"}, "b", "It must match the pattern ^a."),
        ({"format": "date"}, "b", "It must have the format date."),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"z": 1}, "z is not known here."),
        ({"additionalProperties": False}, {"z": 1}, "Nothing may stand here."),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1, "It must be of the type string, null."),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, 1, "It must be of the type string, null."),
        ({"oneOf": [{"type": "string"}, {"minimum": 3}]}, 1, "It must be exactly one of the things"),
        ({"oneOf": [{"type": "integer"}, {"minimum": 1}]}, 1, "It must be exactly one of the things"),
        ({"anyOf": [{"const": 1}, {"const": 2}]}, 3, "It is none of the things that it may be."),
        ({"not": {"type": "string"}}, "a", "It is just what it must not be."),
        ({"minProperties": 2}, {}, "It must have at least 2 fields."),
        ({"contains": {"type": "string"}}, [1], "None of its items is as one of them must be."),
        ({"propertyNames": {"maxLength": 1}}, {"ab": 1}, '"ab" is longer than 1 character'),
    ],
)
def test_what_does_not_fit_is_said_in_words_that_can_be_translated(schema, value, said) -> None:
    found = validate(schema, value)[0]
    assert found.message().startswith(said)
    assert found.message(lambda text: text.replace("It must", "Es muss")).startswith(
        said.replace("It must", "Es muss")
    )
