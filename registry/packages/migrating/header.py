"""Front matter with fields put in, replaced and taken out; the rest stays as its author wrote it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from registry.packages.frontmatter import TEXT_FIELDS, FrontMatter
from registry.packages.limits import Limits
from registry.packages.problems import Refused
from registry.packages.yaml_reading import YamlReader
from registry.packages.yaml_writing import json_text, scalar

_NEW_LINE = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # as YAML counts them


def edited(front: FrontMatter, put: Mapping[str, Any], without: Collection[str], limits: Limits) -> str:
    """The header's lines; where lines cannot be exchanged (``{a: 1}``) it is written anew."""
    own = front.values if not front.beside else _without(front.values, front.beside.values)
    expected = {**_without(own, without), **put}
    by_hand = _by_lines(front, put, {*without, *put})
    if _reads_as(by_hand, expected, limits):
        return by_hand
    return "".join(line + "\n" for line in _block(expected, 0))


def _without(values: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _by_lines(front: FrontMatter, put: Mapping[str, Any], gone: Collection[str]) -> str:
    """What is put stands where it stood, else at the end."""
    lines = _NEW_LINE.split(front.header)
    if lines[-1] == "":
        lines.pop()
    starts = sorted(
        (line - front.header_line, place[0]) for place, line in front.lines.items() if len(place) == 1
    )
    result = lines[: starts[0][0]] if starts else lines
    ends = [start for start, _ in starts[1:]] + [len(lines)]
    for (start, name), after in zip(starts, ends, strict=False):
        end = _end(lines, start, after)
        if name in put:
            result += _block({name: put[name]}, 0)
        elif name not in gone:
            result += lines[start:end]
        result += lines[end:after]
    there = {name for _, name in starts}
    result += _block(_without(put, there), 0)
    return "".join(line + "\n" for line in result)


def _end(lines: list[str], start: int, after: int) -> int:
    """Comments and empty lines before the next field belong to that."""
    while after > start + 1 and (not lines[after - 1].strip() or lines[after - 1].startswith("#")):
        after -= 1
    return after


def _reads_as(header: str, expected: Mapping[str, Any], limits: Limits) -> bool:
    try:
        return bool(YamlReader(limits, as_text=TEXT_FIELDS).read(header) == expected)
    except Refused:
        return False


def _block(value: Any, indent: int) -> list[str]:
    """A group or a list as YAML's indented lines."""
    pad = " " * indent
    lines = []
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if isinstance(inner, Mapping | list) and inner:
                lines += [f"{pad}{scalar(name)}:", *_block(inner, indent + 2)]
            else:
                lines.append(f"{pad}{scalar(name)}: {_leaf(inner)}")
        return lines
    for inner in value:
        if isinstance(inner, Mapping | list) and inner:
            first, *rest = _block(inner, indent + 2)
            lines += [f"{pad}- {first.lstrip(' ')}", *rest]
        else:
            lines.append(f"{pad}- {_leaf(inner)}")
    return lines


def _leaf(value: Any) -> str:
    return scalar(value) if isinstance(value, str) else json_text(value)
