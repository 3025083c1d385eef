"""From the weight of a skill's words to how likely it is the one that is meant."""

from __future__ import annotations

from registry.matching.lexical import Scores

LEAST = 0.05  # below it the answer is "none"


class Confidence:
    def __init__(self, scores: Scores) -> None:
        self._scores = scores

    def of(self, skill: int) -> float:
        weight, ideal = self._scores.scores.get(skill, 0), self._scores.ideal
        return weight / ideal if ideal else 0.0
