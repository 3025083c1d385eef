"""The second tier of a match: the skills that speak of what is asked about, by weight of words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from itertools import chain, groupby
from math import isqrt
from operator import itemgetter

from registry import glossary, retrieval, words
from registry.actors import Actor
from registry.indexing import RANK, Field
from registry.matching.asking import Concept, with_meanings
from registry.matching.pinned import Pinned
from registry.retrieval import Counts, Sight

MOST_CONCEPTS = 12  # the most telling ones
_MOST_WEIGHED = 24  # of which what the glossary has in their place is looked at, too
_WHOLE = 200  # postings of a term that are all read …
_HEAVIEST = 100  # … and of one that has more, those that bring a skill up; the best's are looked up after
_TYPO = 0.8
_FULL = 2 * 2200  # twice the weight of a word that a skill is all about
_COMMON_PART = 10  # a term in more than a tenth of the skills brings none up where others do
_SAID = ~int(Field.DENIED)
_NAME = int(Field.NAME)
_KEYS = 2**63  # past any skill's key
_FINE = 5 * 10**8  # so that the whole root of twice a weight in thousandths by it is its root × 10⁶


@dataclass(frozen=True)
class Part:
    """What a term adds to a skill's score, of which concept, in which fields."""

    concept: Concept
    is_own: bool
    term: str
    score: int
    mask: int


_Sides = defaultdict[tuple[int, bool], list[tuple[int, str, int]]]  # by concept and whether own: terms found


