"""The second tier of a match: skills whose text matches the request, scored by the weight of the words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from heapq import nlargest
from itertools import chain, groupby
from math import isqrt
from operator import itemgetter, or_
from typing import NamedTuple

from registry.core import search_terms
from registry.core.sql import Reads, gather, reader
from registry.identity.actors import Actor
from registry.index.postings import RANK, Field
from registry.matching.pinned_skills import PinnedSkills
from registry.matching.query import Concept, expand_concept
from registry.search import sql
from registry.search.glossary import lines
from registry.search.sql import SqlFilter, TermCounts

MAX_CONCEPTS = 12  # number of concepts that are scored, the most specific first
_MAX_EXPANDED_CONCEPTS = 24  # number of concepts that get synonyms from the glossary
_MAX_FULLY_READ_DF = 200  # the postings of terms with at most this df are read in full
_HEAVIEST_POSTINGS = 100  # read of each more common term; the rest is read later, for the best skills only
_TYPO_WEIGHT = 0.8
_FULL_WEIGHT = 2 * 2200  # twice the highest weight of a word in a skill
_COMMON_TERM_DIVISOR = 5  # terms in more than a fifth of the skills are ignored if there are rarer ones
_ASSERTED_FIELDS = ~int(Field.DENIED)
_NAME_FIELD = int(Field.NAME)
MAIN_FIELDS = int(Field.NAME | Field.KEYWORDS | Field.TAGS | Field.DESCRIPTION)
_KEY_SPACE = 2**63  # greater than any skill id
_WEIGHT_SCALE = 5 * 10**8  # makes the integer square root of a scaled weight 10⁶ times the weight's root


@dataclass(frozen=True)
class ScorePart:
    """The contribution of one term to a skill's score, with its concept and fields. ``is_own`` is false for
    synonyms.
    """

    concept: Concept
    is_own: bool
    term: str
    score: int
    mask: int


class Coverage(NamedTuple):
    """The number of the request's concepts in a skill's main fields, and of its terms in the skill's name."""

    concepts: int
    name_terms: int


_ConceptSides = defaultdict[
    tuple[int, bool], list[tuple[int, str, int]]
]  # (concept, whether its own terms or synonyms) -> (score, term, fields)


