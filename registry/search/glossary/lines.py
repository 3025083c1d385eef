"""The glossary of synonyms in all languages: ``entries.txt`` and the site's own lines."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path

from registry.core import search_terms
from registry.models import GlossaryEntry
from registry.search import sql

MAX_KEY_TOKENS = 6  # tokens per key
_FILE = Path(__file__).with_name("entries.txt")


class GlossaryIndex(dict[str, tuple[str, ...]]):
    """Synonyms by the phrase key of a word."""

    @cached_property
    def longest(self) -> Mapping[str, int]:
        """The length in tokens of the longest key, by its first token."""
        found: defaultdict[str, int] = defaultdict(int)
        for key in self:
            first, *more = key.split(" ")
            found[first] = max(found[first], 1 + len(more))
        return dict(found)


def load_glossary() -> GlossaryIndex:
    """The index of built-in lines and the site's own. Rebuilt when the site's own lines change."""
    return _build_glossary(sql.glossary_state())


@lru_cache(maxsize=2)
def _build_glossary(changed: tuple[object, ...]) -> GlossaryIndex:
    own = GlossaryEntry.objects.values_list("text", flat=True) if changed[0] else ()
    found: defaultdict[str, set[str]] = defaultdict(set)
    for line in (*file_lines(), *own):
        texts = read_line(line)
        for text in texts:
            found[search_terms.phrase_key(text)] |= set(texts)
    return GlossaryIndex(
        (key, tuple(sorted(t for t in texts if search_terms.phrase_key(t) != key)))
        for key, texts in found.items()
    )


@lru_cache(maxsize=1)
def file_lines() -> tuple[str, ...]:
    """The lines of the built-in file. A line that starts with ``#`` names the topic of the lines after it."""
    return tuple(line for line in _FILE.read_text().splitlines() if line.strip())


def read_line(line: str) -> list[str]:
    """The words of a line without duplicates; empty for a comment."""
    if line.startswith("#"):
        return []
    return list(dict.fromkeys(text for part in line.replace("，", ",").split(",") if (text := part.strip())))
