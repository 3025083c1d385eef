"""Text to search terms: the same for what is indexed and what is asked, and on every database.

Words are folded (NFKC, no accents, small letters), split at case changes and hyphens and lightly stemmed.
Chinese, Japanese and Korean have no spaces: pairs of neighbouring characters stand for words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

LONGEST = 60  # characters of a term; what is longer is cut
_CJK = "々\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"(?P<cjk>[{_CJK}]+)|[^\W_{_CJK}]+")
_CJK_CHARACTER = re.compile(f"[{_CJK}]")
_CASE_CHANGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_VOWEL = re.compile("[aeiouy]")
_SAYING_NOTHING = """
    a able about after again all also am an and any anyone anything are as at be because been before
    being both but by can could did do does doing done down each even few for from further get gets
    getting give go going got had has have having he help helps her here him his how i if in into is it
    its just let like ll lot made make makes making many may me might more most much my need needs no
    nor not now of off on once one only or other our out over own please re same see she should show so
    some someone something such tell than that the their them then there these they thing things this
    those to too two under up us use used using ve very via want wants was way we well were what when
    where which while who whom whose why will with without would you your
    ain aren couldn d didn doesn don hadn hasn haven isn m s shouldn t wasn weren won wouldn
"""  # in the last line what is left of don't and their like
_TELLING_NOTHING = """
    a an and are as at be by can do for from how i in is it me my of on or our please that the this to want we
    what which with you your
"""  # dropped from a query that has other words
_EMPTY = frozenset(re.findall(r"\w+", _TELLING_NOTHING))
_FAMILY = """
    ization isation ation:at ational:at ition:it ction:ct ator:at izer iser iz is ment ness ability ility ity
    ical:ic ally:al ly er or ance ence al ive ion ysi:yz our:or
