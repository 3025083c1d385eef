"""Turns a request into concepts: its content words and their synonyms from the glossary."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise, takewhile
from math import sqrt
from types import MappingProxyType
from typing import NamedTuple

from registry.core import search_terms
from registry.core.search_terms import TextToken
from registry.search.glossary import lines

MAX_TOKENS = 500  # per utterance; further tokens are ignored
CROSS_LANGUAGE_WEIGHT = 0.8  # divided by the root of the number of translations
SYNONYM_WEIGHT = 0.65  # divided by the root of the number of synonyms
_ONE_WAY_FACTOR = 0.7  # for the weights of words of skills in lines that start with words of requests
_MORE_WORDS_FACTOR = 0.35  # the same for words that have other lines too
_MAX_SYNONYMS = 8  # per concept and kind of line

_STOP_WORDS_ZH = """
    请帮我 帮我 帮忙 请问 请 一下 怎么样 怎么办 怎么 怎样 如何 什么 为什么 哪些 哪个 哪里 多少 是否
    有没有 能不能 可不可以 可以 能否 应该 需要 想要 我想 我要 我们 你们 他们 我的 我 你 您 他 她 它 给我
    把 被 让 和 与 以及 或者 还是 并且 然后 了 吗 呢 吧 啊 的 这个 那个 这些 那些 这份 那份 这段 这篇
    这张 这 那 一个 一份 一张 一些 一条 一篇 一段 一道 一套 一点 几个 所有 现在 里面 没有 不是 看看
    看一下 关于 每个 你好 您好 早上好 晚上好 晚安 再见 谢谢 感谢 不好意思 对不起 没关系 没事 没问题 好的 好吧
    行吧 嗯 哦 哈哈 算了 觉得 知道 一直 已经 终于 真的 其实
"""
_STOP_WORD_STARTS_ZH = frozenset(each[0] for each in _STOP_WORDS_ZH.split())
_STOP_WORD_ZH = re.compile("|".join(sorted(set(_STOP_WORDS_ZH.split()), key=lambda each: (-len(each), each))))


class Concept(NamedTuple):  # faster than a dataclass; a page has hundreds
    """One concept of a request: its own terms, and synonym terms with their weights."""

    text: str
    start: int
    end: int
    key: str  # the concept's key in the glossary
    terms: tuple[str, ...]
    synonyms: Mapping[str, float] = MappingProxyType({})

    @property
    def is_phrase(self) -> bool:
        """Whether this is a phrase of a request whose words are concepts as well."""
        return " " in self.terms[0]

    @property
    def all_terms(self) -> tuple[str, ...]:
        return (*self.terms, *self.synonyms)


def concepts(utterance: str, tokens: Sequence[TextToken], glossary: lines.GlossaryIndex) -> list[Concept]:
    """The distinct concepts of the utterance in order, without synonyms. Phrases whose words count as well
    come last; their only own term is their key, which no skill has.
    """
    found: dict[tuple[str, ...], Concept] = {}
    spans = ((*span, _index_terms(tokens[span[0] : span[1]])) for span in _spans(tokens, glossary))
    phrases = ((*span, (span[2],)) for span in _phrases(tokens, glossary))
    for begin, end, key, terms in chain(spans, phrases):
        if terms not in found:
            start, stop = tokens[begin].start, tokens[end - 1].end
            found[terms] = Concept(utterance[start:stop], start, stop, key, terms)
    return list(found.values())


def expand_concept(concept: Concept, glossary: lines.GlossaryIndex) -> Concept:
    """The concept with its synonyms from the glossary."""
    texts = glossary.get(concept.key)
    if not texts:
        return concept
    factor = _ONE_WAY_FACTOR if concept.key in glossary.one_way else 1.0
    is_cjk = search_terms.has_cjk(concept.key[0])
    synonyms = _synonym_terms(concept.terms, texts, is_cjk, factor)
    if more := glossary.more.get(concept.key):
        added = _synonym_terms(concept.terms, more, is_cjk, _MORE_WORDS_FACTOR)
        synonyms = {**added, **{term: max(weight, added.get(term, 0)) for term, weight in synonyms.items()}}
    return concept._replace(synonyms=synonyms)


def _spans(tokens: Sequence[TextToken], glossary: lines.GlossaryIndex) -> Iterator[tuple[int, int, str]]:
    """Yields begin, end and key of content words, glossary phrases, and pairs of other Chinese characters."""
    at = left = 0
    while at < len(tokens):
        size, is_content = _next_span(tokens, at, glossary)
        if is_content is not None:
            yield from _pairs(tokens, left, at)
            left = at + size
        if is_content:
            yield at, left, " ".join(token.key for token in tokens[at:left])
        at += size
    yield from _pairs(tokens, left, len(tokens))


def _next_span(
    tokens: Sequence[TextToken], at: int, glossary: lines.GlossaryIndex
) -> tuple[int, bool | None]:
    """The size of the next span in tokens, and whether the span is content: True, False, or None for a CJK
    character outside known words.
    """
    token = tokens[at]
    keys = [each.key for each in tokens[at : at + glossary.longest.get(token.key, 0)]]
    for size in range(len(keys), token.is_cjk, -1):  # _pairs handles single Chinese characters
        key = " ".join(keys[:size])
        if key in glossary and key not in glossary.phrases and key not in search_terms.STOP_TERMS:
            return size, True
    if not token.is_cjk:
        return 1, token.key not in search_terms.STOP_TERMS
    if token.key not in _STOP_WORD_STARTS_ZH:
        return 1, None
    ahead = "".join(each.key for each in takewhile(lambda each: each.is_cjk, tokens[at : at + 4]))
    stop_word = _STOP_WORD_ZH.match(ahead)
    return (len(stop_word[0]), False) if stop_word else (1, None)


def _phrases(tokens: Sequence[TextToken], glossary: lines.GlossaryIndex) -> Iterator[tuple[int, int, str]]:
    """Yields begin, end and key of the longest phrases of requests in the tokens."""
    at = 0
    while at < len(tokens):
        size = min(glossary.longest_phrase.get(tokens[at].key, 0), len(tokens) - at)
        keys = (" ".join(token.key for token in tokens[at : at + most]) for most in range(size, 1, -1))
        key = next((key for key in keys if key in glossary.phrases), "")
        if key:
            yield at, at + key.count(" ") + 1, key
        at += key.count(" ") + 1


def _pairs(tokens: Sequence[TextToken], begin: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Yields the spans of neighboring pairs in a range of CJK tokens. A range of one token yields that token,
    which may be in the glossary.
    """
    if end - begin == 1:
        yield begin, end, tokens[begin].key
    for at in range(begin, end - 1):
        yield at, at + 2, f"{tokens[at].key} {tokens[at + 1].key}"