@dataclass(frozen=True)
class LexicalScores:
    """The result of scoring: concepts, postings, each skill's score × 10⁶, and the ideal score."""

    concepts: Sequence[Concept]
    terms_by_key: Mapping[int, Sequence[_WeightedTerm]]
    rows: Sequence[sql.PostingRow]  # postings of the best skills
    scores: Mapping[int, int]
    near: Sequence[int]  # the best ``MAX_LOOKUP_SKILLS`` skills, unordered
    ideal: int
    skills: int  # number of skills visible to the actor

    def best(self, most: int) -> list[int]:
        """The ids of the ``most`` best skills, best first."""
        return sorted(self.near, key=lambda skill: (-self.scores[skill], skill))[:most]

    def parts(self, skills: Collection[int]) -> dict[int, list[ScorePart]]:
        """The terms that contributed to the scores of these skills, by skill id, heaviest first."""
        found: dict[int, _ConceptSides] = {skill: defaultdict(list) for skill in skills}
        for key, skill, weight, mask in self.rows:
            if skill in found and mask & _ASSERTED_FIELDS:
                weight = _posting_weight(weight, mask)
                for each in self.terms_by_key[key]:
                    found[skill][each.concept, each.is_own].append(
                        (weight * each.point_value, each.text, mask)
                    )
        return {skill: self._counted(sides) for skill, sides in found.items()}

    def coverage(self, skills: Collection[int]) -> dict[int, Coverage]:
        """What the request and these skills have in common, by skill id."""
        bits = {  # a bit per concept, because sets are slower
            key: reduce(or_, (1 << each.concept for each in some)) for key, some in self.terms_by_key.items()
        }
        concepts, names = dict.fromkeys(skills, 0), dict.fromkeys(skills, 0)
        for key, skill, _, mask in self.rows:
            if mask & MAIN_FIELDS and skill in concepts:
                concepts[skill] |= bits[key]
                names[skill] += mask & _NAME_FIELD
        return {skill: Coverage(found.bit_count(), names[skill]) for skill, found in concepts.items()}

    def _counted(self, sides: _ConceptSides) -> list[ScorePart]:
        """The parts that count for each concept: its own words or its synonyms, whichever are heavier."""
        best: dict[int, tuple[int, bool]] = {}
        for (place, is_own), terms in sides.items():
            weight = sum(score for score, _, _ in terms)
            best[place] = max(best.get(place, (0, False)), (weight, is_own))
        parts = [
            ScorePart(self.concepts[place], is_own, text, isqrt(weight) * score // weight, mask)
            for place, (weight, is_own) in best.items()
            if weight
            for score, text, mask in sides[place, is_own]
        ]
        return sorted(parts, key=lambda part: (-part.score, part.concept.start, part.term))


@dataclass(frozen=True)
class _WeightedTerm:
    concept: int
    text: str
    is_own: bool
    point_value: int


@reader
def score_concepts(
    concepts: Sequence[Concept],
    glossary: lines.GlossaryIndex,
    actor: Actor,
    sql_filter: SqlFilter,
    pinned: PinnedSkills,
) -> Reads[LexicalScores]:
    """Scores skills by the most specific concepts of the request, with their synonyms and typo corrections.

    ``sql_filter`` limits the postings that are read.
    """
    narrowed = yield from _narrow(concepts, actor, pinned)
    concepts = [expand_concept(concept, glossary) for concept in narrowed]
    counts = yield from pinned.count({term for concept in concepts for term in concept.all_terms}, actor)
    concepts, counts = yield from _correct_typos(concepts, counts, actor)
    chosen = _by_specificity(concepts, counts)[:MAX_CONCEPTS]
    terms_by_key = _weigh_terms(chosen, counts)
    terms = [
        counts.terms[text] for text in sorted({each.text for some in terms_by_key.values() for each in some})
    ]
    max_df = counts.skills // _COMMON_TERM_DIVISOR
    (rows, cut), of_versions = yield from gather(
        sql.read_postings.reads(
            terms, sql_filter, max_postings=_MAX_FULLY_READ_DF, heaviest=_HEAVIEST_POSTINGS, max_df=max_df
        ),
        pinned.postings(terms),
    )
    rows = pinned.exclude_postings(rows) + of_versions
    scores = _score_skills(terms_by_key, rows)
    best = _best_skills(scores, sql.MAX_LOOKUP_SKILLS)
    near = set(best)
    rows = [row for row in rows if row[1] in near]
    if more := (yield from sql.read_missing_postings.reads(cut, best, rows)):
        rows += pinned.exclude_postings(more)
        scores |= _score_skills(terms_by_key, rows)
    return LexicalScores(chosen, terms_by_key, rows, scores, best, _ideal_score(terms_by_key), counts.skills)


def _narrow(concepts: Sequence[Concept], actor: Actor, pinned: PinnedSkills) -> Reads[Sequence[Concept]]:
    """The concepts; for a long utterance, such as a pasted page, only the most specific ones."""
    if len(concepts) <= _MAX_EXPANDED_CONCEPTS:
        return concepts
    counts = yield from pinned.count({term for concept in concepts for term in concept.terms}, actor)
    return _by_specificity(concepts, counts)[:_MAX_EXPANDED_CONCEPTS]


def _by_specificity(concepts: Sequence[Concept], counts: TermCounts) -> list[Concept]:
    """The concepts sorted by their rarest word or best synonym; those without a known word come last."""

    def order(concept: Concept) -> tuple[bool, float, int]:
        idfs = [counts.idf(term) for term in concept.terms if term in counts.terms]
        idfs += [
            counts.idf(term) * weight for term, weight in concept.synonyms.items() if term in counts.terms
        ]
        return not idfs, -max(idfs, default=counts.idf(concept.terms[0])), concept.start

    return sorted(concepts, key=order)


def _correct_typos(
    concepts: Sequence[Concept], counts: TermCounts, actor: Actor
) -> Reads[tuple[Sequence[Concept], TermCounts]]:
    """The concepts and counts, extended by corrections of unknown words: names and tags one typo away."""
    alone = (c for c in concepts if not any(term in counts.terms for term in c.all_terms))
    unknown = {c.terms[0]: search_terms.fold(c.text).lower() for c in alone}
    meant, more = yield from sql.find_corrections.reads(unknown, actor)
    if not meant:
        return concepts, counts
    concepts = [
        c._replace(synonyms={meant[c.terms[0]]: _TYPO_WEIGHT}) if c.terms[0] in meant else c for c in concepts
    ]
    return concepts, replace(counts, terms={**counts.terms, **more.terms})


def _weigh_terms(concepts: Sequence[Concept], counts: TermCounts) -> dict[int, list[_WeightedTerm]]:
    """The concepts that each term belongs to, with the term's weight in each concept, by term id."""
    found: defaultdict[int, list[_WeightedTerm]] = defaultdict(list)
    for place, concept in enumerate(concepts):
        own = dict.fromkeys(concept.terms, 1.0)
        for text, weight in {**concept.synonyms, **own}.items():
            if glossary := counts.terms.get(text):
                point_value = round(counts.idf(text) * weight * _WEIGHT_SCALE)
                found[glossary.key].append(_WeightedTerm(place, text, text in own, point_value))
    return found


def _score_skills(
    terms_by_key: Mapping[int, Sequence[_WeightedTerm]], rows: Iterable[sql.PostingRow]
) -> dict[int, int]:
    """The score of each skill. Scores are integers, so that the order of the rows does not matter.

    A concept counts with its own words or its synonyms, whichever weigh more. Scores add the square roots of
    these weights, so two weakly matched concepts are worth more than one strongly matched concept.
    """
    sides: defaultdict[tuple[int, bool], dict[int, int]] = defaultdict(dict)
    for key, some in groupby(rows, itemgetter(0)):
        weights = [
            (skill, _posting_weight(weight, mask))
            for _, skill, weight, mask in some
            if mask & _ASSERTED_FIELDS
        ]
        for each in terms_by_key[key]:
            side, point_value = sides[each.concept, each.is_own], each.point_value
            for skill, weight in weights:
                side[skill] = side.get(skill, 0) + weight * point_value
    scores: defaultdict[int, int] = defaultdict(int)
    for concept in {concept for concept, _ in sides}:
        best, synonyms = sides[concept, True], sides[concept, False]
        for skill, weight in synonyms.items():
            if weight > best.get(skill, 0):
                best[skill] = weight
        for skill, weight in best.items():
            scores[skill] += isqrt(weight)
    return scores


def _ideal_score(terms_by_key: Mapping[int, Sequence[_WeightedTerm]]) -> int:
    """The score of a skill with the highest weight in every known concept."""
    best: dict[int, int] = {}
    for each in chain.from_iterable(terms_by_key.values()):
        best[each.concept] = max(each.point_value, best.get(each.concept, 0))
    return sum(isqrt(_FULL_WEIGHT * point_value) for point_value in best.values())


def _posting_weight(weight: int, mask: int) -> int:
    """The posting's weight without its rank, times 2, or times 3 for a word in the skill's name."""
    return weight % RANK * (3 if mask & _NAME_FIELD else 2)


def _best_skills(scores: Mapping[int, int], most: int) -> list[int]:
    """The ids of the ``most`` best skills, sorted by score, then id.

    Packs score and id into one number, which sorts fastest.
    """
    ordered = nlargest(most, [score * _KEY_SPACE - skill for skill, score in scores.items()])
    return [-each % _KEY_SPACE for each in ordered]
