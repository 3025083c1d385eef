"""How checks go through a text: only rows that hold a hint, and only bounded patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator

from registry.packages.scan.text import Line, Text


def matches(text: Text, pattern: re.Pattern[str], *hints: str) -> Iterator[tuple[Line, re.Match[str]]]:
    """The pattern's first match in each piece of a row."""
    for line in text.lines_with(hints):
        if found := pattern.search(line.text):
            yield line, found
