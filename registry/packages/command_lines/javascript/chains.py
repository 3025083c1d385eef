"""Follows the calls of a JavaScript script in their order, each with the object on which it is called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from tree_sitter import Node

from registry.packages.command_lines.javascript.values import FunctionNode, Names, Reference, literal
from registry.packages.command_lines.syntax_tree import MAX_NODES, TreeTooLargeError, text_of, walk
from registry.packages.command_lines.unknown import UNKNOWN

MAX_LINKS = 3_000  # calls in one chain
_MAX_ARGUMENTS = 20
_MAX_ENTERED = 8  # nested functions
_CALLS = ("call_expression", "new_expression")
_BRANCHES = frozenset(
    {
        "if_statement",
        "for_statement",
        "for_in_statement",
        "while_statement",
        "do_statement",
        "switch_statement",
    }
    | {"ternary_expression", "catch_clause"}
)


@dataclass(frozen=True)
class Call:
    """One call of a chain: the method's or constructor's name, the arguments, and the line."""

    name: str
    arguments: tuple[Any, ...]
    line: int
    is_new: bool = False
    uncertain: bool = False  # in a branch or loop

    def argument(self, number: int) -> Any:
        return self.arguments[number] if number < len(self.arguments) else None


class ParserLibrary(Protocol):
    """Reproduces the effects of a parser library's calls without running the library."""

    def call(self, value: Any, call: Call, names: Names, chains: Chains) -> Any:
        """The result of calling a method of ``value``. If the call has no name, the result of calling
        ``value``.
        """


