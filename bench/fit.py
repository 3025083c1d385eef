"""``bench fit``: fits the weights of the confidence in ``registry.matching.ranking``, and its limit.

Uses only the read half. See README.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from math import exp
from operator import mul

from bench import _scratch
from bench._regression import fit_logistic

_SMALL_CATALOGS, _SMALL_SIZE = 3, 120
_WEIGHTS = {  # of an answer, by whether it is from a small catalog and its kind
    (False, "real"): 1.0,
    (False, "idle"): 2.0,
    (False, "chat"): 1.0,
    (True, "real"): 0.3,
    (True, "idle"): 0.6,
    (True, "chat"): 0.3,
    (True, "absent"): 0.02,  # another skill often fits these requests
}
# Goals: share of "none" of idle sentences, and of lost requests. Stricter than those for unread requests.
_MIN_IDLE, _MAX_LOST = 0.92, 0.007
_FOLDS = 10  # of the cross-validation that the limit is chosen by
_STEPS = 10_000  # of the search for the limit


@dataclass(frozen=True)
class Answer:
    """The evidence of a request's lexical results; None for explicit matches, empty without results."""

    kind: str
    place: int | None
    evidence: list[float] | None
    number: int  # of the request
    is_small: bool

    @property
    def counts(self):
        return bool(self.evidence) and (self.is_small, self.kind) in _WEIGHTS

    @property
    def weight(self):
        return _WEIGHTS[self.is_small, self.kind]


def add_arguments(parser):
    _scratch.add_arguments(parser)
    parser.add_argument("--chat", default="", help="folder of chatterbot-corpus with more idle sentences")


def measure(options, *, log=lambda line: None):
    from registry.matching.ranking import Evidence

    answers = _answers(_measured(options, 0, 0, log), is_small=False)
    for seed in range(1, _SMALL_CATALOGS + 1):
        answers += _answers(_measured(options, _SMALL_SIZE, seed, log), is_small=True)
    base, weights = _fit(answers)
    scores = _held_out_scores(answers)
    full = [not each.is_small for each in answers]
    limit = _limit(list(compress(answers, full)), list(compress(scores, full)))
    small = [each.is_small for each in answers]
    return {
        "base": round(base, 2),
        "weights": dict(zip(Evidence._fields, (round(each, 2) for each in weights), strict=True)),
        "limit": round(limit, 3),
        "full": _shares(list(compress(answers, full)), list(compress(scores, full)), limit),
        "small": _shares(list(compress(answers, small)), list(compress(scores, small)), limit),
    }


def _fit(answers):
    """The base and the weights of the measures."""
    counted = [each for each in answers if each.counts]
    base, *weights = fit_logistic(
        [each.evidence for each in counted],
        [each.kind == "real" for each in counted],
        [each.weight for each in counted],
    )
    return _calibrate(base, weights, [each for each in counted if not each.is_small])


def _held_out_scores(answers):
    """The score of each answer by weights that were fitted without its request."""
    scores = [0.0] * len(answers)
    for fold in range(_FOLDS):
        base, weights = _fit([each for each in answers if each.number % _FOLDS != fold])
        for place, each in enumerate(answers):
            if each.number % _FOLDS == fold:
                scores[place] = _score(each, base, weights)
    return scores


def _answers(rows, *, is_small):
    return [Answer(**row, number=number, is_small=is_small) for number, row in enumerate(rows)]


def _measured(options, skills, seed, log):
    files = {name: options[name] for name in ("corpus", "queries", "chat")}
    return _scratch.run("bench._evidence", {**files, "skills": skills, "seed": seed}, database="", log=log)


def _calibrate(base, weights, answers):
    """The weights scaled so that the score is the share of answers whose first result is right."""
    odds = [[base + sum(map(mul, weights, each.evidence))] for each in answers]
    shift, scale = fit_logistic(odds, [each.place == 1 for each in answers], [1.0] * len(answers))
    return shift + scale * base, [scale * each for each in weights]


def _score(answer, base, weights):
    if answer.evidence is None:
        return 1.0
    if not answer.evidence:
        return 0.0
    return 1 / (1 + exp(-base - sum(map(mul, weights, answer.evidence))))


def _limit(answers, scores):
    """The middle of the limits that meet both goals. If there are none, the lowest that meets the first."""
    enough = []
    for limit in (step / _STEPS for step in range(1, _STEPS)):
        shares = _shares(answers, scores, limit)
        if shares["idle"] >= _MIN_IDLE:
            enough.append((limit, shares["lost"] <= _MAX_LOST))
            if not enough[-1][1]:
                break
    good = [limit for limit, is_good in enough if is_good] or [enough[0][0]]
    return (good[0] + good[-1]) / 2


def _shares(answers, scores, limit):
    """The share of the answers ``none`` by kind, and of requests whose skill was found but not returned."""
    shares = {}
    for kind in sorted({each.kind for each in answers}):
        some = [score < limit for each, score in zip(answers, scores, strict=True) if each.kind == kind]
        shares[kind] = round(sum(some) / len(some), 4)
    real = [(each, score) for each, score in zip(answers, scores, strict=True) if each.place]
    shares["lost"] = round(sum(score < limit for _, score in real) / len(real), 4)
    return shares


def lines(document):
    yield f"_BASE_LOG_ODDS = {document['base']}"
    weights = ", ".join(f"{name}={value}" for name, value in document["weights"].items())
    yield f"_WEIGHTS = Evidence({weights})"
    yield f"MIN_CONFIDENCE = {document['limit']}"
    for name in ("full", "small"):
        yield f"{name:<6} none  " + ", ".join(f"{kind} {share:.3f}" for kind, share in document[name].items())
