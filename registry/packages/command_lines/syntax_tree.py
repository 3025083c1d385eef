"""Parses JavaScript, TypeScript and shell scripts within a time limit; syntax errors are tolerated."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from typing import Literal

import tree_sitter_bash
import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser, Tree

SyntaxLanguage = Literal["bash", "javascript", "typescript", "tsx"]
PARSE_S = 0.4
MAX_NODES = 100_000
_CHUNK = 16_384  # bytes that the parser requests at once
_GRAMMARS = {
    "bash": tree_sitter_bash.language,
    "javascript": tree_sitter_javascript.language,
    "typescript": tree_sitter_typescript.language_typescript,
    "tsx": tree_sitter_typescript.language_tsx,
}


class TreeTooLargeError(Exception):
    """Raised if the syntax tree has more than MAX_NODES nodes."""


def parse_source(language: SyntaxLanguage, source: bytes) -> Tree | None:
    """The syntax tree; None if parsing takes more than PARSE_S of CPU time."""
    deadline = time.thread_time() + PARSE_S
    parser = Parser(_language(language))
    try:
        return parser.parse(
            lambda offset, point: source[offset : offset + _CHUNK],
            progress_callback=lambda offset, has_error: time.thread_time() > deadline,
        )
    except ValueError:  # the time limit
        return None


@cache
def _language(name: SyntaxLanguage) -> Language:
    return Language(_GRAMMARS[name]())


def walk(node: Node) -> Iterator[tuple[Node, int]]:
    """Yields ``node`` and the named nodes below it, parents first, with their depth.

    Raises TreeTooLargeError after MAX_NODES nodes.
    """
    cursor = node.walk()
    depth = 0
    for _number in range(MAX_NODES):
        current = cursor.node
        if current is not None and current.is_named:
            yield current, depth
        if cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            depth -= 1
    raise TreeTooLargeError


def text_of(node: Node | None, limit: int = 2_000) -> str:
    """The source of a node; "" for None and for longer sources."""
    if node is None or node.end_byte - node.start_byte > limit or node.text is None:
        return ""
    return node.text.decode("utf-8", "replace")


def slice_of(source: bytes, node: Node | None, limit: int = 2_000) -> str:
    """Like ``text_of``, but from the parsed source, which is much faster for many nodes."""
    if node is None or node.end_byte - node.start_byte > limit:
        return ""
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")
