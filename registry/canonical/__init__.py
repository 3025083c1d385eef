"""The one skill of a slug that administrators vouch for, answered in the version that they pinned."""

from registry.canonical import codes as codes  # declares what is refused here
from registry.canonical.answering import (
    PREFIX,
    find,
    note_use,
    of_skill,
    pinned,
    text_of,
    trouble_of,
)

__all__ = ["PREFIX", "find", "note_use", "of_skill", "pinned", "text_of", "trouble_of"]
