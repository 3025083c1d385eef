"""Fits the weights of words that distinguish requests from small talk, by logistic regression.

Stochastic gradient descent with a step for each weight (Adagrad), because Newton's method is too slow for
thousands of weights. The result is the same for each run.
"""

from __future__ import annotations

from collections import Counter
from math import exp, sqrt
from random import Random

_MIN_TEXTS = 3  # with a term
_ROUNDS, _STEP = 10, 0.5
_PENALTY = 0.1  # of the squared weights, over all texts
_SCALE = 2  # of the rounded weights


def fit_wording(texts, labels, weights):
    """The weight of each term as an integer other than 0. ``texts``: the terms of each text. ``labels``:
    whether the text is a request. ``weights``: of each text.
    """
    counts = Counter(term for terms in texts for term in terms)
    known = {term for term, number in counts.items() if number >= _MIN_TEXTS}
    rows = [
        ([term for term in terms if term in known], 1 / sqrt(len(terms) or 1), label, weight)
        for terms, label, weight in zip(texts, labels, weights, strict=True)
    ]
    fitted, past = dict.fromkeys(known, 0.0), dict.fromkeys(known, 1e-8)
    base, past_base, penalty, dice = 0.0, 1e-8, _PENALTY / len(rows), Random(7)
    for _ in range(_ROUNDS):
        dice.shuffle(rows)
        for terms, share, label, weight in rows:
            odds = base + share * sum(fitted[term] for term in terms)
            slope = weight * (1 / (1 + exp(-max(min(odds, 30), -30))) - label)
            past_base += slope * slope
            base -= _STEP * slope / sqrt(past_base)
            for term in terms:
                step = slope * share + penalty * fitted[term]
                past[term] += step * step
                fitted[term] -= _STEP * step / sqrt(past[term])
    rounded = {term: round(_SCALE * fitted[term]) for term in sorted(known)}
    return {term: weight for term, weight in rounded.items() if weight}


def measure_wording(terms, fitted):
    """As ``registry.matching.sentences.wording`` with these weights."""
    return sum(fitted.get(term, 0) for term in terms) / sqrt(len(terms) or 1)


def lines(fitted):
    """The weights as lines of the file that matching reads."""
    yield "# Words of requests (above 0) and of small talk (below 0), as written by `manage.py bench fit`"
    yield from (f"{term} {weight}" for term, weight in fitted.items())
