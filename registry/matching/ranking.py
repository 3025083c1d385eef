"""The ranking of a match: explicit triggers first, then text relevance, priority and usage.

The confidence of a lexical result grows with the strength of the matched words and with the number of
concepts in the best skill's main fields, because a single word is weak evidence. The request counts as well:
instructions, technical words and words of the glossary are signs that a skill is wanted, statements and
general questions are signs of the opposite. The wording is a sign of either. The weights are fitted by
``bench fit``; see docs/reference/matching.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import exp, log, sqrt
from operator import mul
from typing import NamedTuple

from django.utils import timezone

from registry.core import search_terms
from registry.index.postings import Field
from registry.index.skill_rows import RankFields
from registry.matching import lexical
from registry.matching.explicit import TriggerHit
from registry.matching.sentences import SentenceForm
from registry.search.sql import MIN_CATALOG_SKILLS
from registry.usage import scores as usage

MIN_CONFIDENCE = 0.086  # if the best skill has less, the result is "none"
_FULL_WEIGHT = 2.2  # the highest possible weight of a word in a skill
_WHOLE_BONUS = 0.4  # for an ideal score in a small catalog, where no word is rare
_MAX_COUNTED_CONCEPTS = 4
_FULL_CATALOG, _SMALL_CATALOG, _EMPTY_CATALOG = 2_500, 120, 25  # skills; see ``_catalog_coverage``
_CONCEPT_BONUS = 500_000  # for each concept in the main fields; a rare word there has about 3,000,000
_NAME_BONUS = 1_250_000  # if the request has all words of the name
_PRIORITY_WEIGHT = 0.1  # the largest effect of the priority on a score


class Evidence(NamedTuple):
    """The measures that a confidence is computed from, or their weights."""

    strength: float  # of the matched words; a rare word in a main field has about 1
    concepts: float  # number in the best skill's main fields, up to ``_MAX_COUNTED_CONCEPTS``
    is_cjk: float  # 0 or 1, as the next ones
    is_keywords: float
    is_statement: float
    is_general_question: float
    is_everyday: float  # has a word of private life, and is neither an instruction nor technical
    is_instruction: float  # times the catalog's coverage, as the next ones
    is_technical: float
    glossary_concepts: float  # number, up to ``_MAX_COUNTED_CONCEPTS``
    wording: float  # above 0 for words of requests, below 0 for words of small talk


_BASE_LOG_ODDS = -3.45
_WEIGHTS = Evidence(
    strength=0.88,
    concepts=0.0,
    is_cjk=0.28,
    is_keywords=0.9,
    is_statement=-0.59,
    is_general_question=-0.5,
    is_everyday=-0.46,
    is_instruction=0.57,
    is_technical=0.73,
    glossary_concepts=0.2,
    wording=0.1,
)


@dataclass(frozen=True)
class RequestTraits:
    """The features of a request that do not depend on skills."""

    form: SentenceForm = SentenceForm.OTHER
    is_technical: bool = False
    is_everyday: bool = False
    glossary_concepts: int = 0
    wording: float = 0.0


class MatchTier(IntEnum):
    LEXICAL = 0
    EXPLICIT = 1


@dataclass(frozen=True)
class Candidate:
    """A recommendable skill whose ``paths`` condition is met, with its latest or pinned version's values."""

    row: RankFields
    paths: Sequence[str]
    priority: float


@dataclass(frozen=True)
class RankedCandidate:
    """A skill id with its tier and score. The smallest ``rank`` is the best."""

    skill: int
    tier: MatchTier
    score: float
    rank: tuple[float, ...]


def rank_candidates(
    hits: Iterable[TriggerHit],
    scores: lexical.LexicalScores,
    skills: Iterable[Candidate],
    *,
    traits: RequestTraits = RequestTraits(),
) -> list[RankedCandidate]:
    """The candidates sorted by tier, then by score with priority, then by usage."""
    best: dict[int, float] = {}
    for each in hits:
        best[each.skill] = max(each.score, best.get(each.skill, 0))
    skills = list(skills)
    fits = _fits(skills, scores)
    now = timezone.now()

    def rank(one: Candidate) -> tuple[float, ...]:
        key = one.row.key
        tier = MatchTier.EXPLICIT if key in best else MatchTier.LEXICAL
        factor = 1 + _PRIORITY_WEIGHT * (clamp_priority(one.priority) - 0.5)
        used = usage.score(one.row.usage_count, one.row.last_used_at, now)
        first = -round(best[key] * factor, 6) if key in best else 0.0
        return (-tier, first, -fits[key] * factor, -used, key)

    ordered = sorted((rank(one), one.row.key) for one in skills)
    lexical_keys = [key for _, key in ordered if key not in best]
    evidence = request_evidence(lexical_keys[0], fits, scores, traits) if lexical_keys else None
    return [
        RankedCandidate(key, MatchTier.LEXICAL, _confidence(fits[key], scores, evidence), place)
        if evidence and key not in best
        else RankedCandidate(key, MatchTier.EXPLICIT, best[key], place)
        for place, key in ordered
    ]


