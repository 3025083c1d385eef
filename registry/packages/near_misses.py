"""Finds the known name that a misspelled one probably means."""

from collections.abc import Collection
from difflib import get_close_matches

_MAX_LENGTH = 40  # characters; longer texts are not compared, because that takes too long
_SIMILARITY = 0.85  # "drect" and "direct" have 0.91, "director" and "direct" 0.86, "script" and "static" 0.5


def closest(text: object, known: Collection[str]) -> str | None:
    """The known name that differs from the text by about one letter; None if there is none."""
    if not isinstance(text, str) or len(text) > _MAX_LENGTH:
        return None
    matches = get_close_matches(text.strip().lower(), known, n=1, cutoff=_SIMILARITY)
    return matches[0] if matches else None
