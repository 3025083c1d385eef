"""What changed from one JSON value to another, place by place; no Django."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from registry.packages.comparison_lines import common
from registry.packages.schemas import pointer

MOST = 300  # changes that are told of one value
_LONGEST = 2_000  # characters of a value that is told
_MOST_ITEMS = 2_000  # of two lists that are aligned; longer ones are held against each other by place
Place = tuple[str | int, ...]


@dataclass(frozen=True)
class ValueChange:
    """``place`` is a JSON pointer, of the earlier value where something is gone; texts are JSON or ""."""

    kind: Literal["added", "removed", "changed"]
    place: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class ValueChanges:
    """At most ``MOST`` of them; ``more`` says that there are others."""

    changes: tuple[ValueChange, ...] = ()
    more: bool = False


def compare_values(before: Any, after: Any) -> ValueChanges:
    """The places at which two JSON values differ; items of lists are aligned by what they hold."""
    found = list(islice(_changes(before, after, ()), MOST + 1))
    return ValueChanges(tuple(found[:MOST]), len(found) > MOST)


def _changes(before: Any, after: Any, place: Place) -> Iterator[ValueChange]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            yield from _of_key(before, after, key, place)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _of_lists(before, after, place)
    elif type(before) is not type(after) or before != after:
        yield ValueChange("changed", pointer([*place]), _text(before), _text(after))


def _of_key(
    before: Mapping[str, Any], after: Mapping[str, Any], key: str, place: Place
) -> Iterator[ValueChange]:
    here = (*place, key)
    if key not in after:
        yield ValueChange("removed", pointer([*here]), before=_text(before[key]))
    elif key not in before:
        yield ValueChange("added", pointer([*here]), after=_text(after[key]))
    else:
        yield from _changes(before[key], after[key], here)


def _of_lists(before: Sequence[Any], after: Sequence[Any], place: Place) -> Iterator[ValueChange]:
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
    """Items that are the same on both sides, as JSON: ``false`` is no 0."""
    one, other = [_whole(item) for item in before], [_whole(item) for item in after]
    if one == other:
        return [(at, at) for at in range(len(one))]
    return (max(len(one), len(other)) <= _MOST_ITEMS and common(one, other, most=_MOST_ITEMS)) or []


def _whole(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
