"""The declared error codes with their texts in the reader's language."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import Http404
from django.utils.translation import gettext

from registry.packages.problems import CODES, Code, with_names


@dataclass(frozen=True)
class CodeEntry:
    code: Code[...]
    message: str
    remedy: str


def code_entry(name: str) -> CodeEntry:
    """The code with this name. Raises Http404 if there is none."""
    if name not in CODES:
        raise Http404
    return _entry(CODES[name])


def entries_of(names: Iterable[str]) -> list[CodeEntry]:
    return [_entry(CODES[name]) for name in names]


def find_codes(query: str, *, limit: int | None = None) -> list[CodeEntry]:
    """The codes whose name or texts contain all words of the query; matches of the name come first."""
    words = query.casefold().split()
    found: list[tuple[bool, str, CodeEntry]] = []
    for name in sorted(CODES) if words else ():
        entry = _entry(CODES[name])
        text = f"{name} {entry.message} {entry.remedy}".casefold()
        if all(word in text for word in words):
            in_name = all(word in name.casefold() for word in words)
            found.append((not in_name, name, entry))
    return [entry for _rank, _name, entry in sorted(found, key=lambda each: each[:2])][:limit]


def _entry(code: Code[...]) -> CodeEntry:
    return CodeEntry(code, with_names(gettext(code.message)), with_names(gettext(code.remedy)))
