"""How checks go through a text: only lines that hold a hint, and only bounded patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator

from registry.packages.scan.text import Line, Text


def lines_with(text: Text, *hints: str) -> Iterator[Line]:
    for line in text.lines:
        lowered = line.text.lower()
        if any(hint in lowered for hint in hints):
            yield line


def matches(text: Text, pattern: re.Pattern[str], *hints: str) -> Iterator[tuple[Line, re.Match[str]]]:
    """The pattern's first match in each line."""
    for line in lines_with(text, *hints):
        if found := pattern.search(line.text):
            yield line, found
