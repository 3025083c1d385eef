"""From the weight of a skill's words to how likely it is the one that is meant.

A logistic curve over the logarithm of how strong the words are that were found, with something added where
they are all that was asked: one common word is a weak request, but a plain one. Fitted on 238 requests among
2,491 skills and 43 utterances that ask for nothing; see docs/search.md.
"""

from __future__ import annotations

from math import log

from registry.matching.lexical import Scores
from registry.retrieval import LEAST_SKILLS

LEAST = 0.1  # the best skill below it makes the answer "none"
_FULL = 2.2  # the weight of a word that a skill is all about
_EVEN = 3.5  # the strength of words at which the skill is as likely the right one as not
_WHOLE = 0.4  # what is added to that of a skill that is all about what was asked


def confidence(weight: int, scores: Scores) -> float:
    """0 to 1, for a skill whose words weigh so much."""
    if not weight:
        return 0.0
    strength = (weight / 1e6) ** 2 / (_FULL * log(1 + max(scores.skills, LEAST_SKILLS)))
    strength += _WHOLE * (weight / scores.ideal) ** 4
    return strength / (strength + _EVEN)
