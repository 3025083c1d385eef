"""Estimates the probability that a skill is the right one from the weight of its matched words.

The probability is a saturating curve of the strength of the matched words. A bonus grows with the share of
the request that they cover: a single common word is weak evidence, but clear if it is all of the request. The
constants were fitted on 238 requests among 2,491 skills and 43 utterances without a matching skill; see
docs/reference/matching.md.
"""

from math import log

from registry.matching.lexical import LexicalScores
from registry.search.sql import MIN_CATALOG_SKILLS

MIN_CONFIDENCE = 0.1  # if the best skill has less, the result is "none"
_FULL_WEIGHT = 2.2  # the highest possible weight of a word in a skill
_EVEN_STRENGTH = 3.5  # the strength that gives a probability of 0.5
_WHOLE_BONUS = 0.4  # added to the strength of a skill with an ideal score


def confidence(weight: int, scores: LexicalScores) -> float:
    """The probability, from 0 to 1, that a skill with this lexical score is the right one."""
    if not weight:
        return 0.0
    strength = (weight / 1e6) ** 2 / (_FULL_WEIGHT * log(1 + max(scores.skills, MIN_CATALOG_SKILLS)))
    strength += _WHOLE_BONUS * (weight / scores.ideal) ** 4
    return strength / (strength + _EVEN_STRENGTH)
