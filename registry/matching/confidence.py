"""From the weight of a skill's words to how likely it is the one that is meant.

A logistic curve over how strong the words are that were found, and what part they are of all that was asked.
Fitted on 151 labelled requests among 2,491 skills and 44 utterances that ask for nothing, made a little
flatter when neighbouring words were added; see docs/search.md.
"""

from __future__ import annotations

from math import exp, log

from registry.matching.lexical import Scores
from registry.retrieval import LEAST_SKILLS

LEAST = 0.1  # the best skill below it makes the answer "none"
_NOTHING, _STRENGTH, _PART = -3.25, 3.3, 0.5
_FULL = 2.2  # the weight of a word that a skill is all about


def confidence(weight: int, scores: Scores) -> float:
    """0 to 1, for a skill whose words weigh so much."""
    if not weight:
        return 0.0
    strength = weight / 1e6 / (_FULL * log(1 + max(scores.skills, LEAST_SKILLS)))
    return 1 / (1 + exp(-(_NOTHING + _STRENGTH * strength + _PART * weight / scores.ideal)))
