"""``bench fit``: fits the weights of the words of requests and small talk, then the weights of the confidence
in ``registry.matching.ranking``, and its limit.

Uses only the read half. See README.md.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import compress
from math import exp
from operator import mul
from pathlib import Path

from bench import _scratch, _wording
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
_WORDING_WEIGHTS = {"real": 1.0, "idle": 1.5, "chat": 1.0}  # of a text, when words are fitted
_MIN_IDLE = 0.902  # goal: share of "none" of idle sentences
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
    terms: tuple[str, ...] = ()  # of the request; see ``registry.matching.sentences.wording_terms``

    @property
    def counts(self):
        return bool(self.evidence) and (self.is_small, self.kind) in _WEIGHTS

    @property
    def weight(self):
        return _WEIGHTS[self.is_small, self.kind]


def add_arguments(parser):
    _scratch.add_arguments(parser)
    parser.add_argument("--chat", default="", help="folder of chatterbot-corpus with more idle sentences")
    parser.add_argument("--texts", default="", help="JSON Lines of requests without skills, and small talk")
    parser.add_argument("--wording", default="", help="file to write the weights of words to")


def measure(options, *, log=lambda line: None):
    from registry.matching.ranking import Evidence

    answers = _answers(_measured(options, 0, 0, log), is_small=False)
    for seed in range(1, _SMALL_CATALOGS + 1):
        answers += _answers(_measured(options, _SMALL_SIZE, seed, log), is_small=True)
    texts = _texts(options.get("texts"))
    if options.get("wording"):
        found = _fit_wording([each for each in answers if not each.is_small], texts)
        Path(options["wording"]).write_text("\n".join(_wording.lines(found)) + "\n", "utf-8")
    answers = _with_held_out_wording(answers, texts)
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


def _texts(path):
    """The terms and the kind of each text of the file, which has ``text`` and ``is_request``."""
    from registry.core.search_terms import text_tokens
    from registry.matching.sentences import wording_terms

    rows = map(json.loads, Path(path).read_text("utf-8").splitlines()) if path else ()
    return [
        (wording_terms(text_tokens(row["text"])), "real" if row["is_request"] else "idle") for row in rows
    ]


def _fit_wording(answers, texts):
    rows = [(each.terms, each.kind) for each in answers] + texts
    kinds = [kind for _, kind in rows]
    return _wording.fit_wording(
        [terms for terms, _ in rows],
        [kind == "real" for kind in kinds],
        [_WORDING_WEIGHTS[kind] for kind in kinds],
    )


def _with_held_out_wording(answers, texts):
    """The answers with the wording measured by words that were fitted without the answer's request."""
    from registry.matching.ranking import Evidence

    place, found = Evidence._fields.index("wording"), []
    for fold in range(_FOLDS):
        words = _fit_wording([e for e in answers if not e.is_small and e.number % _FOLDS != fold], texts)
        for each in answers:
            if each.number % _FOLDS == fold:
                evidence = each.evidence and list(each.evidence)
                if evidence:
                    evidence[place] = _wording.measure_wording(each.terms, words)
                found.append(replace(each, evidence=evidence))
    return sorted(found, key=lambda each: each.is_small)


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
    """The lowest limit that answers enough idle sentences ``none``, so that few requests are lost."""
    limits = (step / _STEPS for step in range(1, _STEPS))
    return next(limit for limit in limits if _shares(answers, scores, limit)["idle"] >= _MIN_IDLE)


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