"""  # endings of words of one family, and what is left of them
_ENDINGS = sorted((each.partition(":")[::2] for each in _FAMILY.split()), key=lambda each: -len(each[0]))


class Piece(NamedTuple):  # of which a text has hundreds: made in a third of a dataclass's time
    """A word, or one character of what is written without spaces: what phrases are compared by."""

    key: str
    start: int
    end: int
    is_cjk: bool


@dataclass(frozen=True)
class Word:
    """One word of a query: what it is looked up as, and where it stands in the query as written."""

    term: str
    text: str  # as written
    start: int
    end: int
    parts: tuple[str, ...] = ()  # of a word written as fooBar
    beginning: str = ""  # the term of words in names and tags that begin so; of the last word only


def terms(text: str) -> Iterator[str]:
    """Every term to index of a text, in order, as often as it occurs."""
    for run in _RUN.finditer(fold(text)):
        if run["cjk"]:
            yield from run[0]
            yield from _pairs(run[0])
            continue
        yield stem(run[0])
        parts = _CASE_CHANGE.split(run[0])
        if len(parts) > 1:
            yield from map(stem, parts)


def beginnings(text: str) -> Iterator[str]:
    """The terms under which the words of a name or tag are found by their first letters."""
    for word in written(text):
        yield from (f"{word[:length]}*" for length in range(2, min(len(word), 16)))


def written(text: str) -> Iterator[str]:
    """The words with all their letters, and the parts of those written as fooBar."""
    for run in _RUN.finditer(fold(text)):
        if not run["cjk"]:
            yield from {run[0].lower(), *(part.lower() for part in _CASE_CHANGE.split(run[0]))}


def query_words(text: str) -> list[Word]:
    """The words of a query, each once; empty ones and lone characters only where there is nothing else."""
    folded, places, ends = _fold_with_places(text)
    found: dict[str, Word] = {}
    for run in _RUN.finditer(folded):
        for word in _words_of(run, places, ends):
            found.setdefault(word.term, word)
    words = list(found.values())
    telling = [word for word in words if word.term not in _EMPTY and not _is_lone(word.term)]
    return telling or words


def pieces(text: str, *, most: int | None = None) -> list[Piece]:
    """The words and characters of a text, in order, with their places in it; the first ``most``."""
    folded, places, ends = _fold_with_places(text)
    found: list[Piece] = []
    for run in _RUN.finditer(folded):
        if most is not None and len(found) >= most:
            break
        if run["cjk"]:
            every = range(run.start(), run.end())[:most]
            found += [Piece(folded[at], places[at], ends[at], True) for at in every]
        else:
            found.append(Piece(stem(run[0]), places[run.start()], ends[run.end() - 1], False))
    return found[:most]


def phrase_key(text: str) -> str:
    """A phrase as its pieces: equal where two texts say the same words in the same order."""
    return " ".join(piece.key for piece in pieces(text))


def has_cjk(text: str) -> bool:
    return bool(_CJK_CHARACTER.search(text))


def misspellings(word: str) -> set[str]:
    """A word, its term, and what is left of each when a letter falls out: two words one slip apart share one
    of them, also where the slip is in an ending that the term has not. Short terms share too much."""
    whole = {
        each for each in (word, stem(word)) if _may_be_misspelt(each) and (each == word or len(each) > 4)
    }
    return whole | {each[:at] + each[at + 1 :] for each in whole for at in range(len(each))}


def _may_be_misspelt(word: str) -> bool:
    return 4 <= len(word) <= 20 and word.isascii() and word.isalpha()


def key(text: str) -> str:
    """The words of a text, folded and separated by single blanks: what names are compared by."""
    return " ".join(run[0].lower() for run in _RUN.finditer(fold(text)))


def fold(text: str) -> str:
    if text.isascii():
        return text
    return text.translate({ord(character): _fold_character(character) for character in set(text)})


def stem(word: str) -> str:
    """A word without its English ending; a rough one, made for being the same on both sides."""
    return _stem(word.lower()[:LONGEST])


@lru_cache(maxsize=16_384)  # of most texts' words most come again
def _stem(word: str) -> str:
    if not word.isascii() or len(word) < 4 or not word.isalpha():
        return word
    word = _without_plural(word)
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) > 2 and _VOWEL.search(base) and not word.endswith("eed"):
            double = base[-1] == base[-2] and base[-1] not in "lsz"
            word = base[:-1] if double else base
            break
    return _root(word[:-1] if word.endswith("e") and len(word) > 4 else word)


def _root(word: str) -> str:
    """What a word shares with its family: translate, translation and translator are one term."""
    if len(word) >= 6:
        for ending, left in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 4:
                return word[: -len(ending)] + left
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


def _words_of(run: re.Match[str], places: Sequence[int], ends: Sequence[int]) -> Iterator[Word]:
    start, end, text = run.start(), run.end(), run[0]
    if run["cjk"]:
        size = min(len(text), 2)
        for at in range(start, end - size + 1):
            pair = text[at - start : at - start + size]
            yield Word(pair, pair, places[at], ends[at + size - 1])
        return
    parts = _CASE_CHANGE.split(text)
    yield Word(
        stem(text),
        text,
        places[start],
        ends[end - 1],
        parts=tuple(map(stem, parts)) if len(parts) > 1 else (),
        beginning=f"{text.lower()}*" if end == len(run.string) and 2 <= len(text) < 16 else "",
    )


def _is_lone(term: str) -> bool:
    return len(term) == 1 and not term.isascii()


def _fold_with_places(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """The folded text, and for each of its characters where it begins and, accents included, ends."""
    if all(len(_fold_character(character)) == 1 for character in set(text)):
        return fold(text), range(len(text)), range(1, len(text) + 1)
    pieces = [_fold_character(character) for character in text]
    places = [place for place, piece in enumerate(pieces) for _ in piece]
    ends: list[int] = []
    for end, piece in enumerate(pieces, 1):
        if piece:
            ends += [end] * len(piece)
        elif ends:  # an accent that fell away
            ends[-1] = end
    return "".join(pieces), places, ends


@lru_cache(maxsize=8192)
def _fold_character(character: str) -> str:
    """One character without accents and width; case is kept, for words are split at it."""
    apart = unicodedata.normalize("NFKD", character)
    plain = "".join(part for part in apart if not "\u0300" <= part <= "\u036f")
    return unicodedata.normalize("NFC", plain)


SAYING_NOTHING = frozenset(stem(word) for word in _SAYING_NOTHING.split())  # English words, as terms
