"""Words that mean the same, in any language: ``entries.txt``, and what administrators add to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path

from registry import bulk, words
from registry.models import GlossaryEntry

LONGEST = 6  # pieces of a key
_FILE = Path(__file__).with_name("entries.txt")


class Lines(dict[str, tuple[str, ...]]):
    """By the key of each word those of its lines."""

    @cached_property
    def longest(self) -> Mapping[str, int]:
        """Of how many pieces the keys are that begin with one."""
        found: defaultdict[str, int] = defaultdict(int)
        for key in self:
            first, *more = key.split(" ")
            found[first] = max(found[first], 1 + len(more))
        return dict(found)


def lines() -> Lines:
    """By the key of each word, the words of its lines: built in and added; read anew when those change."""
    return _lines(*bulk.read("SELECT COUNT(*), MAX(at), MAX(id) FROM registry_glossaryentry", ()))


@lru_cache(maxsize=2)
def _lines(changed: tuple[object, ...]) -> Lines:
    own = GlossaryEntry.objects.values_list("text", flat=True) if changed[0] else ()
    found: defaultdict[str, set[str]] = defaultdict(set)
    for line in (*built_in(), *own):
        texts = read_line(line)
        for text in texts:
            found[words.phrase_key(text)] |= set(texts)
    return Lines(
        (key, tuple(sorted(t for t in texts if words.phrase_key(t) != key))) for key, texts in found.items()
    )


@lru_cache(maxsize=1)
def built_in() -> tuple[str, ...]:
    """The lines of the file; those that begin with ``#`` say what the ones after them are about."""
    return tuple(line for line in _FILE.read_text().splitlines() if line.strip())


def read_line(line: str) -> list[str]:
    """The words of a line; none of a comment."""
    if line.startswith("#"):
        return []
    return list(dict.fromkeys(text for part in line.replace("，", ",").split(",") if (text := part.strip())))
