"""Searches a text for a pattern in the lines that contain a hint."""

import re
from collections.abc import Iterator

from registry.packages.scan.text import ScannedText, SourceLine


def matches(
    text: ScannedText, pattern: re.Pattern[str], *hints: str
) -> Iterator[tuple[SourceLine, re.Match[str]]]:
    """Yields the first match of the pattern in each piece of the lines with a hint."""
    for line in text.lines_with(hints):
        if found := pattern.search(line.text):
            yield line, found