@dataclass(frozen=True)
class Scores:
    """What was asked and read, the score × 10⁶ of each skill, what one would get that says everything."""

    asked: Sequence[Concept]
    weighed: Mapping[int, Sequence[_Weighed]]
    rows: Sequence[retrieval.Row]  # of the best
    scores: Mapping[int, int]
    near: Sequence[int]  # the best ``LOOKED_UP``, in no order
    ideal: int
    skills: int  # that the actor may see

    def best(self, most: int) -> list[int]:
        """Nothing that was read afterwards has made less of them."""
        return sorted(self.near, key=lambda skill: (-self.scores[skill], skill))[:most]

    def parts(self, skills: Collection[int]) -> dict[int, list[Part]]:
        """Why these skills have their scores: the terms that counted, the heaviest first."""
        found: dict[int, _Sides] = {skill: defaultdict(list) for skill in skills}
        for key, skill, weight, mask in self.rows:
            if skill in found and mask & _SAID:
                told = _told(weight, mask)
                for each in self.weighed[key]:
                    found[skill][each.concept, each.is_own].append((told * each.worth, each.text, mask))
        return {skill: self._counted(sides) for skill, sides in found.items()}

    def _counted(self, sides: _Sides) -> list[Part]:
        """Of each concept the side that counted: its own words, or those in their place."""
        best: dict[int, tuple[int, bool]] = {}
        for (place, is_own), terms in sides.items():
            weight = sum(score for score, _, _ in terms)
            best[place] = max(best.get(place, (0, False)), (weight, is_own))
        parts = [
            Part(self.asked[place], is_own, text, isqrt(weight) * score // weight, mask)
            for place, (weight, is_own) in best.items()
            if weight
            for score, text, mask in sides[place, is_own]
        ]
        return sorted(parts, key=lambda part: (-part.score, part.concept.start, part.term))


@dataclass(frozen=True)
class _Weighed:
    """A term of a concept: what one point of its weight is worth."""

    concept: int
    text: str
    is_own: bool
    worth: int


def score(
    asked: Sequence[Concept], known: glossary.Lines, actor: Actor, readable: Sight, pinned: Pinned
) -> Scores:
    """Skills by what they say of the most telling concepts; ``readable`` are the postings to look at."""
    asked = [with_meanings(concept, known) for concept in _narrowed(asked, actor, pinned)]
    counts = pinned.count({term for concept in asked for term in concept.every}, actor)
    asked, counts = _with_typos(asked, counts, actor)
    telling = _most_telling(asked, counts)[:MOST_CONCEPTS]
    weighed = _weighed(telling, counts)
    terms = [counts.terms[text] for text in sorted({each.text for some in weighed.values() for each in some})]
    spare = counts.skills // _COMMON_PART
    rows, cut = retrieval.postings(terms, readable, most=_WHOLE, heaviest=_HEAVIEST, spare=spare)
    rows = pinned.instead(rows, terms)
    scores = _scores(weighed, rows)
    best = _best(scores, retrieval.LOOKED_UP)
    near = set(best)
    rows = [row for row in rows if row[1] in near]
    if more := retrieval.complete(cut, best, rows):
        rows += pinned.without(more)
        scores |= _scores(weighed, rows)
    return Scores(telling, weighed, rows, scores, best, _ideal(weighed), counts.skills)


def _narrowed(asked: Sequence[Concept], actor: Actor, pinned: Pinned) -> Sequence[Concept]:
    """Of a long utterance the concepts that tell most by their own words: a page is not a question."""
    if len(asked) <= _MOST_WEIGHED:
        return asked
    counts = pinned.count({term for concept in asked for term in concept.terms}, actor)
    return _most_telling(asked, counts)[:_MOST_WEIGHED]


def _most_telling(asked: Sequence[Concept], counts: Counts) -> list[Concept]:
    """The most telling first, by its own rarest word or the best of what is said in its place; words that
    nobody has come after all others."""

    def order(concept: Concept) -> tuple[bool, float, int]:
        tells = [counts.idf(term) for term in concept.terms if term in counts.terms]
        tells += [
            counts.idf(term) * weight for term, weight in concept.others.items() if term in counts.terms
        ]
        return not tells, -max(tells, default=counts.idf(concept.terms[0])), concept.start

    return sorted(asked, key=order)


def _with_typos(asked: Sequence[Concept], counts: Counts, actor: Actor) -> tuple[Sequence[Concept], Counts]:
    """Words that nobody has are taken for the names and tags a slip away."""
    alone = (c for c in asked if not any(term in counts.terms for term in c.every))
    unknown = {c.terms[0]: words.fold(c.text).lower() for c in alone}
    meant = retrieval.meant(unknown, actor) if unknown else {}
    if not meant:
        return asked, counts
    more = retrieval.count(meant.values(), actor)
    asked = [c._replace(others={meant[c.terms[0]]: _TYPO}) if c.terms[0] in meant else c for c in asked]
    return asked, replace(counts, terms={**counts.terms, **more.terms})


def _weighed(asked: Sequence[Concept], counts: Counts) -> dict[int, list[_Weighed]]:
    """By the key of each term that is looked for, what it is worth to which concept."""
    found: defaultdict[int, list[_Weighed]] = defaultdict(list)
    for place, concept in enumerate(asked):
        own = dict.fromkeys(concept.terms, 1.0)
        for text, weight in {**concept.others, **own}.items():
            if known := counts.terms.get(text):
                worth = round(counts.idf(text) * weight * _FINE)
                found[known.key].append(_Weighed(place, text, text in own, worth))
    return found


def _scores(weighed: Mapping[int, Sequence[_Weighed]], rows: Iterable[retrieval.Row]) -> dict[int, int]:
    """A concept counts as its own words or as those in their place, whichever is more, and by its root: to
    speak of two things a little is more than to speak of one a lot. Whole numbers only, so that the order in
    which a database answers changes nothing."""
    sides: defaultdict[tuple[int, bool], dict[int, int]] = defaultdict(dict)
    for key, some in groupby(rows, itemgetter(0)):
        said = [(skill, _told(weight, mask)) for _, skill, weight, mask in some if mask & _SAID]
        for each in weighed[key]:
            side, worth = sides[each.concept, each.is_own], each.worth
            for skill, weight in said:
                side[skill] = side.get(skill, 0) + weight * worth
    scores: defaultdict[int, int] = defaultdict(int)
    for concept in {concept for concept, _ in sides}:
        most, theirs = sides[concept, True], sides[concept, False]
        for skill, weight in theirs.items():
            if weight > most.get(skill, 0):
                most[skill] = weight
        for skill, weight in most.items():
            scores[skill] += isqrt(weight)
    return scores


def _ideal(weighed: Mapping[int, Sequence[_Weighed]]) -> int:
    """The score of a skill that is all about each concept that anybody speaks of."""
    most: dict[int, int] = {}
    for each in chain.from_iterable(weighed.values()):
        most[each.concept] = max(each.worth, most.get(each.concept, 0))
    return sum(isqrt(_FULL * worth) for worth in most.values())


def _told(weight: int, mask: int) -> int:
    """Twice a posting's weight; of a word in a skill's name half as much again, for that is what it is."""
    return weight % RANK * (3 if mask & _NAME else 2)


def _best(scores: Mapping[int, int], most: int) -> list[int]:
    """The highest first, equals by key; as one number each, for of some thousands this is the quickest."""
    ordered = nlargest(most, [score * _KEYS - skill for skill, score in scores.items()])
    return [-each % _KEYS for each in ordered]
