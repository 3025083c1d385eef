"""Reads progress messages that scripts print to stderr."""

import re

_PERCENT = re.compile(r"(?<![\d.,-])(\d{1,3})(?:\.\d+)?\s?% (?:complete|done)\b", re.IGNORECASE)


def parse_progress(line: str) -> int | None:
    """The percentage in a line such as ``50% complete``, an integer from 0 to 100; None if there is none."""
    match = _PERCENT.search(line[:500])
    return int(match[1]) if match and int(match[1]) <= 100 else None
