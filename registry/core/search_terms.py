"""Converts text to search terms, in the same way for indexed text and queries and on every database.

Words are normalized (NFKC, no accents, lower case), split at case changes and hyphens, and lightly stemmed.
Traditional Chinese characters become simplified. Chinese, Japanese and Korean (CJK) text has no spaces, so
pairs of neighboring characters are indexed as words.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

MAX_TERM_LENGTH = 60  # characters; longer terms are cut
_CJK = "々\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"(?P<cjk>[{_CJK}]+)|[^\W_{_CJK}]+")
_CJK_CHARACTER = re.compile(f"[{_CJK}]")
_CASE_CHANGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_VOWEL = re.compile("[aeiouy]")
_STOP_WORDS = """
    a able about after again all also am an and any anyone anything are as at be because been before
    being both but by can could did do does doing done down each even few for from further get gets
    getting give go going got had has have having he help helps her here him his how i if in into is it
    its just let like ll lot made make makes making many may me might more limit much my need needs no
    nor not now of off on once one only or other our out over own please re same see she should show so
    some someone something such tell than that the their them then there these they thing things this
    those to too two under up us use used using ve very via want wants was way we well were what when
    where which while who whom whose why will with without would you your
    bye exactly finally goodbye haha hello hey hi lol maybe mean mind nice okay ok perhaps really sorry still
    thank thanks wow yeah yep yes
    ain aren couldn d didn doesn don hadn hasn haven isn m s shouldn t wasn weren won wouldn
"""  # the last line: fragments of contractions such as don't
_QUERY_STOP_WORDS = """
    a an and are as at be by can do for from how i in is it me my of on or our please that the this to want we
    what which with you your
"""  # dropped from queries that have other words
_QUERY_STOP_TERMS = frozenset(re.findall(r"\w+", _QUERY_STOP_WORDS))
_SUFFIXES = """
    ization isation ation:at ational:at ition:it ction:ct ator:at izer iser iz is ment ness ability ility ity
    ical:ic ally:al ly er or ance ence al ive ion ysi:yz our:or
"""  # suffixes of word families, with their replacement
_SUFFIX_RULES = sorted(
    (each.partition(":")[::2] for each in _SUFFIXES.split()), key=lambda each: -len(each[0])
)
_FIXED_STEM_WORDS = """
    according accordingly:according canvas embed evening morning news series species suite wedding
    logger:log planner:plan runner:run scanner:scan
