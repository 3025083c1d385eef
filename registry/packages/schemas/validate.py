"""Checks untrusted JSON Schemas and validates values against them. Remote references are never fetched.

jsonschema-rs runs offline with its linear-time regex engine, so look-around in patterns is not supported.
"""

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import jsonschema_rs

from registry.packages import errors as package_errors
from registry.packages.archive.paths import printable
from registry.packages.problems import Code, LazyMessage, Problem, Refusal, gettext_noop
from registry.packages.problems import gettext_noop as _
from registry.packages.schemas.cost import cost_of

MAX_BYTES = 128 * 1024  # as JSON in UTF-8
MAX_DEPTH = 32
MAX_NODES = 5_000
MAX_COST = 2_000_000  # visits per validation, which take about two seconds
MAX_ERRORS = 50
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_REASONS = {  # messages by schema keyword
    "type": _("Value must be of type %(value)s."),
    "enum": _("Value must be one of: %(value)s."),
    "const": _("Value must be %(value)s."),
    "minimum": _("Value must be %(value)s or more."),
    "maximum": _("Value must be %(value)s or less."),
    "exclusiveMinimum": _("Value must be greater than %(value)s."),
    "exclusiveMaximum": _("Value must be less than %(value)s."),
    "multipleOf": _("Value must be a multiple of %(value)s."),
    "minLength": _("Value must have %(value)s or more characters."),
    "maxLength": _("Value must have %(value)s or fewer characters."),
    "pattern": _("Value must match the pattern %(value)s."),
    "format": _("Value must have the format %(value)s."),
    "minItems": _("Value must have %(value)s or more items."),
    "maxItems": _("Value must have %(value)s or fewer items."),
    "uniqueItems": _("Items must be unique."),
    "required": _("Missing required field: %(value)s."),
    "falseSchema": _("No value is allowed here."),
    "additionalProperties": _("Unknown field: %(value)s."),
    "unevaluatedProperties": _("Unknown field: %(value)s."),
    "minProperties": _("Value must have %(value)s or more fields."),
    "maxProperties": _("Value must have %(value)s or fewer fields."),
    "contains": _("No item matches the schema in `contains`."),
    "not": _("Value matches the schema in `not`, which is not allowed."),
    "anyOf": _("Value matches none of the schemas in `anyOf`."),
    "oneOf": _(
        "Value must match exactly one of the schemas in `oneOf`, but it matches none or more than one."
    ),
}
_PATTERNS = jsonschema_rs.RegexOptions(size_limit=1 << 18, dfa_size_limit=1 << 20)


def check_schema(schema: object, *, where: str = "schema") -> tuple[Problem, ...]:
    """The first problem that makes the schema unusable, as a tuple; empty if there is none.

    ``where`` names the schema in messages. The problem's ``path`` is a JSON pointer into the schema.
    """
    try:
        _check_shape(schema, where)
        _compile(schema, where)
    except Refusal as refused:
        return refused.problems
    return ()


def validate(
    schema: Mapping[str, Any], value: object, *, missing: Code[[]] | None = None
) -> tuple[Problem, ...]:
    """At most 50 problems of the value, sorted by ``path``, a JSON pointer into the value.

    The problem of a missing field has the field's path; ``missing`` replaces its code. Returns a single
    problem if the schema is unusable, or if the validation does not finish or is too expensive.
    """
    try:
        _check_shape(schema, "schema")
        validator = _compile(schema, "schema")
        if cost_of(schema, value, MAX_COST) > MAX_COST:
            return (package_errors.VALUE_TOO_COSTLY.problem(),)
        errors = _take(validator.iter_errors(value), MAX_ERRORS)
    except Refusal as refused:
        return refused.problems
    except (ValueError, RecursionError, TypeError, OverflowError) as error:
        return (package_errors.VALUE_INVALID.problem(reason=printable(str(error))),)
    return tuple(sorted((_problem(error, missing) for error in errors), key=lambda one: one.path))


def _problem(error: jsonschema_rs.ValidationError, missing: Code[[]] | None) -> Problem:
    path, reason = list(error.instance_path), _reason(error)
    if error.kind.name != "required":
        return package_errors.VALUE_INVALID.problem(reason=reason).at(pointer(path))
    problem = missing.problem() if missing else package_errors.VALUE_INVALID.problem(reason=reason)
    return replace(problem, detail=reason).at(pointer([*path, error.kind.value]))


