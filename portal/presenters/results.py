"""Shapes JSON values for a page: as a table, a tree, Markdown or text, limited in size."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from portal.presenters.content.text import json_text

_MAX_NODES = 1500
_MAX_ROWS = 200
_MAX_COLUMNS = 12
_MAX_DEPTH = 12
_MAX_TEXT = 200_000
_MAX_CELL = 2_000

Kind = Literal["none", "table", "tree", "markdown", "text", "scalar"]


@dataclass(frozen=True)
class Node:
    """A value of a JSON tree: a scalar has ``text``, others ``children``; "cut" replaces omitted values."""

    key: str
    kind: Literal["object", "array", "string", "number", "word", "cut"]
    text: str = ""
    children: tuple[Node, ...] = ()
    size: int = 0
    open: bool = False


@dataclass(frozen=True)
class DisplayValue:
    """A value in the shape that a page shows; ``json`` is the whole value as text to copy."""

    kind: Kind
    text: str = ""
    tree: Node | None = None
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    omitted: int = 0
    json: str = ""


def display_value(value: object, *, format: str = "", max_values: int = _MAX_NODES) -> DisplayValue:
    """The value in its shape; ``format`` is the script's hint ("markdown", "text", "object" …).

    ``max_values`` limits the drawn values or table cells, as a page may show many outputs.
    """
    if value is None or value == {} or value == "":
        return DisplayValue("none")
    if isinstance(value, str):
        kind: Kind = "markdown" if format.lower() in ("markdown", "md") else "text"
        return DisplayValue(kind, text=value[:_MAX_TEXT], omitted=max(0, len(value) - _MAX_TEXT))
    if isinstance(value, bool | int | float):
        return DisplayValue("scalar", text=json_text(value))
    as_json = json_text(value) if _is_short(value, _MAX_TEXT * max_values // _MAX_NODES) else ""
    if columns := _columns(value):
        assert isinstance(value, list)
        drawn = min(_MAX_ROWS, max(1, max_values // len(columns)))
        rows = tuple(tuple(_cell(row.get(column)) for column in columns) for row in value[:drawn])
        return DisplayValue(
            "table", columns=columns, rows=rows, omitted=max(0, len(value) - drawn), json=as_json
        )
    return DisplayValue("tree", tree=_Tree(max_values).node("", value, 0), json=as_json)


def _is_short(value: object, max_characters: int) -> bool:
    """Whether the indented JSON has at most ``max_characters``.

    Stops early: ten megabytes of deeply nested lists indent to a gigabyte.
    """
    size = 0
    for chunk in json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(value):
        size += len(chunk)
        if size > max_characters:
            return False
    return True


def _columns(value: object) -> tuple[str, ...]:
    """The columns of a list of flat objects; empty for anything else."""
    if not isinstance(value, list) or not value or not all(isinstance(row, dict) and row for row in value):
        return ()
    columns = tuple(dict.fromkeys(key for row in value[:_MAX_ROWS] for key in row))
    flat = all(not isinstance(cell, list | dict) for row in value[:_MAX_ROWS] for cell in row.values())
    return columns if flat and len(columns) <= _MAX_COLUMNS else ()


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value[:_MAX_CELL] if isinstance(value, str) else json_text(value)


class _Tree:
    """Builds at most ``max_nodes`` nodes; a "cut" node replaces the values that it omits."""

    def __init__(self, max_nodes: int) -> None:
        self.left = max_nodes

    def node(self, key: str, value: object, depth: int) -> Node:
        self.left -= 1
        if isinstance(value, Mapping):
            return self._branch(key, "object", [(str(k), v) for k, v in value.items()], depth)
        if isinstance(value, list):
            return self._branch(key, "array", [(str(n), v) for n, v in enumerate(value)], depth)
        if isinstance(value, str):
            return Node(key, "string", value[:_MAX_TEXT])
        kind: Literal["word", "number"] = "word" if value is None or isinstance(value, bool) else "number"
        return Node(key, kind, json_text(value))

    def _branch(
        self, key: str, kind: Literal["object", "array"], items: Sequence[tuple[str, Any]], depth: int
    ) -> Node:
        if depth >= _MAX_DEPTH:
            return Node(key, "cut", size=len(items))
        children: list[Node] = []
        for name, value in items:
            if self.left <= 0:
                children.append(Node("", "cut", size=len(items) - len(children)))
                break
            children.append(self.node(name, value, depth + 1))
        return Node(key, kind, children=tuple(children), size=len(items), open=depth < 2 or len(items) <= 3)


def one_line(value: object, *, max_length: int = 120) -> str:
    """A value in one short line, for a row of a list."""
    text = value if isinstance(value, str) else json_text(value, indent=None)
    text = " ".join(text[: max_length * 4].split())
    return text if len(text) <= max_length else text[: max_length - 1] + "…"


def inputs_line(request: Mapping[str, Any], *, max_length: int = 120) -> str:
    """The script, action or tool and the inputs of a run request, in one line."""
    named = [str(request[name]) for name in ("script", "action", "tool") if request.get(name)]
    inputs = request.get("inputs")
    pairs = [f"{key}={_pair(value)}" for key, value in inputs.items()] if isinstance(inputs, Mapping) else []
    return one_line(" · ".join(named + pairs), max_length=max_length)


def _pair(value: object) -> str:
    if isinstance(value, Mapping):
        if isinstance(artifact := value.get("artifact"), str):
            return artifact.rpartition("/")[2]
        if "input" in value and len(value) == 1:
            return "📎"
    return one_line(value, max_length=40)