class Chains:
    """Walks the script and passes each chain of calls to the library.

    A function declaration with parameters is followed at each call of the function instead.
    """

    def __init__(self, library: ParserLibrary) -> None:
        self.library = library
        self._done: set[int] = set()  # the ids of nodes that are part of a followed chain
        self._entered: set[int] = set()  # the ids of function bodies that were followed with arguments
        self._depth = 0
        self._nodes = 0

    def follow(self, root: Node, names: Names, *, uncertain: bool = False) -> Any:
        """Follows all chains below the node; returns the value of the last outermost chain.

        Raises TreeTooLargeError above ``MAX_NODES`` nodes in total.
        """
        value = None
        branch_end = skip_end = 0
        for node, _depth in walk(root):
            self._nodes += 1
            if self._nodes > MAX_NODES:
                raise TreeTooLargeError
            if node.start_byte < skip_end or node.id in self._done:
                continue
            if node.id in self._entered and node.id != root.id:
                skip_end = node.end_byte
            elif node.type in _BRANCHES:
                branch_end = max(branch_end, node.end_byte)
            elif node.type == "import_statement":
                names.values.update(_imported(node))
            elif node.type == "function_declaration":
                function = literal(node, names)
                names.values[text_of(node.child_by_field_name("name"), 100)] = function
                if isinstance(function, FunctionNode) and function.parameters:
                    skip_end = node.end_byte  # followed where it is called
            elif node.type in ("variable_declarator", "assignment_expression"):
                self._done.add(node.id)
                self._bind(node, names, uncertain or node.start_byte < branch_end)
            elif node.type in _CALLS:
                value = self.value(node, names, uncertain or node.start_byte < branch_end)
        return value

    def _bind(self, node: Node, names: Names, uncertain: bool) -> None:
        target = node.child_by_field_name("name") or node.child_by_field_name("left")
        source = node.child_by_field_name("value") or node.child_by_field_name("right")
        value = self.value(source, names, uncertain)
        if target is None or value is UNKNOWN:
            return
        if target.type == "identifier":
            names.values[text_of(target, 100)] = value
        elif target.type == "object_pattern" and isinstance(value, Reference):
            names.values.update(_destructured(target, value.name))

    def value(self, node: Node | None, names: Names, uncertain: bool = False) -> Any:
        """The value of an expression: of a chain of calls, or of a literal."""
        links: list[Node] = []
        while node is not None and len(links) < MAX_LINKS:
            if node.type in ("await_expression", "parenthesized_expression", "non_null_expression"):
                node = node.named_children[0] if node.named_children else None
                continue
            if node.type not in _CALLS and not (
                node.type == "member_expression" and self._is_in_chain(node, names)
            ):
                break
            links.append(node)
            self._done.add(node.id)
            function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
            if node.type == "member_expression" or (
                function is not None and function.type == "member_expression"
            ):
                node = (function or node).child_by_field_name("object")
            else:
                node = function
        result = literal(node, names)
        for link in reversed(links):
            result = self._link(link, result, names, uncertain)
        return result

    @staticmethod
    def _is_in_chain(node: Node, names: Names) -> bool:
        """Whether the object of a property such as ``.argv`` is a call."""
        owner = node.child_by_field_name("object")
        return owner is not None and owner.type in _CALLS

    def _link(self, link: Node, value: Any, names: Names, uncertain: bool) -> Any:
        line = link.start_point.row + 1
        if link.type == "member_expression":
            name = text_of(link.child_by_field_name("property"), 100)
            return self.library.call(value, Call(name, (), line, uncertain=uncertain), names, self)
        function = link.child_by_field_name("function") or link.child_by_field_name("constructor")
        is_method = function is not None and function.type == "member_expression"
        name = text_of(function.child_by_field_name("property"), 100) if is_method and function else ""
        if is_method and function is not None and isinstance(value, Reference):
            value, name = Reference(f"{value.name}.{name}"), ""
        call = Call(name, tuple(self._arguments(link, names)), line, link.type == "new_expression", uncertain)
        if isinstance(value, Reference) and value.name in ("require", "import"):
            return _module(call.argument(0))
        if isinstance(value, FunctionNode) and not name:
            return self.enter(value, call.argument(0), names, uncertain=uncertain)
        return self.library.call(value, call, names, self)

    def _arguments(self, call: Node, names: Names) -> Iterator[Any]:
        arguments = call.child_by_field_name("arguments")
        children = arguments.named_children if arguments is not None else []
        for each in [child for child in children if child.type != "comment"][:_MAX_ARGUMENTS]:
            yield self.value(each, names) if each.type in _CALLS else literal(each, names)

    def enter(self, function: Any, value: Any, names: Names, *, uncertain: bool = False) -> Any:
        """Follows the body of a function whose first parameter is ``value``; returns the value that the body
        builds.

        Returns None if ``function`` is not a function, or if too many functions are nested.
        """
        if not isinstance(function, FunctionNode) or self._depth >= _MAX_ENTERED:
            return None
        inner = Names(dict(zip(function.parameters[:1], [value], strict=False)), names)
        done, self._done = self._done, set()
        self._depth += 1
        try:
            return self.follow(function.body, inner, uncertain=uncertain)
        finally:
            self._done = done
            self._depth -= 1
            self._entered.add(function.body.id)


def _module(name: Any) -> Any:
    return Reference(name.removeprefix("node:").removeprefix("npm:")) if isinstance(name, str) else UNKNOWN


def _imported(node: Node) -> Iterator[tuple[str, Reference]]:
    source = node.child_by_field_name("source")
    module = literal(source, Names()) if source is not None else None
    reference = _module(module)
    if not isinstance(reference, Reference):
        return
    for each, _depth in walk(node):
        if each.type == "import_specifier":
            name = text_of(each.child_by_field_name("name"), 100)
            yield (
                text_of(each.child_by_field_name("alias"), 100) or name,
                Reference(f"{reference.name}.{name}"),
            )
        elif (each.type == "namespace_import" and each.named_children) or (
            each.type == "import_clause"
            and each.named_children[:1]
            and each.named_children[0].type == "identifier"
        ):
            yield text_of(each.named_children[0], 100), reference


def _destructured(pattern: Node, module: str) -> Iterator[tuple[str, Reference]]:
    for each in pattern.named_children[:100]:
        if each.type == "shorthand_property_identifier_pattern":
            yield text_of(each, 100), Reference(f"{module}.{text_of(each, 100)}")
        elif each.type == "pair_pattern":
            name = text_of(each.child_by_field_name("key"), 100)
            yield text_of(each.child_by_field_name("value"), 100), Reference(f"{module}.{name}")
