"""What a run answered, by kind: a table, a tree, Markdown or plain text, within a page's bounds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from portal.showing.texts import json_text

_MOST_NODES = 1500
_MOST_ROWS = 200
_MOST_COLUMNS = 12
_DEEPEST = 12
_LONGEST_TEXT = 200_000
_LONGEST_CELL = 2_000

Kind = Literal["none", "table", "tree", "markdown", "text", "scalar"]


@dataclass(frozen=True)
class Node:
    """A value of a JSON tree; ``text`` of scalars and folded-away rests, ``children`` of the others."""

    key: str
    kind: Literal["object", "array", "string", "number", "word", "cut"]
    text: str = ""
    children: tuple[Node, ...] = ()
    size: int = 0
    open: bool = False


@dataclass(frozen=True)
class Shown:
    """A value in the shape a page shows it in; ``json`` is the same as text to copy."""

    kind: Kind
    text: str = ""
    tree: Node | None = None
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    left_off: int = 0
    json: str = ""


def shown(value: object, *, format: str = "", most: int = _MOST_NODES) -> Shown:
    """The shape for an output; ``format`` is what the script says of it ("markdown", "text", "object" …).

    ``most`` is how many values, or cells of a table, are drawn: a page may show many outputs.
    """
    if value is None or value == {} or value == "":
        return Shown("none")
    if isinstance(value, str):
        kind: Kind = "markdown" if format.lower() in ("markdown", "md") else "text"
        return Shown(kind, text=value[:_LONGEST_TEXT], left_off=max(0, len(value) - _LONGEST_TEXT))
    if isinstance(value, bool | int | float):
        return Shown("scalar", text=json_text(value))
    as_json = json_text(value) if _is_short(value, _LONGEST_TEXT * most // _MOST_NODES) else ""
    if columns := _columns(value):
        assert isinstance(value, list)
        drawn = min(_MOST_ROWS, max(1, most // len(columns)))
        rows = tuple(tuple(_cell(row.get(column)) for column in columns) for row in value[:drawn])
        return Shown("table", columns=columns, rows=rows, left_off=max(0, len(value) - drawn), json=as_json)
    return Shown("tree", tree=_Tree(most).node("", value, 0), json=as_json)


def _is_short(value: object, most: int) -> bool:
    """Whether its JSON fits a page; indented, ten megabytes of deep lists would become a gigabyte."""
    size = 0
    for piece in json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(value):
        size += len(piece)
        if size > most:
            return False
    return True


def _columns(value: object) -> tuple[str, ...]:
    """The columns of a list of flat objects, else none."""
    if not isinstance(value, list) or not value or not all(isinstance(row, dict) and row for row in value):
        return ()
    columns = tuple(dict.fromkeys(key for row in value[:_MOST_ROWS] for key in row))
    flat = all(not isinstance(cell, list | dict) for row in value[:_MOST_ROWS] for cell in row.values())
    return columns if flat and len(columns) <= _MOST_COLUMNS else ()


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value[:_LONGEST_CELL] if isinstance(value, str) else json_text(value)


class _Tree:
    """Builds nodes until there are as many as a page can hold; the rest is said to be left off."""

    def __init__(self, most: int) -> None:
        self.left = most

    def node(self, key: str, value: object, depth: int) -> Node:
        self.left -= 1
        if isinstance(value, Mapping):
            return self._branch(key, "object", [(str(k), v) for k, v in value.items()], depth)
        if isinstance(value, list):
            return self._branch(key, "array", [(str(n), v) for n, v in enumerate(value)], depth)
        if isinstance(value, str):
            return Node(key, "string", value[:_LONGEST_TEXT])
        kind: Literal["word", "number"] = "word" if value is None or isinstance(value, bool) else "number"
        return Node(key, kind, json_text(value))

    def _branch(
        self, key: str, kind: Literal["object", "array"], items: Sequence[tuple[str, Any]], depth: int
    ) -> Node:
        if depth >= _DEEPEST:
            return Node(key, "cut", size=len(items))
        children: list[Node] = []
        for name, value in items:
            if self.left <= 0:
                children.append(Node("", "cut", size=len(items) - len(children)))
                break
            children.append(self.node(name, value, depth + 1))
        return Node(key, kind, children=tuple(children), size=len(items), open=depth < 2 or len(items) <= 3)


def one_line(value: object, *, most: int = 120) -> str:
    """A value in a few words, for a row of a list."""
    text = value if isinstance(value, str) else json_text(value, indent=None)
    text = " ".join(text[: most * 4].split())
    return text if len(text) <= most else text[: most - 1] + "…"


def inputs_line(request: Mapping[str, Any], *, most: int = 120) -> str:
    """What was asked of a run: which script or action, and the inputs, in one line."""
    named = [str(request[name]) for name in ("script", "action", "tool") if request.get(name)]
    inputs = request.get("inputs")
    pairs = [f"{key}={_pair(value)}" for key, value in inputs.items()] if isinstance(inputs, Mapping) else []
    return one_line(" · ".join(named + pairs), most=most)


def _pair(value: object) -> str:
    if isinstance(value, Mapping):
        if isinstance(artifact := value.get("artifact"), str):
            return artifact.rpartition("/")[2]
        if "input" in value and len(value) == 1:
            return "📎"
    return one_line(value, most=40)
