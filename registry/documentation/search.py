"""Searches the headings and sentences of the documents, in the process and without a database."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

from registry.core.search_terms import QueryWord, query_words, terms, text_tokens
from registry.documentation.library import DocHeading, DocLibrary, DocPage, Document, library, plain_text

MAX_QUERY = 200  # characters
MAX_HITS = 30
_MAX_EXCERPT = 280  # characters
_TITLE_WEIGHT, _HEADING_WEIGHT, _MAX_TEXT_WEIGHT = 3.0, 4.0, 3
_BEGINNING_WEIGHT, _PHRASE_WEIGHT = 6.0, 2.0  # of the whole query
_SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=\S)")
_BLOCK = re.compile(r"\n\s*\n|\n(?=\|)|\n(?=\s*(?:[-*]|\d+\.) )")
_PREFIX = re.compile(r"^(?:[-*]|\d+\.|#+)\s+")


@dataclass(frozen=True)
class Stretch:
    text: str
    is_match: bool


@dataclass(frozen=True)
class DocHit:
    """A section that was found. ``heading`` is "" for the beginning of a document."""

    document: str  # its name
    title: str
    heading: tuple[Stretch, ...]
    url: str
    excerpt: tuple[Stretch, ...]


@dataclass(frozen=True, eq=False)
class _Section:
    document: str
    title: str
    heading: str
    url: str
    sentences: tuple[str, ...]
    title_terms: frozenset[str]
    heading_terms: frozenset[str]
    text_terms: Mapping[str, int]

    def phrase_weight(self, phrase: str) -> float:
        """A weight: highest if the phrase begins a sentence or table row, 0 if the text lacks the phrase."""
        lines = [sentence.lower() for sentence in (self.heading or self.title, *self.sentences)]
        if any(line.startswith(phrase) for line in lines):
            return _BEGINNING_WEIGHT
        return _PHRASE_WEIGHT if any(phrase in line for line in lines) else 0.0

    def weight(self, term: str) -> float:
        text = min(self.text_terms.get(term, 0), _MAX_TEXT_WEIGHT)
        heading = _HEADING_WEIGHT if term in self.heading_terms else 0.0
        title = _TITLE_WEIGHT if term in self.title_terms else 0.0
        return text + heading + title


def search(query: str, library: DocLibrary, *, limit: int = MAX_HITS) -> list[DocHit]:
    """The sections with the largest number of the query's words, the best ones first, at most ``limit``."""
    words = query_words(query[:MAX_QUERY])
    sections, document_frequency = _index(library)
    rarity = {
        word.term: log(1 + len(sections) / (1 + document_frequency.get(word.term, 0))) for word in words
    }
    phrase = " ".join(query.lower().split())
    scored = []
    for number, section in enumerate(sections):
        found = [term for term in rarity if section.weight(term)]
        if found:
            score = sum(section.weight(term) * rarity[term] for term in found)
            scored.append((len(found), score + section.phrase_weight(phrase), -number))
    most = max((found for found, _score, _number in scored), default=0)
    best = sorted((row for row in scored if row[0] == most), reverse=True)[:limit]
    return [_hit(sections[-number], words, rarity) for _found, _score, number in best]


def build_index() -> None:
    """Builds the index of the present documents, so that the first search needs not."""
    _index(library())


@lru_cache(maxsize=2)
def _index(library: DocLibrary) -> tuple[list[_Section], Mapping[str, int]]:
    """The sections of all documents, and the number of sections that contain each term."""
    sections = [
        section
        for document in library.documents.values()
        for page in document.pages
        for section in _sections(document, page)
    ]
    frequency: Counter[str] = Counter()
    for section in sections:
        frequency.update(section.text_terms.keys() | section.heading_terms | section.title_terms)
    return sections, frequency


def _sections(document: Document, page: DocPage) -> Iterator[_Section]:
    lines = page.text.split("\n")
    shift = next((at for at, line in enumerate(lines) if line.startswith("#")), 0)
    first = page.headings[0].line - shift if page.headings else 0
    starts: list[tuple[int, DocHeading | None]] = [(each.line - first, each) for each in page.headings]
    if not starts or starts[0][0] > 0:
        starts.insert(0, (0, None))
    for (start, heading), end in zip(starts, [*(at for at, _each in starts[1:]), len(lines)], strict=True):
        text = "\n".join(lines[start + (heading is not None) : end])
        yield _section(document, page, heading, tuple(_sentences(text)))


def _section(
    document: Document, page: DocPage, heading: DocHeading | None, sentences: tuple[str, ...]
) -> _Section:
    title = heading.text if heading else ""
    return _Section(
        document=document.name,
        title=document.title,
        heading=title,
        url=f"{page.url}#{heading.anchor}" if heading else page.url,
        sentences=sentences,
        # Only the beginning of a document is found by its title, because all its sections have the same one.
        title_terms=frozenset() if heading else frozenset(terms(document.title)),
        heading_terms=frozenset(terms(title)),
        text_terms=Counter(terms(" ".join(sentences))),
    )


def _sentences(text: str) -> Iterator[str]:
    """Yields sentences, table rows and lines of code as plain text."""
    for block in _BLOCK.split(text):
        is_code = block.startswith("    ")
        row = block.strip()
        if row.startswith("|"):
            yield " · ".join(
                cell for cell in map(plain_text, row.strip("|").split(" | ")) if cell.strip("-| ")
            )
        elif is_code or row.startswith("```"):
            yield from (line.strip() for line in block.split("\n") if line.strip("` "))
        else:
            joined = _PREFIX.sub("", " ".join(row.split()))
            yield from (plain_text(each) for each in _SENTENCE_END.split(joined) if each)


def _hit(section: _Section, words: Sequence[QueryWord], rarity: Mapping[str, float]) -> DocHit:
    def value(sentence: str) -> float:
        present = set(terms(sentence))
        return sum(weight for term, weight in rarity.items() if term in present)

    best = max(section.sentences, key=value, default="")
    return DocHit(
        section.document,
        section.title,
        _stretches(section.heading, words),
        section.url,
        _stretches(best, words, limit=_MAX_EXCERPT),
    )


def _stretches(text: str, words: Sequence[QueryWord], *, limit: int | None = None) -> tuple[Stretch, ...]:
    """The text with the query's words marked; with ``limit``, the part around the first match."""
    spans = _matches(text, words)
    if limit and len(text) > limit:
        start = max(0, min(spans[0][0] - limit // 3 if spans else 0, len(text) - limit))
        text = (
            ("… " if start else "")
            + text[start : start + limit]
            + ("" if start + limit >= len(text) else " …")
        )
        spans = _matches(text, words)
    found: list[Stretch] = []
    at = 0
    for start, end in spans:
        found += [Stretch(text[at:start], False), Stretch(text[start:end], True)]
        at = end
    return tuple(each for each in (*found, Stretch(text[at:], False)) if each.text)


def _matches(text: str, words: Sequence[QueryWord]) -> list[tuple[int, int]]:
    wanted = {word.term for word in words}
    spans = {(token.start, token.end) for token in text_tokens(text) if token.key in wanted}
    for word in words:
        if not word.term.isascii():  # a pair of CJK characters is no token
            spans |= {found.span() for found in re.finditer(re.escape(word.text), text)}
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