def _fits(skills: Sequence[Candidate], scores: lexical.LexicalScores) -> dict[int, float]:
    """How well each skill fits, by its id: the score of its words, plus the bonuses. Without words, 0."""
    coverage = scores.coverage([one.row.key for one in skills])
    return {
        one.row.key: words + _bonus(coverage[one.row.key], one.row.slug)
        if (words := scores.scores.get(one.row.key, 0))
        else 0.0
        for one in skills
    }


def _bonus(coverage: lexical.Coverage, slug: str) -> float:
    """The bonus for concepts in the skill's main fields, and for the share of its name in the request."""
    share = min(coverage.name_terms / (slug.count("-") + 1), 1)
    return _CONCEPT_BONUS * coverage.concepts + _NAME_BONUS * share


def request_evidence(
    best: int, fits: Mapping[int, float], scores: lexical.LexicalScores, traits: RequestTraits
) -> Evidence:
    """The evidence that the skill ``best`` fits the request. Other skills differ only in the strength, so
    that scores keep the order of the ranks.
    """
    parts = scores.parts({best})[best]
    found = {part.concept.start for part in parts if part.mask & lexical.MAIN_FIELDS}
    coverage = _catalog_coverage(scores.skills)
    is_cjk = any(search_terms.has_cjk(concept.text) for concept in scores.concepts)
    is_product = is_cjk and any(map(_is_latin_name, parts))  # products keep their names in Chinese sentences
    return Evidence(
        strength=_strength(fits[best], scores),
        concepts=min(len(found), _MAX_COUNTED_CONCEPTS),
        is_cjk=is_cjk,
        is_keywords=traits.form is SentenceForm.KEYWORDS,
        is_statement=traits.form is SentenceForm.STATEMENT,
        is_general_question=traits.form is SentenceForm.GENERAL_QUESTION,
        is_everyday=traits.is_everyday
        and not traits.is_technical
        and traits.form not in (SentenceForm.INSTRUCTION, SentenceForm.KEYWORDS),
        is_instruction=coverage * (traits.form is SentenceForm.INSTRUCTION),
        is_technical=coverage * (traits.is_technical or is_product),
        glossary_concepts=coverage * min(traits.glossary_concepts, _MAX_COUNTED_CONCEPTS),
        wording=traits.wording,
    )


def _is_latin_name(part: lexical.ScorePart) -> bool:
    return part.is_own and bool(part.mask & Field.NAME) and not search_terms.has_cjk(part.concept.text)


def _catalog_coverage(skills: int) -> float:
    """The weight, from 0 to 1, of signs that any skill is wanted: a large catalog has a skill for most
    requests, a small one for few.
    """
    size = min(max(skills, _SMALL_CATALOG), _FULL_CATALOG)
    return log(size / _EMPTY_CATALOG) / log(_FULL_CATALOG / _EMPTY_CATALOG)


def _confidence(fit: float, scores: lexical.LexicalScores, evidence: Evidence) -> float:
    """The probability, from 0 to 1, that a skill is the right one. ``evidence`` is that of the best skill."""
    if not fit:
        return 0.0
    measures = evidence._replace(strength=_strength(fit, scores))
    log_odds = _BASE_LOG_ODDS + sum(map(mul, _WEIGHTS, measures))
    return 1 / (1 + exp(-log_odds))


def _strength(fit: float, scores: lexical.LexicalScores) -> float:
    if not fit:
        return 0.0
    size = max(scores.skills, MIN_CATALOG_SKILLS)
    strength = (fit / 1e6) ** 2 / (_FULL_WEIGHT * log(1 + size))
    ideal = scores.ideal + _CONCEPT_BONUS * len(scores.concepts) + _NAME_BONUS
    return sqrt(strength + _WHOLE_BONUS * (fit / ideal) ** 4 * MIN_CATALOG_SKILLS / size)


def clamp_priority(priority: float) -> float:
    return min(max(priority, 0.0), 1.0)