"""  # words that only look like another word's inflection, and words that lose a doubled letter
_FIXED_STEMS = {
    word: term or word for word, _, term in (each.partition(":") for each in _FIXED_STEM_WORDS.split())
}
_ONE_SYLLABLE = re.compile("[^aeiouy]+[aeiouy][^aeiouwxy]")


class TextToken(NamedTuple):  # three times faster than a dataclass; a text has hundreds
    """A stemmed word or one CJK character. ``start`` and ``end`` are its offsets in the original text."""

    key: str
    start: int
    end: int
    is_cjk: bool


@dataclass(frozen=True)
class QueryWord:
    """A word of a query, or a pair of CJK characters, with its search term and its offsets in the query."""

    term: str
    text: str  # as written
    start: int
    end: int
    parts: tuple[str, ...] = ()  # terms of the parts of a word such as fooBar
    prefix_term: str = ""  # term that finds names and tags by prefix; only set on the last word


def terms(text: str) -> Iterator[str]:
    """Yields the index terms of a text, with repetitions: stemmed words, parts of words such as fooBar, CJK
    characters and pairs of them.
    """
    for run in _RUN.finditer(fold(text)):
        if run["cjk"]:
            yield from run[0]
            yield from _pairs(run[0])
            continue
        yield stem(run[0])
        parts = _CASE_CHANGE.split(run[0])
        if len(parts) > 1:
            yield from map(stem, parts)


def prefixes(text: str) -> Iterator[str]:
    """Yields prefix terms of the words of a name or tag, such as ``re*`` and ``rep*`` for "repo". A prefix
    has 2 to 15 characters and is shorter than its word.
    """
    for word in whole_words(text):
        yield from (f"{word[:length]}*" for length in range(2, min(len(word), 16)))


def whole_words(text: str) -> Iterator[str]:
    """Yields the words unstemmed in lower case, and the parts of words such as fooBar. Skips CJK text."""
    for run in _RUN.finditer(fold(text)):
        if not run["cjk"]:
            yield from {run[0].lower(), *(part.lower() for part in _CASE_CHANGE.split(run[0]))}


def query_words(text: str) -> list[QueryWord]:
    """The words of a query in order, one per term. Stop words and single CJK characters are dropped if other
    words remain.
    """
    folded, starts, ends = _fold_with_offsets(text)
    found: dict[str, QueryWord] = {}
    for run in _RUN.finditer(folded):
        for word in _words_of(run, starts, ends):
            found.setdefault(word.term, word)
    words = list(found.values())
    specific = [
        word for word in words if word.term not in _QUERY_STOP_TERMS and not _is_single_cjk(word.term)
    ]
    return specific or words


def text_tokens(text: str, *, limit: int | None = None) -> list[TextToken]:
    """The tokens of a text in order, at most ``limit``: stemmed words and single CJK characters, with their
    offsets.
    """
    folded, starts, ends = _fold_with_offsets(text)
    found: list[TextToken] = []
    for run in _RUN.finditer(folded):
        if limit is not None and len(found) >= limit:
            break
        if run["cjk"]:
            positions = range(run.start(), run.end())[:limit]
            found += [TextToken(folded[at], starts[at], ends[at], True) for at in positions]
        else:
            found.append(TextToken(stem(run[0]), starts[run.start()], ends[run.end() - 1], False))
    return found[:limit]


def phrase_key(text: str) -> str:
    """The keys of a phrase's tokens, joined by spaces. Phrases with the same stemmed words in the same order
    have equal keys.
    """
    return " ".join(token.key for token in text_tokens(text))


def has_cjk(text: str) -> bool:
    return bool(_CJK_CHARACTER.search(text))


def typo_keys(word: str) -> set[str]:
    """The word, its term, and both with each single letter deleted.

    Two words that are one typo apart share a key, even if the typo is in a suffix that stemming removes. Only
    words of 4 to 20 ASCII letters and terms of 5 to 20 have keys, because shorter ones would share too many.
    """
    whole = {each for each in (word, stem(word)) if _has_typo_keys(each) and (each == word or len(each) > 4)}
    return whole | {each[:at] + each[at + 1 :] for each in whole for at in range(len(each))}


def _has_typo_keys(word: str) -> bool:
    return 4 <= len(word) <= 20 and word.isascii() and word.isalpha()


def name_key(text: str) -> str:
    """The normalized words of a text in lower case, separated by single spaces. Names are compared by this
    key.
    """
    return " ".join(run[0].lower() for run in _RUN.finditer(fold(text)))


def fold(text: str) -> str:
    if text.isascii():
        return text
    return text.translate({ord(character): _fold_character(character) for character in set(text)})


def stem(word: str) -> str:
    """The word in lower case without its English suffix, cut to ``MAX_TERM_LENGTH``. The result is rough, but
    the same for indexed text and queries.
    """
    return _stem(word.lower()[:MAX_TERM_LENGTH])


@lru_cache(maxsize=16_384)  # texts repeat most of their words
def _stem(word: str) -> str:
    if not word.isascii() or len(word) < 4 or not word.isalpha():
        return word
    if word not in _FIXED_STEMS:
        word = _without_plural(word)
    if fixed := _FIXED_STEMS.get(word):
        return fixed
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) > 2 and _VOWEL.search(base) and not word.endswith("eed"):
            return _root(_base_form(base))
    is_long = len(word) > 4 and not _ONE_SYLLABLE.fullmatch(word, 0, len(word) - 1)
    return _root(word[:-1] if word.endswith("e") and is_long else word)


def _base_form(base: str) -> str:
    """The verb without its ending: *planning* is plan, *planing* is plane. Words of one syllable keep their
    e, so that plan and plane, or suit and suite, are different terms.
    """
    if base[-1] == base[-2] and base[-1] not in "lsz" and len(base) > 3:
        return base[:-1]
    return f"{base}e" if _ONE_SYLLABLE.fullmatch(base) else base


def _root(word: str) -> str:
    """The word with a known suffix removed or replaced, so that translate and translator share a term."""
    if len(word) >= 6:
        for ending, replacement in _SUFFIX_RULES:
            if word.endswith(ending) and len(word) - len(ending) >= 4:
                base = word[: -len(ending)] + replacement
                if ending == "ment" and base.endswith("e") and not _ONE_SYLLABLE.fullmatch(base[:-1]):
                    return base[:-1]
                return f"{base}e" if ending in ("er", "or") and _ONE_SYLLABLE.fullmatch(base) else base
    return word


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _pairs(run: str) -> Iterator[str]:
    return (run[at : at + 2] for at in range(len(run) - 1))


def _words_of(run: re.Match[str], starts: Sequence[int], ends: Sequence[int]) -> Iterator[QueryWord]:
    start, end, text = run.start(), run.end(), run[0]
    if run["cjk"]:
        size = min(len(text), 2)
        for at in range(start, end - size + 1):
            pair = text[at - start : at - start + size]
            yield QueryWord(pair, pair, starts[at], ends[at + size - 1])
        return
    parts = _CASE_CHANGE.split(text)
    yield QueryWord(
        stem(text),
        text,
        starts[start],
        ends[end - 1],
        parts=tuple(map(stem, parts)) if len(parts) > 1 else (),
        prefix_term=f"{text.lower()}*" if end == len(run.string) and 2 <= len(text) < 16 else "",
    )


def _is_single_cjk(term: str) -> bool:
    return len(term) == 1 and not term.isascii()


def _fold_with_offsets(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    if all(len(_fold_character(character)) == 1 for character in set(text)):
        return fold(text), range(len(text)), range(1, len(text) + 1)
    folded = [_fold_character(character) for character in text]
    starts = [start for start, part in enumerate(folded) for _ in part]
    ends: list[int] = []
    for end, part in enumerate(folded, 1):
        if part:
            ends += [end] * len(part)
        elif ends:  # part is empty: a removed accent
            ends[-1] = end
    return "".join(folded), starts, ends


@lru_cache(maxsize=8192)
def _fold_character(character: str) -> str:
    """The character without accent and in normal width; simplified if it is traditional Chinese. The result
    has zero or more characters. Keeps the case, because words are split at case changes.
    """
    apart = unicodedata.normalize("NFKD", character)
    base = "".join(part for part in apart if not "\u0300" <= part <= "\u036f")
    composed = unicodedata.normalize("NFC", base)
    return _simplified_characters().get(composed, composed) if character >= "\u3400" else composed


@cache
def _simplified_characters() -> Mapping[str, str]:
    """The simplified character of each traditional one, from OpenCC's table; read at the first use."""
    table = files("opencc").joinpath("dictionary/TSCharacters.txt").read_text("utf-8")
    rows = (line.split("\t") for line in table.splitlines())
    return {traditional: simplified.split(" ")[0] for traditional, simplified in rows}


STOP_TERMS = frozenset(stem(word) for word in _STOP_WORDS.split())  # English words, as terms
