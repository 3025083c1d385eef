"""Adds, replaces and removes front matter fields. If possible, all other lines stay unchanged."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from registry.packages.limits import Limits
from registry.packages.manifest.frontmatter import TEXT_FIELDS, FrontMatter
from registry.packages.manifest.yaml_reader import YamlReader
from registry.packages.manifest.yaml_writer import json_text, scalar
from registry.packages.problems import Refusal

_NEW_LINE = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # the line breaks of YAML


def edit_header(
    front: FrontMatter, updates: Mapping[str, Any], removed: Collection[str], limits: Limits
) -> str:
    """The header with the fields of ``updates`` set, and without the ``removed`` fields.

    Rewrites the whole header if its lines can't be edited separately, as in ``{a: 1}``.
    """
    own_values = (
        front.values if not front.legacy_metadata else _without(front.values, front.legacy_metadata.values)
    )
    expected = {**_without(own_values, removed), **updates}
    edited = _by_lines(front, updates, {*removed, *updates})
    if _reads_as(edited, expected, limits):
        return edited
    return "".join(line + "\n" for line in _block(expected, 0))


def with_header(data: bytes, front: FrontMatter, header: str) -> bytes:
    """The content of SKILL.md with this header, the body of ``front`` and the line endings of ``data``."""
    end = "\r\n" if b"\r\n" in data else "\n"
    head = f"---\n{header}---\n" + ("" if front.header else "\n")
    return (head.replace("\n", end) + front.body).encode()


def _without(values: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _by_lines(front: FrontMatter, updates: Mapping[str, Any], removed: Collection[str]) -> str:
    """The header without the ``removed`` fields; updated fields are replaced in place, new ones appended."""
    lines = _NEW_LINE.split(front.header)
    if lines[-1] == "":
        lines.pop()
    starts = sorted(
        (line - front.header_line, key_path[0])
        for key_path, line in front.lines.items()
        if len(key_path) == 1
    )
    result = lines[: starts[0][0]] if starts else lines
    ends = [start for start, _ in starts[1:]] + [len(lines)]
    for (start, name), after in zip(starts, ends, strict=False):
        end = _end(lines, start, after)
        if name in updates:
            result += _block({name: updates[name]}, 0)
        elif name not in removed:
            result += lines[start:end]
        result += lines[end:after]
    existing = {name for _, name in starts}
    result += _block(_without(updates, existing), 0)
    return "".join(line + "\n" for line in result)


def _end(lines: list[str], start: int, after: int) -> int:
    """The index of the line after a field, at most ``after``.

    Comments and empty lines above the next field belong to the next field.
    """
    while after > start + 1 and (not lines[after - 1].strip() or lines[after - 1].startswith("#")):
        after -= 1
    return after


def _reads_as(header: str, expected: Mapping[str, Any], limits: Limits) -> bool:
    try:
        return bool(YamlReader(limits, as_text=TEXT_FIELDS).read(header) == expected)
    except Refusal:
        return False


def _block(value: Any, indent: int) -> list[str]:
    """A mapping or a list as indented YAML lines."""
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
