"""Orders the skills that match a search by tier and score."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from operator import itemgetter

from registry.core.search_terms import QueryWord
from registry.index.postings import RANK, Field
from registry.search.sql import MAX_LOOKUP_SKILLS, PostingRow, TermCount

_NAME_FIELD = int(Field.NAME)
_NAME_LIKE_FIELDS = int(Field.NAME | Field.KEYWORDS | Field.TAGS)
_KEY_SPACE, _SCORE_SPACE = 2**63, 2**48  # greater than any skill id and any score
RankedSkill = tuple[int, int, int]  # negative tier, negative score × 10⁶, skill id


class SearchTier(IntEnum):
    TEXT = 0
    TAGS = 1
    BEGINNING = 2
    NAME = 3
    EXACT = 4


@dataclass(frozen=True)
class SearchTerm:
    """A search term, and the query word that it represents."""

    text: str
    counted: TermCount
    word: QueryWord
    kind: str
    idf: int  # inverse document frequency × 1000


@dataclass(frozen=True)
class SearchPlan:
    """The query words that a skill should contain, and the search terms that count as matches."""

    words: tuple[QueryWord, ...]
    terms: tuple[SearchTerm, ...]


def rank(plan: SearchPlan, rows: Iterable[PostingRow], exact: set[int]) -> list[int]:
    """The matching skills sorted by tier, then score, best first, each packed into one number for ``unpack``.

    Numbers sort three times faster than tuples. Scores are integers, so that the order is the same on every
    database.
    """
    terms = {term.counted.key: (place, term.idf) for place, term in enumerate(plan.terms)}
    scores: defaultdict[int, int] = defaultdict(int, dict.fromkeys(exact, 0))
    named: defaultdict[int, int] = defaultdict(int)  # skill id -> bits of the terms in its name
    name_like: defaultdict[int, int] = defaultdict(int)  # the same for name, keywords and tags
    for key, some in groupby(rows, itemgetter(0)):
        place, idf = terms[key]
        for _, skill, weight, mask in some:
            scores[skill] += weight % RANK * idf
            if mask & _NAME_LIKE_FIELDS:
                name_like[skill] |= 1 << place
                if mask & _NAME_FIELD:
                    named[skill] |= 1 << place
    bits = {skill: (named[skill], found) for skill, found in name_like.items()}
    # Computed per distinct pair: there are few pairs among thousands of skills.
    tier_of = {pair: int(_tier_of(plan, *pair)) for pair in set(bits.values())}
    tiers = {skill: tier_of[pair] for skill, pair in bits.items()} | dict.fromkeys(
        exact, int(SearchTier.EXACT)
    )
    packed = [
        (tiers.get(skill, 0) * _SCORE_SPACE + score) * _KEY_SPACE - skill for skill, score in scores.items()
    ]
    return sorted(packed, reverse=True)


def rerank(
    plan: SearchPlan,
    ranked: Sequence[int],
    exact: set[int],
    rows: Iterable[PostingRow],
    more: Sequence[PostingRow],
) -> list[int]:
    """The ranking after ``more`` postings were read for its best MAX_LOOKUP_SKILLS skills. The other skills
    keep their scores.
    """
    near, others = ranked[:MAX_LOOKUP_SKILLS], ranked[MAX_LOOKUP_SKILLS:]
    keys = {skill_id(packed) for packed in near}
    again = rank(plan, [*(row for row in rows if row[1] in keys), *more], exact & keys)
    return sorted([*again, *others], reverse=True)


def skill_id(packed: int) -> int:
    return -packed % _KEY_SPACE


def unpack(packed: int) -> RankedSkill:
    skill = skill_id(packed)
    tier, score = divmod((packed + skill) // _KEY_SPACE, _SCORE_SPACE)
    return -tier, -score, skill


def _tier_of(plan: SearchPlan, named: int, name_like: int) -> SearchTier:
    """The tier of a skill. NAME: every word is in the name. BEGINNING: the last word is only a prefix of a
    word in the name. TAGS: every word is in name, keywords or tags; the last may be a prefix. TEXT: all
    others.
    """
    for bits, whole, prefixed in (
        (named, SearchTier.NAME, SearchTier.BEGINNING),
        (name_like, SearchTier.TAGS, SearchTier.TAGS),
    ):
        present = [term for place, term in enumerate(plan.terms) if bits >> place & 1]
        matched = {term.word for term in present if term.kind in ("word", "typo")}
        if len(matched) == len(plan.words):
            return whole
        matched |= {term.word for term in present if term.kind == "beginning" and term.word == plan.words[-1]}
        if len(matched) == len(plan.words):
            return prefixed
    return SearchTier.TEXT
