"""The glossary of synonyms in all languages: ``entries.txt``, ``requests.txt`` and the site's own lines.

A line of ``requests.txt`` has words of requests, ``>``, and the words of skills that they mean. It works in
this direction only, so that common words of skills keep few synonyms.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from functools import cache, cached_property, lru_cache
from itertools import combinations
from pathlib import Path
from types import MappingProxyType

from registry.core import search_terms
from registry.core.sql import Reads, reader
from registry.models import GlossaryEntry
from registry.search import sql

MAX_KEY_TOKENS = 6  # tokens per key
_FILE = Path(__file__).with_name("entries.txt")
_REQUESTS_FILE = Path(__file__).with_name("requests.txt")


class GlossaryIndex(dict[str, tuple[str, ...]]):
    """Synonyms by the phrase key of a word.

    ``one_way`` are the keys that only ``requests.txt`` has. ``more`` are the words of skills in lines of
    ``requests.txt``, by the keys that other lines have too.
    """

    one_way: Set[str] = frozenset()
    more: Mapping[str, tuple[str, ...]] = MappingProxyType({})

    @cached_property
    def phrases(self) -> Set[str]:
        """The keys that add a concept to a request, so that their words count as well: English phrases of
        ``one_way``, and Chinese ones that contain a word of another line.
        """
        return {key for key in self.one_way if " " in key and self._is_additional(key)}

    def _is_additional(self, key: str) -> bool:
        if not search_terms.has_cjk(key[0]):
            return True
        tokens = key.split(" ")
        parts = (
            " ".join(tokens[at:end]) for at, end in combinations(range(len(tokens) + 1), 2) if end - at > 1
        )
        return any(part in self and part not in self.one_way for part in parts)

    @cached_property
    def longest(self) -> Mapping[str, int]:
        """The length in tokens of the longest key that is not in ``phrases``, by its first token."""
        return _longest(self.keys() - self.phrases)

    @cached_property
    def longest_phrase(self) -> Mapping[str, int]:
        """The length in tokens of the longest key in ``phrases``, by its first token."""
        return _longest(self.phrases)


def _longest(keys: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for key in keys:
        first, *more = key.split(" ")
        found[first] = max(found.get(first, 0), 1 + len(more))
    return found


@reader
def load_glossary() -> Reads[GlossaryIndex]:
    """The index of built-in lines and the site's own. Rebuilt when the site's own lines change."""
    yield (state := sql.glossary_state())
    return _build_glossary(tuple(state[0]))


@lru_cache(maxsize=2)
def _build_glossary(changed: tuple[object, ...]) -> GlossaryIndex:
    own = GlossaryEntry.objects.values_list("text", flat=True) if changed[0] else ()
    key_of = cache(search_terms.phrase_key)  # only for this build; lines share most words
    found: defaultdict[str, set[str]] = defaultdict(set)
    for line in (*file_lines(), *own):
        texts = read_line(line)
        for text in texts:
            found[key_of(text)] |= set(texts)
    one_way: defaultdict[str, set[str]] = defaultdict(set)
    for line in request_lines():
        request_words, _, meant = line.partition(">")
        for text in read_line(request_words):
            one_way[key_of(text)] |= set(read_line(meant))

    def others(key: str, texts: Set[str]) -> tuple[str, ...]:
        return tuple(sorted(text for text in texts if key_of(text) != key))

    index = GlossaryIndex((key, others(key, texts)) for key, texts in {**one_way, **found}.items())
    index.one_way = one_way.keys() - found.keys()
    index.more = {key: others(key, one_way[key]) for key in one_way.keys() & found.keys()}
    return index


@lru_cache(maxsize=1)
def file_lines() -> tuple[str, ...]:
    """The lines of the built-in file. A line that starts with ``#`` names the topic of the lines after it."""
    return _read_file(_FILE)


@lru_cache(maxsize=1)
def request_lines() -> tuple[str, ...]:
    """The built-in lines of words of requests, with ``>`` before the words of skills. A line that starts with
    ``#`` names the topic of the lines after it.
    """
    return _read_file(_REQUESTS_FILE)


def _read_file(path: Path) -> tuple[str, ...]:
    return tuple(line for line in path.read_text("utf-8").splitlines() if line.strip())


def read_line(line: str) -> list[str]:
    """The words of a line without duplicates; empty for a comment."""
    if line.startswith("#"):
        return []
    return list(dict.fromkeys(text for part in line.replace("，", ",").split(",") if (text := part.strip())))
