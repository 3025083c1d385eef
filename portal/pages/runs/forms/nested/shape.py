"""Reads an untrusted JSON Schema for a form: resolved references, properties and the branches of a choice."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from portal.pages.runs.forms.text_fields import Schema

_MAX_HOPS = 5  # references and single branches that are followed for one value
_MAX_BRANCHES = 12
_MAX_PROPERTIES = 200  # of one branch
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}


@dataclass(frozen=True)
class Branch:
    """One branch of ``oneOf`` or ``anyOf``, merged with the schema that contains it."""

    label: str
    schema: Schema


def resolve(root: Schema, sub: object) -> Schema:
    """The schema with its local references replaced, and a nullable or single branch merged into it.

    Returns {} for references that don't end, which allows any value.
    """
    for _hop in range(_MAX_HOPS):
        if not isinstance(sub, Mapping):
            return {}
        target = _target(root, sub)
        if target is None:
            return sub
        sub = target
    return {}


def _target(root: Schema, sub: Schema) -> Schema | None:
    """The schema with one reference or single branch merged into it; None if it has neither."""
    if isinstance(reference := sub.get("$ref"), str):
        found = _find(root, reference)
        return {**found, **_without(sub, "$ref")} if isinstance(found, Mapping) else None
    for keyword in ("anyOf", "oneOf", "allOf"):
        rows = sub.get(keyword)
        branches = [row for row in rows if row != {"type": "null"}] if isinstance(rows, list) else []
        if len(branches) == 1 and isinstance(branches[0], Mapping):
            return {**branches[0], **_without(sub, keyword)}
    return None


def _find(root: Schema, reference: str) -> Any:
    found: Any = root
    for part in reference.split("/")[1:] if reference.startswith("#/") else ():
        name = part.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if reference.startswith("#/") or reference == "#" else None


def _without(schema: Schema, *names: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name not in names}


def type_of(schema: Schema) -> str:
    """The only type of the schema apart from "null"; "" if there is none or several."""
    kind = schema.get("type")
    if isinstance(kind, list):
        real = [name for name in kind if name != "null"]
        return str(real[0]) if len(real) == 1 else ""
    return kind if isinstance(kind, str) else ""


def required_keys(schema: Schema) -> set[str]:
    names = schema.get("required")
    return {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()


def properties(root: Schema, schema: Schema) -> Iterator[tuple[str, Schema, bool]]:
    """Yields key, resolved schema and required flag of each property."""
    rows = schema.get("properties")
    required = required_keys(schema)
    for key, sub in rows.items() if isinstance(rows, Mapping) else ():
        yield str(key), resolve(root, sub), key in required


def has_properties(schema: Schema) -> bool:
    rows = schema.get("properties")
    return type_of(schema) in ("object", "") and isinstance(rows, Mapping) and bool(rows)


def branches(root: Schema, schema: Schema) -> list[Branch]:
    """The branches among which the user chooses; [] if the schema has none or they have no distinct names."""
    keyword = next((name for name in ("oneOf", "anyOf") if isinstance(schema.get(name), list)), "")
    rows = schema[keyword] if keyword else []
    if not 1 < len(rows) <= _MAX_BRANCHES:
        return []
    found = [resolve(root, row) for row in rows]
    if has_properties(schema) and not all(map(has_properties, found)):
        return []
    labels = [_label(root, row) for row in found]
    if not all(labels) or len(set(labels)) < len(labels):
        return []
    base = _without(schema, keyword, "title", "description", "default")
    return [Branch(label, _merged(base, row)) for label, row in zip(labels, found, strict=True)]


def _merged(base: Schema, branch: Schema) -> Schema:
    merged = {**base, **branch}
    if has_properties(base) and has_properties(branch):
        merged["properties"] = {**base["properties"], **branch["properties"]}
    if names := required_keys(base) | required_keys(branch):
        merged["required"] = sorted(names)
    return merged


def _label(root: Schema, branch: Schema) -> str:
    """The branch's title, otherwise the constant text of one of its properties, otherwise its type."""
    if title := branch.get("title"):
        return str(title)
    rows = islice(properties(root, branch), _MAX_PROPERTIES)
    constants = (sub.get("const") for _key, sub, _required in rows)
    return next((text for text in constants if isinstance(text, str)), "") or type_of(branch)


def fits(root: Schema, schema: Schema, value: object) -> bool:
    """Whether the value seems to belong to the schema, from its type, its keys and its constants."""
    if "const" in schema:
        return is_same(schema["const"], value)
    kinds = _TYPES.get(type_of(schema))
    if kinds and (not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds)):
        return False
    if isinstance(values := schema.get("enum"), list):
        return any(is_same(each, value) for each in values)
    if not isinstance(value, Mapping) or not has_properties(schema):
        return True
    rows = islice(properties(root, schema), _MAX_PROPERTIES)
    subs = {key: sub for key, sub, _required in rows}
    constants = {key: sub["const"] for key, sub in subs.items() if "const" in sub and key in value}
    required = required_keys(schema)
    return required <= set(value) <= set(subs) | required and all(
        is_same(constant, value[key]) for key, constant in constants.items()
    )


def is_same(one: object, other: object) -> bool:
    """Whether two JSON values are equal, where true is not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
