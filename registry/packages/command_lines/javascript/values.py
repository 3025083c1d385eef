"""Evaluates the literals of a JavaScript or TypeScript script."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tree_sitter import Node

from registry.packages.command_lines.syntax_tree import text_of
from registry.packages.command_lines.unknown import UNKNOWN, Unknown

MAX_DEPTH = 12  # of nested literals
MAX_ITEMS = 400  # of an array or object
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": ""}
_WRAPPERS = frozenset(
    {
        "parenthesized_expression",
        "as_expression",
        "satisfies_expression",
        "non_null_expression",
        "await_expression",
    }
)


@dataclass(frozen=True)
class Reference:
    """An imported or global name, such as ``commander.Option`` or ``parseInt``."""

    name: str


@dataclass(eq=False)
class FunctionNode:
    """A function of the script: the names of its parameters, and its body."""

    parameters: tuple[str, ...]
    body: Node


@dataclass(eq=False)
class Names:
    """The values of the script's names; a callback's parameters hide the names of the script."""

    values: dict[str, Any] = field(default_factory=dict)
    parent: Names | None = None

    def find(self, name: str) -> Any:
        names: Names | None = self
        while names is not None:
            if name in names.values:
                return names.values[name]
            names = names.parent
        return Reference(name)


def literal(node: Node | None, names: Names, depth: int = 0) -> Any:
    """The value of a literal, a named constant or a function; UNKNOWN for everything else."""
    while node is not None and node.type in _WRAPPERS:
        node = node.named_children[0] if node.named_children else None
    if node is None or depth > MAX_DEPTH:
        return UNKNOWN
    kind = node.type
    if kind in ("string", "template_string"):
        return _string(node)
    if kind == "identifier":
        return names.find(text_of(node))
    if kind in ("true", "false"):
        return kind == "true"
    if kind in ("null", "undefined"):
        return None
    if kind in ("number", "unary_expression"):
        return _number(text_of(node, 40))
    if kind == "array":
        return [literal(each, names, depth + 1) for each in _children(node)]
    if kind == "object":
        return _object(node, names, depth)
    if kind == "binary_expression":
        return _sum(node, names, depth)
    if kind in ("arrow_function", "function_expression", "function", "function_declaration"):
        return _function(node)
    if kind == "member_expression":
        return _member(node, names, depth)
    return UNKNOWN


def _children(node: Node) -> list[Node]:
    if node.named_child_count > MAX_ITEMS:
        return []
    return [each for each in node.named_children if each.type != "comment"]


def _string(node: Node) -> str | Unknown:
    parts = []
    for child in node.named_children if node.named_child_count <= MAX_ITEMS else ():
        text = text_of(child, 8_000)
        if child.type == "template_substitution":
            return UNKNOWN
        parts.append(_ESCAPES.get(text[1:], text[1:]) if child.type == "escape_sequence" else text)
    return "".join(parts)


def _number(text: str) -> float | int | Unknown:
    try:
        value = float(text.replace("_", ""))
    except ValueError:
        return UNKNOWN
    if value != value or abs(value) > 1e15:
        return UNKNOWN
    return int(value) if value.is_integer() else value


def _object(node: Node, names: Names, depth: int) -> dict[str, Any]:
    """The entries of an object literal. The key "..." stands for entries that are not known."""
    found: dict[str, Any] = {}
    for child in _children(node):
        if child.type == "pair":
            key = child.child_by_field_name("key")
            name = _string(key) if key is not None and key.type == "string" else text_of(key, 200)
            if isinstance(name, str) and key is not None and key.type != "computed_property_name":
                found[name] = literal(child.child_by_field_name("value"), names, depth + 1)
                continue
        elif child.type == "shorthand_property_identifier":
            found[text_of(child, 200)] = names.find(text_of(child, 200))
            continue
        elif child.type == "method_definition":
            found[text_of(child.child_by_field_name("name"), 200)] = _function(child)
            continue
        elif child.type == "spread_element" and child.named_children:
            spread = literal(child.named_children[0], names, depth + 1)
            if isinstance(spread, dict):
                found.update(spread)
                continue
        found["..."] = UNKNOWN
    return found


def _sum(node: Node, names: Names, depth: int) -> Any:
    left = literal(node.child_by_field_name("left"), names, depth + 1)
    right = literal(node.child_by_field_name("right"), names, depth + 1)
    operator = node.child_by_field_name("operator")
    if operator is not None and operator.type == "+" and isinstance(left, str) and isinstance(right, str):
        return left + right if len(left) + len(right) < 4_000 else UNKNOWN
    return UNKNOWN


def _function(node: Node) -> FunctionNode | Unknown:
    body = node.child_by_field_name("body")
    if body is None:
        return UNKNOWN
    single = node.child_by_field_name("parameter")
    listed = node.child_by_field_name("parameters")
    nodes = [single] if single is not None else _children(listed) if listed is not None else []
    # TypeScript wraps each parameter together with its type
    patterns = [each.child_by_field_name("pattern") or each for each in nodes]
    return FunctionNode(tuple(text_of(each, 100) for each in patterns), body)


def _member(node: Node, names: Names, depth: int) -> Any:
    owner = literal(node.child_by_field_name("object"), names, depth + 1)
    name = text_of(node.child_by_field_name("property"), 200)
    if isinstance(owner, dict):
        return owner.get(name, UNKNOWN)
    return Reference(f"{owner.name}.{name}") if isinstance(owner, Reference) else UNKNOWN
