"""Logistic regression for a few measures, by Newton's method."""

from __future__ import annotations

from math import exp

_STEPS, _PRECISION = 30, 1e-6
_PENALTY = 1.0  # of the squared weights of standardized measures


def fit_logistic(rows, labels, weights):
    """The intercept and the weight of each measure. ``weights``: of each row."""
    size, total = len(rows[0]), sum(weights)
    means = [sum(w * row[at] for row, w in zip(rows, weights, strict=True)) / total for at in range(size)]
    spreads = [
        max(sum(w * (row[at] - mean) ** 2 for row, w in zip(rows, weights, strict=True)) / total, 1e-9) ** 0.5
        for at, mean in enumerate(means)
    ]
    scaled = [
        [1.0] + [(value - mean) / spread for value, mean, spread in zip(row, means, spreads, strict=True)]
        for row in rows
    ]
    fitted = [0.0] * (size + 1)
    for _ in range(_STEPS):
        steps = _solve(*reversed(_derivatives(scaled, labels, weights, fitted)))
        fitted = [old + step for old, step in zip(fitted, steps, strict=True)]
        if max(map(abs, steps)) < _PRECISION:
            break
    raw = [weight / spread for weight, spread in zip(fitted[1:], spreads, strict=True)]
    return [fitted[0] - sum(each * mean for each, mean in zip(raw, means, strict=True)), *raw]


def _derivatives(rows, labels, weights, fitted):
    """The gradient and the negative second derivative of the penalized likelihood."""
    size = len(fitted)
    gradient = [0.0] + [-_PENALTY * each for each in fitted[1:]]
    curvature = [[_PENALTY * (one == two > 0) for one in range(size)] for two in range(size)]
    for row, label, weight in zip(rows, labels, weights, strict=True):
        odds = sum(value * each for value, each in zip(row, fitted, strict=True))
        share = 1 / (1 + exp(-max(min(odds, 30), -30)))
        for one, value in enumerate(row):
            gradient[one] += weight * (label - share) * value
            for two in range(one + 1):
                curvature[one][two] += weight * share * (1 - share) * value * row[two]
    for one in range(size):
        for two in range(one):
            curvature[two][one] = curvature[one][two]
    return gradient, curvature


def _solve(matrix, values):
    """The solution of a system of linear equations, by elimination."""
    rows = [[*row, value] for row, value in zip(matrix, values, strict=True)]
    for at in range(len(rows)):
        pivot = max(range(at, len(rows)), key=lambda row: abs(rows[row][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        for other in range(len(rows)):
            if other != at:
                factor = rows[other][at] / rows[at][at]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[at], strict=True)]
    return [row[-1] / row[at] for at, row in enumerate(rows)]
