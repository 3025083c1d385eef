"""The glossary as the JSON of commands and API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from registry.glossary import built_in, read_line
from registry.models import GlossaryEntry
from registry.moments import moment


@dataclass(frozen=True)
class Line:
    """A line that came with Skillquay, and what the lines around it are about."""

    about: str
    text: str


def entry_document(entry: GlossaryEntry) -> dict[str, Any]:
    return {
        "id": entry.uid,
        "text": entry.text,
        "words": read_line(entry.text),
        "by": entry.by.username if entry.by else None,
        "at": moment(entry.at),
    }


def built_in_lines(*, find: str = "") -> list[Line]:
    """Those in which the text stands."""
    sought = find.strip().casefold()
    return [line for line in _lines() if sought in line.text.casefold()]


def _lines() -> Iterator[Line]:
    about = ""
    for text in built_in()[1:]:  # the first one is about the file itself
        if text.startswith("#"):
            about = text.lstrip("# ")
        else:
            yield Line(about, text)
