"""Compares two JSON values; imports no Django."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from registry.packages.compare.lines import common_pairs
from registry.packages.schemas.validate import pointer

MAX_CHANGES = 300  # number of returned changes
_MAX_CHARACTERS = 2_000  # length of a value in a change
_MAX_ITEMS = 2_000  # length of lists that are aligned; longer lists are compared by index
ValuePath = tuple[str | int, ...]


@dataclass(frozen=True)
class ValueChange:
    """A difference between two values; ``pointer`` points into the later one, or the earlier for a removal.

    ``before`` and ``after`` are JSON, cut to ``_MAX_CHARACTERS``, or "" on the side without a value.
    """

    kind: Literal["added", "removed", "changed"]
    pointer: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class ValueChanges:
    """At most ``MAX_CHANGES`` changes; ``truncated`` if there are more.

    If ``too_large``, the values were not compared.
    """

    changes: tuple[ValueChange, ...] = ()
    truncated: bool = False
    too_large: bool = False


def compare_values(before: Any, after: Any) -> ValueChanges:
    """The differences of two JSON values; items of lists are aligned by content."""
    found = list(islice(_changes(before, after, ()), MAX_CHANGES + 1))
    return ValueChanges(tuple(found[:MAX_CHANGES]), len(found) > MAX_CHANGES)


def _changes(before: Any, after: Any, place: ValuePath) -> Iterator[ValueChange]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            yield from _of_key(before, after, key, place)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _of_lists(before, after, place)
    elif type(before) is not type(after) or before != after:
        yield ValueChange("changed", pointer([*place]), _text(before), _text(after))


def _of_key(
    before: Mapping[str, Any], after: Mapping[str, Any], key: str, place: ValuePath
) -> Iterator[ValueChange]:
    here = (*place, key)
    if key not in after:
        yield ValueChange("removed", pointer([*here]), before=_text(before[key]))
    elif key not in before:
        yield ValueChange("added", pointer([*here]), after=_text(after[key]))
    else:
        yield from _changes(before[key], after[key], here)


def _of_lists(before: Sequence[Any], after: Sequence[Any], place: ValuePath) -> Iterator[ValueChange]:
    i = j = 0
    for next_i, next_j in [*_pairs(before, after), (len(before), len(after))]:
        together = min(next_i - i, next_j - j)
        for step in range(together):
            yield from _changes(before[i + step], after[j + step], (*place, j + step))
        for at in range(i + together, next_i):
            yield ValueChange("removed", pointer([*place, at]), before=_text(before[at]))
        for at in range(j + together, next_j):
            yield ValueChange("added", pointer([*place, at]), after=_text(after[at]))
        i, j = next_i + 1, next_j + 1


def _pairs(before: Sequence[Any], after: Sequence[Any]) -> list[tuple[int, int]]:
    """Index pairs of items that are equal as JSON: ``false`` differs from 0. Long lists have no pairs."""
    if max(len(before), len(after)) > _MAX_ITEMS:
        return []
    one, other = [_canonical_json(item) for item in before], [_canonical_json(item) for item in after]
    if one == other:
        return [(at, at) for at in range(len(one))]
    return common_pairs(one, other, limit=_MAX_ITEMS) or []


def _canonical_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"
