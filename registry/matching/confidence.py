"""From the weight of a skill's words to how likely it is the one that is meant."""

from __future__ import annotations

LEAST = 0.05  # below it the answer is "none"


def confidence(weight: int, best: int, ideal: int) -> float:
    return weight / ideal if ideal else 0.0