def _index_terms(tokens: Sequence[TextToken]) -> tuple[str, ...]:
    if not tokens[0].is_cjk or len(tokens) == 1:
        return tuple(token.key for token in tokens)
    return tuple(dict.fromkeys(one.key + two.key for one, two in pairwise(tokens)))


@lru_cache(maxsize=8192)  # requests use the same few thousand words
def _synonym_terms(
    own: tuple[str, ...], texts: tuple[str, ...], is_cjk: bool, factor: float
) -> Mapping[str, float]:
    """The terms of the synonyms with their weights times ``factor``, at most ``_MAX_SYNONYMS``. The more
    synonyms there are, the less each weighs.
    """
    translations = sum(search_terms.has_cjk(text) != is_cjk for text in texts)
    found: dict[str, float] = {}
    for text in texts:
        is_translation = search_terms.has_cjk(text) != is_cjk
        weight = (CROSS_LANGUAGE_WEIGHT if is_translation else SYNONYM_WEIGHT) / sqrt(
            translations if is_translation else len(texts) - translations
        )
        terms = _text_terms(text)
        for term in terms:
            if term not in own:
                found[term] = max(found.get(term, 0), factor * weight / len(terms))
    likely = sorted(found, key=lambda term: (-found[term], term))[:_MAX_SYNONYMS]
    return {term: found[term] for term in likely}


def glossary_word(concept: Concept, term: str, glossary: lines.GlossaryIndex) -> str:
    """The synonym in the glossary that has this term, or the term itself for a corrected typo."""
    key = _phrase_key(concept.text)
    texts = (*glossary.get(key, ()), *glossary.more.get(key, ()))
    return next((text for text in texts if term in _text_terms(text)), term)


@lru_cache(maxsize=8192)
def _phrase_key(text: str) -> str:
    return search_terms.phrase_key(text)


@lru_cache(maxsize=8192)
def _text_terms(text: str) -> tuple[str, ...]:
    return _index_terms(search_terms.text_tokens(text))
