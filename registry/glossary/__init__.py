"""Words that mean the same, in any language: ``entries.txt``, and what administrators add to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

from registry import words
from registry.models import GlossaryWord

LONGEST = 6  # pieces of a key
_FILE = Path(__file__).with_name("entries.txt")


def equals(keys: Collection[str]) -> dict[str, tuple[str, ...]]:
    """For those of the keys that the glossary has, the other words of their lines."""
    found = {key: set(_built_in()[key]) for key in keys if key in _built_in()}
    own = GlossaryWord.objects.filter(key__in=keys).values_list("key", "entry__words__text")
    for key, text in own:
        found.setdefault(key, set()).add(text)
    return {key: tuple(sorted(text for text in texts if words.phrase_key(text) != key)) for key, texts in found.items()}


@cache
def _built_in() -> Mapping[str, frozenset[str]]:
    lines: defaultdict[str, set[str]] = defaultdict(set)
    for line in _FILE.read_text().splitlines():
        texts = read_line(line)
        for text in texts:
            lines[words.phrase_key(text)] |= set(texts)
    return {key: frozenset(texts) for key, texts in lines.items()}


def read_line(line: str) -> list[str]:
    """The words of a line; none of a comment."""
    if line.startswith("#"):
        return []
    return list(dict.fromkeys(text for part in line.replace("，", ",").split(",") if (text := part.strip())))
