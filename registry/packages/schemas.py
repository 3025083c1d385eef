"""JSON Schemas of strangers: checked, never fetched for, never followed out of themselves.

jsonschema-rs without retrieval and with its linear regex engine, so that no pattern runs away; look-around is
therefore not taken.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs

from registry.packages.paths import shown
from registry.packages.problems import Problem, Refused, Said, gettext_noop, problem, refuse
from registry.packages.problems import gettext_noop as _
from registry.packages.schema_cost import cost_of

BYTES = 64 * 1024
DEPTH = 32
NODES = 5_000
COST = 2_000_000  # visits of a subschema to a value; about two seconds
ERRORS = 50
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_SAYS = {  # what is asked of a value, by keyword
    "type": _("It must be of the type %(value)s."),
    "enum": _("It must be one of %(value)s."),
    "const": _("It must be %(value)s."),
    "minimum": _("It must be %(value)s or more."),
    "maximum": _("It must be %(value)s or less."),
    "exclusiveMinimum": _("It must be more than %(value)s."),
    "exclusiveMaximum": _("It must be less than %(value)s."),
    "multipleOf": _("It must be a multiple of %(value)s."),
    "minLength": _("It must have at least %(value)s characters."),
    "maxLength": _("It must have at most %(value)s characters."),
    "pattern": _("It must match the pattern %(value)s."),
    "format": _("It must have the format %(value)s."),
    "minItems": _("It must have at least %(value)s items."),
    "maxItems": _("It must have at most %(value)s items."),
    "uniqueItems": _("No item may stand in it twice."),
    "required": _("%(value)s is missing."),
    "falseSchema": _("Nothing may stand here."),
    "additionalProperties": _("%(value)s is not known here."),
    "unevaluatedProperties": _("%(value)s is not known here."),
    "minProperties": _("It must have at least %(value)s fields."),
    "maxProperties": _("It must have at most %(value)s fields."),
    "contains": _("None of its items is as one of them must be."),
    "not": _("It is just what it must not be."),
    "anyOf": _("It is none of the things that it may be."),
    "oneOf": _("It must be exactly one of the things that it may be."),
}
_PATTERNS = jsonschema_rs.RegexOptions(size_limit=1 << 18, dfa_size_limit=1 << 20)


def check_schema(schema: object, *, where: str = "schema") -> tuple[Problem, ...]:
    """What keeps this from being a schema that we use; ``path`` is a JSON pointer into it."""
    try:
        _check_shape(schema, where)
        _compile(schema, where)
    except Refused as refused:
        return refused.problems
    return ()


def validate(schema: Mapping[str, Any], value: object) -> tuple[Problem, ...]:
    """Where the value does not fit, at most 50 places; ``path`` is a JSON pointer into the value."""
    try:
        _check_shape(schema, "schema")
        validator = _compile(schema, "schema")
        if cost_of(schema, value, COST) > COST:
            return (problem("VALUE_TOO_COSTLY"),)
        errors = _first(validator.iter_errors(value), ERRORS)
    except Refused as refused:
        return refused.problems
    except (ValueError, RecursionError, TypeError, OverflowError) as error:
        return (problem("VALUE_INVALID", reason=shown(str(error))),)
    found = [
        problem("VALUE_INVALID", path=pointer(error.instance_path), reason=_reason(error)) for error in errors
    ]
    return tuple(sorted(found, key=lambda one: one.path))


def _reason(error: jsonschema_rs.ValidationError) -> str:
    """What the schema asks, in words of ours where it is a common keyword, else in the validator's."""
    name, value = error.kind.name, getattr(error.kind, "value", None)
    if name not in _SAYS:
        return shown(error.message)
    if kinds := _kinds_of_choice(error):
        name, value = "type", kinds
    if "%(value)s" not in _SAYS[name]:
        return Said(_SAYS[name])
    parts = value if isinstance(value, list) else [value]
    text = ", ".join(one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in parts)
    return Said(_SAYS[name], value=shown(text))


def _kinds_of_choice(error: jsonschema_rs.ValidationError) -> list[str]:
    """The types that a choice offers, where it is the type alone that fits none of them."""
    ways = getattr(error.kind, "context", None) or []
    firsts = [errors[0].kind for errors in ways if errors]
    if not ways or len(firsts) < len(ways) or any(kind.name != "type" for kind in firsts):
        return []
    named = [kind.value if isinstance(kind.value, list) else [kind.value] for kind in firsts]
    return [str(name) for names in named for name in names]


def with_defaults(schema: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
    """The value with the ``default`` of each property that it leaves out, within objects that it has too."""
    result = dict(value)
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        if not isinstance(inner, Mapping):
            continue
        if name not in result and "default" in inner:
            result[name] = copy.deepcopy(inner["default"])
        elif isinstance(result.get(name), Mapping):
            result[name] = with_defaults(inner, result[name])
    return result


def pointer(parts: Iterator[str | int] | list[str | int]) -> str:
    """RFC 6901; empty for the whole value."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def _first(
    errors: Iterator[jsonschema_rs.ValidationError], limit: int
) -> list[jsonschema_rs.ValidationError]:
    return [error for error, _ in zip(errors, range(limit), strict=False)]


def _check_shape(schema: object, where: str) -> None:
    """Size, depth and references, before any library sees it."""
    if not isinstance(schema, Mapping):
        raise refuse("SCHEMA_INVALID", where=where, reason=gettext_noop("it is not an object"))
    nodes = 0
    pending: list[tuple[Any, tuple[str | int, ...]]] = [(schema, ())]
    while pending:
        node, place = pending.pop()
        nodes += 1
        if nodes > NODES or len(place) > DEPTH:
            raise refuse("SCHEMA_TOO_LARGE", where=where, reason=f"more than {NODES} parts or {DEPTH} levels")
        if isinstance(node, Mapping):
            _check_references(node, place, where)
            pending.extend((inner, (*place, str(name))) for name, inner in node.items())
        elif isinstance(node, list):
            pending.extend((inner, (*place, index)) for index, inner in enumerate(node))
    if len(json.dumps(schema)) > BYTES * 2:
        raise refuse("SCHEMA_TOO_LARGE", where=where, reason=f"more than {BYTES} bytes")


def _check_references(node: Mapping[str, Any], place: tuple[str | int, ...], where: str) -> None:
    for keyword in _REFERENCES:
        reference = node.get(keyword)
        if isinstance(reference, str) and not reference.startswith("#"):
            raise refuse(
                "SCHEMA_REFERENCE", path=pointer([*place, keyword]), where=where, reference=shown(reference)
            )


def _compile(schema: Any, where: str) -> jsonschema_rs.Validator:
    try:
        return jsonschema_rs.validator_for(
            schema, pattern_options=_PATTERNS, offline=True, validate_formats=True
        )
    except jsonschema_rs.ValidationError as error:
        raise refuse(
            "SCHEMA_INVALID", path=pointer(error.instance_path), where=where, reason=shown(error.message)
        ) from None
    except (ValueError, TypeError, RecursionError, OverflowError, jsonschema_rs.ReferencingError) as error:
        raise refuse("SCHEMA_INVALID", where=where, reason=shown(str(error))) from None
