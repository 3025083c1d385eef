"""Presents JSON values as a table, a tree, Markdown or text, limited in size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from portal.presenters.content.text import json_text
from worker.core.display_budget import (
    MAX_CELL,
    MAX_COPIED_BYTES,
    MAX_NODES,
    MAX_ROWS,
    MAX_TEXT,
    memory_of,
)

_MAX_COLUMNS = 12
_MAX_DEPTH = 12

Kind = Literal["none", "table", "tree", "markdown", "text", "scalar"]


@dataclass(frozen=True)
class Node:
    """A value in a JSON tree. Scalars have ``text``; objects and arrays have ``children``.

    The kind "cut" replaces ``size`` omitted values.
    """

    key: str
    kind: Literal["object", "array", "string", "number", "word", "cut"]
    text: str = ""
    children: tuple[Node, ...] = ()
    size: int = 0
    open: bool = False


@dataclass(frozen=True)
class DisplayValue:
    """A value as a page shows it. ``omitted`` counts the characters or table rows that are not shown.

    ``json`` is the whole table or tree as text to copy, "" if it is too long.
    """

    kind: Kind
    text: str = ""
    tree: Node | None = None
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    omitted: int = 0
    json: str = ""


def display_value(value: object, *, format: str = "", max_values: int = MAX_NODES) -> DisplayValue:
    """The value as a page shows it; ``format`` is the script's hint ("markdown", "text", "object" …).

    ``max_values`` limits the values of a tree or the cells of a table. Lower values also reduce the limit for
    texts.
    """
    part = min(1.0, max_values / MAX_NODES)
    characters = int(MAX_TEXT * part)
    if value is None or value == {} or value == "":
        return DisplayValue("none")
    if isinstance(value, str):
        kind: Kind = "markdown" if format.lower() in ("markdown", "md") else "text"
        return DisplayValue(kind, text=value[:characters], omitted=max(0, len(value) - characters))
    if isinstance(value, bool | int | float):
        return DisplayValue("scalar", text=json_text(value))
    as_json = _json(value, part)
    if columns := _columns(value):
        assert isinstance(value, list)
        drawn = tuple(_rows(value, columns, max_values, characters))
        return DisplayValue(
            "table", columns=columns, rows=drawn, omitted=len(value) - len(drawn), json=as_json
        )
    return DisplayValue("tree", tree=_Tree(max_values, characters).node("", value, 0), json=as_json)


def _json(value: object, part: float) -> str:
    """The indented JSON to copy; "" if it exceeds the fraction ``part`` of the page's limit.

    Estimates the size first, because the indented text of 10 MB of nested lists can reach a gigabyte.
    """
    limit = MAX_COPIED_BYTES * part
    if memory_of(value, limit=limit) > limit:
        return ""
    text = json_text(value)
    return text if len(text) <= MAX_TEXT * part else ""


def _rows(
    value: list[Any], columns: tuple[str, ...], max_values: int, left: int
) -> Iterator[tuple[str, ...]]:
    """The first rows, within ``MAX_ROWS``, ``max_values`` cells and ``left`` characters in all."""
    for row in value[: min(MAX_ROWS, max(1, max_values // len(columns)))]:
        cells = tuple(_cell(row.get(column)) for column in columns)
        left -= sum(map(len, cells))
        if left < 0:
            return
        yield cells


def _columns(value: object) -> tuple[str, ...]:
    """The columns of a list of flat objects; () for other values or more than ``_MAX_COLUMNS`` columns."""
    if not isinstance(value, list) or not value or not all(isinstance(row, dict) and row for row in value):
        return ()
    columns = tuple(dict.fromkeys(key for row in value[:MAX_ROWS] for key in row))
    flat = all(not isinstance(cell, list | dict) for row in value[:MAX_ROWS] for cell in row.values())
    return columns if flat and len(columns) <= _MAX_COLUMNS else ()


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value[:MAX_CELL] if isinstance(value, str) else json_text(value)


class _Tree:
    """Builds at most ``max_nodes`` nodes, with at most ``characters`` characters in all.

    A "cut" node replaces omitted values and does not count toward ``max_nodes``.
    """

    def __init__(self, max_nodes: int, characters: int) -> None:
        self.left, self.characters = max_nodes, characters

    def node(self, key: str, value: object, depth: int) -> Node:
        self.left -= 1
        key = self._text(key, MAX_CELL)
        if isinstance(value, Mapping):
            return self._branch(key, "object", value.items(), len(value), depth)
        if isinstance(value, list):
            return self._branch(key, "array", enumerate(value), len(value), depth)
        if isinstance(value, str):
            return Node(key, "string", self._text(value, MAX_TEXT))
        kind: Literal["word", "number"] = "word" if value is None or isinstance(value, bool) else "number"
        return Node(key, kind, self._text(json_text(value), MAX_TEXT))

    def _text(self, text: str, limit: int) -> str:
        found = text[: min(limit, self.characters)]
        self.characters -= len(found)
        return found if len(found) == len(text) else f"{found}…"

    def _branch(
        self,
        key: str,
        kind: Literal["object", "array"],
        items: Iterable[tuple[object, Any]],
        size: int,
        depth: int,
    ) -> Node:
        if depth >= _MAX_DEPTH:
            return Node(key, "cut", size=size)
        children: list[Node] = []
        for name, value in islice(items, self.left):
            if self.left <= 0:
                break
            children.append(self.node(str(name), value, depth + 1))
        if len(children) < size:
            children.append(Node("", "cut", size=size - len(children)))
        return Node(key, kind, children=tuple(children), size=size, open=depth < 2 or size <= 3)


def output_of(result: Mapping[str, Any]) -> object:
    """The output to show: ``output`` of the result unless it is empty, otherwise ``outputs``."""
    output = result.get("output")
    return output if output not in (None, {}, "") else result.get("outputs")


def one_line(value: object, *, max_length: int = 120) -> str:
    """The value in one line of at most ``max_length`` characters."""
    text = value if isinstance(value, str) else json_text(value, indent=None)
    text = " ".join(text[: max_length * 4].split())
    return text if len(text) <= max_length else text[: max_length - 1] + "…"


def inputs_line(request: Mapping[str, Any], *, max_length: int = 120) -> str:
    """The script, action or tool, the arguments and the inputs of a run request, in one line."""
    named = [str(request[name]) for name in ("script", "action", "tool") if request.get(name)]
    named += [" ".join(_pair(argument) for argument in request.get("arguments") or [])]
    inputs = request.get("inputs")
    pairs = [f"{key}={_pair(value)}" for key, value in inputs.items()] if isinstance(inputs, Mapping) else []
    return one_line(" · ".join(filter(None, named + pairs)), max_length=max_length)


def inputs_text(request: Mapping[str, Any]) -> str:
    """The script, action or tool, the arguments, the inputs and the standard input, one below the other."""
    named = [str(request[name]) for name in ("script", "action", "tool") if request.get(name)]
    named += [" ".join(_whole(argument) for argument in request.get("arguments") or [])]
    inputs = request.get("inputs")
    pairs = (
        [f"{key}: {_whole(value)}" for key, value in inputs.items()] if isinstance(inputs, Mapping) else []
    )
    return "\n".join(filter(None, [*named, *pairs, str(request.get("stdin") or "")]))


def _whole(value: object) -> str:
    return _file_name(value) or (value if isinstance(value, str) else json_text(value, indent=None))


def _pair(value: object) -> str:
    return _file_name(value) or one_line(value, max_length=40)


def _file_name(value: object) -> str:
    """The name of an artifact, a symbol for an uploaded file, "" for other values."""
    if isinstance(value, Mapping):
        if isinstance(artifact := value.get("artifact"), str):
            return artifact.rpartition("/")[2]
        if "input" in value and len(value) == 1:
            return "📎"
    return ""