def _reason(error: jsonschema_rs.ValidationError) -> str:
    """The message for an error: a translatable one for common keywords, otherwise the validator's own."""
    name, value = error.kind.name, getattr(error.kind, "value", None)
    if name not in _REASONS:
        return printable(error.message)
    if kinds := _choice_types(error):
        name, value = "type", kinds
    if "%(value)s" not in _REASONS[name]:
        return LazyMessage(_REASONS[name])
    parts = value if isinstance(value, list) else [value]
    text = ", ".join(one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in parts)
    return LazyMessage(_REASONS[name], value=printable(text))


def _choice_types(error: jsonschema_rs.ValidationError) -> list[str]:
    """The types that the branches of ``anyOf`` or ``oneOf`` require.

    ``[]`` unless every branch fails because of the value's type.
    """
    branches = getattr(error.kind, "context", None) or []
    firsts = [errors[0].kind for errors in branches if errors]
    if not branches or len(firsts) < len(branches) or any(kind.name != "type" for kind in firsts):
        return []
    named = [kind.value if isinstance(kind.value, list) else [kind.value] for kind in firsts]
    return [str(name) for names in named for name in names]


def with_defaults(schema: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the value with the schema's defaults for missing properties, also in nested objects.

    Objects that come from a default get no defaults of their own.
    """
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
    """The parts as a JSON pointer (RFC 6901); "" for no parts, which means the whole value."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def _take(errors: Iterator[jsonschema_rs.ValidationError], limit: int) -> list[jsonschema_rs.ValidationError]:
    return [error for error, _ in zip(errors, range(limit), strict=False)]


def _check_shape(schema: object, where: str) -> None:
    """Raises Refusal unless the schema is an object within the limits and refers only to itself."""
    if not isinstance(schema, Mapping):
        raise package_errors.SCHEMA_INVALID.refusal(where=where, reason=gettext_noop("it is not an object"))
    nodes = 0
    pending: list[tuple[Any, tuple[str | int, ...]]] = [(schema, ())]
    while pending:
        node, location = pending.pop()
        nodes += 1
        if nodes > MAX_NODES or len(location) > MAX_DEPTH:
            text = gettext_noop("more than %(parts)s parts or %(levels)s levels")
            reason = LazyMessage(text, parts=MAX_NODES, levels=MAX_DEPTH)
            raise package_errors.SCHEMA_TOO_LARGE.refusal(where=where, reason=reason)
        if isinstance(node, Mapping):
            _check_references(node, location, where)
            pending.extend((inner, (*location, str(name))) for name, inner in node.items())
        elif isinstance(node, list):
            pending.extend((inner, (*location, index)) for index, inner in enumerate(node))
    if len(json.dumps(schema, ensure_ascii=False).encode("utf-8", "replace")) > MAX_BYTES:
        reason = LazyMessage(gettext_noop("more than %(limit)s bytes"), limit=MAX_BYTES)
        raise package_errors.SCHEMA_TOO_LARGE.refusal(where=where, reason=reason)


def _check_references(node: Mapping[str, Any], location: tuple[str | int, ...], where: str) -> None:
    for keyword in _REFERENCES:
        reference = node.get(keyword)
        if isinstance(reference, str) and not reference.startswith("#"):
            raise package_errors.SCHEMA_REFERENCE.refusal(where=where, reference=printable(reference)).at(
                pointer([*location, keyword])
            )


def _compile(schema: Any, where: str) -> jsonschema_rs.Validator:
    try:
        return jsonschema_rs.validator_for(
            schema, pattern_options=_PATTERNS, offline=True, validate_formats=True
        )
    except jsonschema_rs.ValidationError as error:
        raise package_errors.SCHEMA_INVALID.refusal(where=where, reason=printable(error.message)).at(
            pointer(error.instance_path)
        ) from None
    except (ValueError, TypeError, RecursionError, OverflowError, jsonschema_rs.ReferencingError) as error:
        raise package_errors.SCHEMA_INVALID.refusal(where=where, reason=printable(str(error))) from None
