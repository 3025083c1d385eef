from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from registry.core.time import rfc3339
from registry.models import GlossaryEntry
from registry.search.glossary.lines import file_lines, read_line, request_lines


@dataclass(frozen=True)
class GlossaryLine:
    topic: str
    text: str


def entry_document(entry: GlossaryEntry) -> dict[str, Any]:
    return {
        "id": entry.uid,
        "text": entry.text,
        "words": read_line(entry.text),
        "updated_by": entry.by.username if entry.by else None,
        "updated_at": rfc3339(entry.at),
    }


def built_in_lines(*, find: str = "") -> list[GlossaryLine]:
    """The lines of the built-in glossary that contain ``find``, ignoring case."""
    sought = find.strip().casefold()
    return [line for line in _lines() if sought in line.text.casefold()]


def _lines() -> Iterator[GlossaryLine]:
    topic = ""
    for text in (*file_lines()[1:], *request_lines()):  # the first line describes the file itself
        if text.startswith("#"):
            topic = text.lstrip("# ")
        else:
            yield GlossaryLine(topic, text)
