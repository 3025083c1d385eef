"""From a request to what it asks about: its telling words, and what the glossary says in their place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile
from math import sqrt
from types import MappingProxyType
from typing import NamedTuple

from registry import glossary, words
from registry.words import Piece

MOST_PIECES = 500  # of an utterance; what stands after them is not read
ACROSS = 0.8  # what a word of another language counts, less the more of them there are
ALIKE = 0.65  # and one of the same
_MOST_OTHERS = 8  # of a concept

_SAYING_NOTHING_ZH = """
    请帮我 帮我 帮忙 请问 请 一下 怎么样 怎么办 怎么 怎样 如何 什么 为什么 哪些 哪个 哪里 多少 是否
    有没有 能不能 可不可以 可以 能否 应该 需要 想要 我想 我要 我们 你们 他们 我的 我 你 您 他 她 它 给我
    把 被 让 和 与 以及 或者 还是 并且 然后 了 吗 呢 吧 啊 的 这个 那个 这些 那些 这份 那份 这段 这篇
    这张 这 那 一个 一份 一张 一些 一条 一篇 一段 一道 一套 一点 几个 所有 现在 里面 没有 不是 看看
    看一下 关于 每个
"""
_BEGIN_CHINESE = frozenset(each[0] for each in _SAYING_NOTHING_ZH.split())
_CHINESE = re.compile("|".join(sorted(set(_SAYING_NOTHING_ZH.split()), key=lambda each: (-len(each), each))))


class Concept(NamedTuple):  # of a page hundreds are made
    """One thing that is asked about: its own terms, and terms that mean it, with what each counts."""

    text: str
    start: int
    end: int
    key: str  # as the glossary has it
    terms: tuple[str, ...]
    others: Mapping[str, float] = MappingProxyType({})

    @property
    def every(self) -> tuple[str, ...]:
        return (*self.terms, *self.others)


def concepts(utterance: str, pieces: Sequence[Piece], known: glossary.Lines) -> list[Concept]:
    """What the utterance asks about by its own words, each once, in its order."""
    found: dict[tuple[str, ...], Concept] = {}
    for begin, end, key in _spans(pieces, known):
        terms = _terms_of(pieces[begin:end])
        if terms not in found:
            start, stop = pieces[begin].start, pieces[end - 1].end
            found[terms] = Concept(utterance[start:stop], start, stop, key, terms)
    return list(found.values())


def with_meanings(concept: Concept, known: glossary.Lines) -> Concept:
    """What the glossary says in its place, too."""
    texts = known.get(concept.key)
    return (
        concept._replace(others=_others(concept.terms, texts, words.has_cjk(concept.key[0])))
        if texts
        else concept
    )


def _spans(pieces: Sequence[Piece], known: glossary.Lines) -> Iterator[tuple[int, int, str]]:
    """What says something: words, what the glossary knows, and pairs of the Chinese that is left between."""
    at = left = 0
    while at < len(pieces):
        size, says = _next(pieces, at, known)
        if says is not None:
            yield from _pairs(pieces, left, at)
            left = at + size
        if says:
            yield at, left, " ".join(piece.key for piece in pieces[at:left])
        at += size
    yield from _pairs(pieces, left, len(pieces))


def _next(pieces: Sequence[Piece], at: int, known: glossary.Lines) -> tuple[int, bool | None]:
    """How many pieces belong together here, and whether they say something; None for Chinese that is left."""
    piece = pieces[at]
    keys = [each.key for each in pieces[at : at + known.longest.get(piece.key, 0)]]
    for size in range(len(keys), piece.is_cjk, -1):  # a lone Chinese character is too little
        key = " ".join(keys[:size])
        if key in known and key not in words.SAYING_NOTHING:
            return size, True
    if not piece.is_cjk:
        return 1, piece.key not in words.SAYING_NOTHING
    if piece.key not in _BEGIN_CHINESE:
        return 1, None
    ahead = "".join(each.key for each in takewhile(lambda each: each.is_cjk, pieces[at : at + 4]))
    nothing = _CHINESE.match(ahead)
    return (len(nothing[0]), False) if nothing else (1, None)


def _pairs(pieces: Sequence[Piece], begin: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Pairs of neighbouring characters; a lone one that the glossary may know."""
    if end - begin == 1:
        yield begin, end, pieces[begin].key
    for at in range(begin, end - 1):
        yield at, at + 2, f"{pieces[at].key} {pieces[at + 1].key}"


def _terms_of(pieces: Sequence[Piece]) -> tuple[str, ...]:
    """The terms that a run of pieces is indexed under."""
    if not pieces[0].is_cjk or len(pieces) == 1:
        return tuple(piece.key for piece in pieces)
    return tuple(dict.fromkeys(one.key + two.key for one, two in pairwise(pieces)))


@lru_cache(maxsize=8192)  # requests say the same few thousand words
def _others(own: tuple[str, ...], texts: tuple[str, ...], is_cjk: bool) -> Mapping[str, float]:
    """The terms of the words that mean the same; each counts less the more of its kind there are."""
    across = sum(words.has_cjk(text) != is_cjk for text in texts)
    found: dict[str, float] = {}
    for text in texts:
        is_across = words.has_cjk(text) != is_cjk
        counts = (ACROSS if is_across else ALIKE) / sqrt(across if is_across else len(texts) - across)
        terms = _terms_of_text(text)
        for term in terms:
            if term not in own:
                found[term] = max(found.get(term, 0), counts / len(terms))
    likely = sorted(found, key=lambda term: (-found[term], term))[:_MOST_OTHERS]
    return {term: found[term] for term in likely}


def word_of(concept: Concept, term: str, known: glossary.Lines) -> str:
    """The word of the glossary, in a concept's place, that a term is of; the term of what was misspelt."""
    texts = known.get(_key_of(concept.text), ())
    return next((text for text in texts if term in _terms_of_text(text)), term)


@lru_cache(maxsize=8192)
def _key_of(text: str) -> str:
    return words.phrase_key(text)


@lru_cache(maxsize=8192)
def _terms_of_text(text: str) -> tuple[str, ...]:
    return _terms_of(words.pieces(text))
