"""Progress that scripts tell on stderr."""

from __future__ import annotations

import re

_PERCENT = re.compile(r"(?<![\d.,-])(\d{1,3})(?:\.\d+)?\s?% (?:complete|done)\b", re.IGNORECASE)


def progress_of(line: str) -> int | None:
    """The percent of a line such as ``50% complete``, 0 to 100; None where the line tells none."""
    told = _PERCENT.search(line[:500])
    return int(told[1]) if told and int(told[1]) <= 100 else None
