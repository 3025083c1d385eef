"""Estimates the cost of a validation before it runs, because references in a schema can multiply the cost."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

MAX_PAIRS = 200_000  # pairs of a subschema and a value; with more pairs, the cost counts as too high
_SAME_VALUE = ("not", "if", "then", "else")
_SAME_VALUE_LISTS = ("allOf", "anyOf", "oneOf")
_EACH = ("items", "additionalItems", "contains", "unevaluatedItems", "prefixItems")
_MEMBERS = ("additionalProperties", "unevaluatedProperties")


def cost_of(schema: Mapping[str, Any], value: object, limit: int) -> int:
    """An upper bound for the number of visits in a validation. 0 if the bound is clearly within ``limit``.

    A visit applies a subschema to a value. Counting stops above ``limit``, so higher results are not exact.
    """
    parts, refers = _size(schema)
    if not refers and parts * _size(value)[0] <= limit:
        return 0
    return _Counter(schema, limit).count(schema, value)


def _size(root: object) -> tuple[int, bool]:
    """The number of nested values including ``root``, and whether a mapping among them has a reference."""
    parts, refers, pending = 0, False, [root]
    while pending:
        node = pending.pop()
        parts += 1
        if isinstance(node, Mapping):
            refers = refers or "$ref" in node or "$dynamicRef" in node or "$recursiveRef" in node
        pending.extend(_parts(node))
    return parts, refers


class _Counter:
    """Counts visits. Caches the count of each pair of subschema and value by identity, to bound the time."""

    def __init__(self, root: Mapping[str, Any], limit: int) -> None:
        self.root = root
        self.limit = limit
        self.known: dict[tuple[int, int], int] = {}

    def count(self, schema: object, value: object) -> int:
        if not isinstance(schema, Mapping):
            return 1
        pair = (id(schema), id(value))
        if pair in self.known:
            return self.known[pair]
        if len(self.known) > MAX_PAIRS:
            return self.limit + 1
        self.known[pair] = 1  # so that a self-reference at the same value is followed only once
        try:
            total = 1 + len(_parts(schema.get("enum")))
            for inner, below in _visits(schema, value, self.root):
                total += self.count(inner, below)
                if total > self.limit:
                    break
        except RecursionError:
            total = self.limit + 1
        self.known[pair] = total
        return total


def _visits(
    schema: Mapping[str, Any], value: object, root: Mapping[str, Any]
) -> Iterator[tuple[Any, object]]:
    """Yields each subschema that a validator applies next, and its value. A missing subschema is None."""
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        if isinstance(reference := schema.get(keyword), str):
            yield _target(root, reference), value
    for keyword in _SAME_VALUE:
        yield schema.get(keyword), value
    for keyword in _SAME_VALUE_LISTS:
        for inner in _parts(schema.get(keyword)):
            yield inner, value
    for keyword in ("dependentSchemas", "dependencies"):
        for inner in _parts(schema.get(keyword)):
            yield inner, value
    if isinstance(value, Mapping):
        yield from _member_visits(schema, value)
    elif isinstance(value, list):
        for keyword in _EACH:
            for inner in (
                _parts(schema.get(keyword))
                if isinstance(schema.get(keyword), list)
                else [schema.get(keyword)]
            ):
                yield from ((inner, below) for below in value if isinstance(inner, Mapping))


def _member_visits(schema: Mapping[str, Any], value: Mapping[str, Any]) -> Iterator[tuple[Any, object]]:
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        yield from ((properties[name], below) for name, below in value.items() if name in properties)
    general = [schema.get(keyword) for keyword in _MEMBERS] + list(_parts(schema.get("patternProperties")))
    for inner in general:
        if isinstance(inner, Mapping):
            yield from ((inner, below) for below in value.values())


def _parts(value: object) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else []


def _target(root: Mapping[str, Any], reference: str) -> object:
    """The node that ``reference`` points to, or None. An anchor (``#name``) counts as the whole schema."""
    node: Any = root
    for part in reference.removeprefix("#").split("/")[1:]:
        part = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping) and part in node:
            node = node[part]
        elif isinstance(node, list) and part.isdigit() and int(part) < len(node):
            node = node[int(part)]
        else:
            return None
    return node
