"""The ranking of a match: explicit triggers first, then text relevance, priority and usage.

The confidence of a lexical result grows with the strength of the matched words. It also grows with the
number of concepts in the best skill's main fields, because a single word is weak evidence. It is higher for
keywords and for Chinese requests, because translations weigh less than a skill's own words. It is lower for
statements and general questions.

The constants were fitted on 347 requests among 2,491 skills and 150 sentences without a matching skill; see
docs/reference/matching.md.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import exp, log, sqrt

from django.utils import timezone

from registry.core import search_terms
from registry.index.postings import Field
from registry.index.skill_rows import RankFields
from registry.matching import lexical
from registry.matching.explicit import TriggerHit
from registry.matching.sentences import SentenceForm
from registry.search.sql import MIN_CATALOG_SKILLS
from registry.usage import scores as usage

MIN_CONFIDENCE = 0.139  # if the best skill has less, the result is "none"
_FULL_WEIGHT = 2.2  # the highest possible weight of a word in a skill
_WHOLE_BONUS = 0.4  # for an ideal score in a small catalog, where no word is rare
_BASE_EVIDENCE = -4.04  # log odds without any match
_STRENGTH_EVIDENCE = 2.02  # of a rare word in a main field
_CONCEPT_EVIDENCE = 0.15  # of each concept in the best skill's main fields, up to the maximum
_MAX_COUNTED_CONCEPTS = 4
_CJK_EVIDENCE = 0.7
_FORM_EVIDENCE = {
    SentenceForm.KEYWORDS: 1.6,
    SentenceForm.STATEMENT: -0.23,
    SentenceForm.GENERAL_QUESTION: -0.6,
    SentenceForm.OTHER: 0.0,
}
_MAIN_FIELDS = int(Field.NAME | Field.KEYWORDS | Field.TAGS | Field.DESCRIPTION)
_PRIORITY_WEIGHT = 0.1  # the largest effect of the priority on a score


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
    form: SentenceForm = SentenceForm.OTHER,
) -> list[RankedCandidate]:
    """The candidates sorted by tier, then by score with priority, then by usage."""
    best: dict[int, float] = {}
    for each in hits:
        best[each.skill] = max(each.score, best.get(each.skill, 0))
    now = timezone.now()

    def rank(one: Candidate) -> tuple[float, ...]:
        key = one.row.key
        tier = MatchTier.EXPLICIT if key in best else MatchTier.LEXICAL
        factor = 1 + _PRIORITY_WEIGHT * (clamp_priority(one.priority) - 0.5)
        used = usage.score(one.row.usage_count, one.row.last_used_at, now)
        first = -round(best[key] * factor, 6) if key in best else 0.0
        return (-tier, first, -scores.scores.get(key, 0) * factor, -used, key)

    ordered = sorted((rank(one), one.row.key) for one in skills)
    lexical_keys = [key for _, key in ordered if key not in best]
    evidence = _request_evidence(lexical_keys[0], scores, form) if lexical_keys else 0.0
    return [
        RankedCandidate(key, MatchTier.EXPLICIT, best[key], place)
        if key in best
        else RankedCandidate(key, MatchTier.LEXICAL, _confidence(key, scores, evidence), place)
        for place, key in ordered
    ]


def _request_evidence(best: int, scores: lexical.LexicalScores, form: SentenceForm) -> float:
    """The evidence that any skill fits the request, judged by its best skill. All skills get the same value,
    so their scores keep the order of the ranks.
    """
    parts = scores.parts({best})[best]
    found = {part.concept.start for part in parts if part.mask & _MAIN_FIELDS}
    is_cjk = any(search_terms.has_cjk(concept.text) for concept in scores.concepts)
    evidence = _CONCEPT_EVIDENCE * min(len(found), _MAX_COUNTED_CONCEPTS) + _CJK_EVIDENCE * is_cjk
    return evidence + _FORM_EVIDENCE[form]


def _confidence(skill: int, scores: lexical.LexicalScores, evidence: float) -> float:
    """The probability, from 0 to 1, that the skill is the right one. ``evidence`` is the result of
    ``_request_evidence``.
    """
    weight = scores.scores.get(skill, 0)
    if not weight:
        return 0.0
    size = max(scores.skills, MIN_CATALOG_SKILLS)
    strength = (weight / 1e6) ** 2 / (_FULL_WEIGHT * log(1 + size))
    strength += _WHOLE_BONUS * (weight / scores.ideal) ** 4 * MIN_CATALOG_SKILLS / size
    return 1 / (1 + exp(-(_BASE_EVIDENCE + _STRENGTH_EVIDENCE * sqrt(strength) + evidence)))


def clamp_priority(priority: float) -> float:
    return min(max(priority, 0.0), 1.0)
