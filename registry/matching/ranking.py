"""The ranking of a match: explicit triggers first, then text relevance, priority and usage.

The confidence grows with the strength of the matched words, and approaches 1. A bonus grows with the share of
the request that they cover: a single common word is weak evidence, unless it is the whole request. The
constants were fitted on 238 requests among 2,491 skills and 43 utterances without a matching skill; see
docs/reference/matching.md.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import log

from django.utils import timezone

from registry.index.skill_rows import RankFields
from registry.matching import lexical
from registry.matching.explicit import TriggerHit
from registry.search.sql import MIN_CATALOG_SKILLS
from registry.usage import scores as usage

MIN_CONFIDENCE = 0.1  # if the best skill has less, the result is "none"
_FULL_WEIGHT = 2.2  # the highest possible weight of a word in a skill
_EVEN_STRENGTH = 3.5  # the strength at which the confidence is 0.5
_WHOLE_BONUS = 0.4  # added to the strength of a skill with an ideal score
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
    hits: Iterable[TriggerHit], scores: lexical.LexicalScores, skills: Iterable[Candidate]
) -> list[RankedCandidate]:
    """The candidates sorted by tier, then by score with priority, then by usage."""
    best: dict[int, float] = {}
    for each in hits:
        best[each.skill] = max(each.score, best.get(each.skill, 0))
    now = timezone.now()

    def candidate(one: Candidate) -> RankedCandidate:
        key = one.row.key
        weight = scores.scores.get(key, 0)
        score = best[key] if key in best else confidence(weight, scores)
        tier = MatchTier.EXPLICIT if key in best else MatchTier.LEXICAL
        factor = 1 + _PRIORITY_WEIGHT * (clamp_priority(one.priority) - 0.5)
        used = usage.score(one.row.usage_count, one.row.last_used_at, now)
        first = -round(best[key] * factor, 6) if key in best else 0.0
        return RankedCandidate(key, tier, score, (-tier, first, -weight * factor, -used, key))

    return sorted((candidate(one) for one in skills), key=lambda each: each.rank)


def confidence(weight: int, scores: lexical.LexicalScores) -> float:
    """The probability, from 0 to 1, that a skill with this score (an entry of ``scores.scores``) is the right
    one.
    """
    if not weight:
        return 0.0
    strength = (weight / 1e6) ** 2 / (_FULL_WEIGHT * log(1 + max(scores.skills, MIN_CATALOG_SKILLS)))
    strength += _WHOLE_BONUS * (weight / scores.ideal) ** 4
    return strength / (strength + _EVEN_STRENGTH)


def clamp_priority(priority: float) -> float:
    return min(max(priority, 0.0), 1.0)
