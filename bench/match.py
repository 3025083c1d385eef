"""``bench match``: how often the expected skill is among the first results, and how often there are no
results.

Reports separately the requests that were read while matching was developed, and those that were not. See
README.md.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from bench import _scratch
from registry.matching.ranking import MIN_CONFIDENCE

_SCORES = (0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.01)  # bounds of the confidence curve


def add_arguments(parser):
    _scratch.add_arguments(parser)
    parser.add_argument("--rounds", type=int, default=3, help="repetitions of every query")


def measure(options, *, log=lambda line: None):
    (found,) = _scratch.measure_catalog(options, skills=[], rounds=options["rounds"], answers=True, log=log)
    answers = [
        Answer(request, results if results and results[0][1] >= MIN_CONFIDENCE else [], results)
        for request, results in zip(_rows(options["queries"]), found["found"], strict=True)
    ]
    halves = {name: [each for each in answers if each.half == name] for name in ("read", "unread")}
    return {
        **_figures(answers),
        "halves": {name: _figures(some) for name, some in halves.items() if some},
        "latency_ms": _scratch.spread(
            [clock for each in found["times"]["match"]["administrator"] for clock, _ in each]
        ),
        "skills": found["skills"],
        "queries": len(answers),
    }


@dataclass(frozen=True)
class Answer:
    """A request with the slug and score of each result. ``expected_slug`` is "" if no skill fits."""

    request: dict[str, str]
    results: list[tuple[str, float]]  # empty for the answer "none"
    candidates: list[tuple[str, float]]  # the results if there were no limit

    @property
    def half(self):
        return self.request.get("half", "read")

    @property
    def pair(self):
        return f"{self.request['lang']}-{self.request['target_lang']}"

    @property
    def is_real(self):
        return bool(self.request["expected_slug"])

    @property
    def place(self):
        """The rank of the expected skill, from 1, or None if it was not found."""
        return self._place(self.results)

    @property
    def is_found(self):
        return self._place(self.candidates) is not None

    @property
    def is_lost(self):
        """Whether the answer is "none" although the expected skill is among the candidates."""
        return self.is_found and not self.results

    def _place(self, results):
        slugs = [slug for slug, _ in results]
        slug = self.request["expected_slug"]
        return slugs.index(slug) + 1 if slug in slugs else None


def _figures(answers):
    real, idle = (
        [each for each in answers if each.is_real],
        [each for each in answers if not each.is_real],
    )
    pairs, languages = defaultdict(list), defaultdict(list)
    for each in real:
        pairs[each.pair].append(each)
    for each in idle:
        languages[each.request["lang"]].append(each)
    none = {"real": _none(real), "lost": _lost(real), "idle": _none(idle)}
    none |= {f"idle-{language}": _none(some) for language, some in sorted(languages.items())}
    return {
        "all": _quality(real),
        "by_pair": {pair: _quality(some) for pair, some in sorted(pairs.items())},
        "none": {name: share for name, share in none.items() if share is not None},
        "sets": _sets(answers),
        "confidence": _confidence_curve(answers),
    }


def _quality(answers):
    """Recall and mean reciprocal rank of the expected skills."""
    size = max(len(answers), 1)
    places = [each.place for each in answers]
    among = {f"R@{most}": sum(place is not None and place <= most for place in places) for most in (1, 5, 20)}
    quality = {name: round(number / size, 4) for name, number in among.items()}
    mean = round(sum(1 / place for place in places if place) / size, 4)
    return {**quality, "MRR": mean, "queries": len(answers)}


def _none(answers):
    """The share of the answers without a result."""
    return round(sum(not each.results for each in answers) / len(answers), 4) if answers else None


def _lost(answers):
    """The share of "none" among the requests whose skill is found."""
    found = [each for each in answers if each.is_found]
    return round(sum(each.is_lost for each in found) / len(found), 4) if found else None


def _sets(answers):
    """The number of requests of each set, with R@1 and R@5, the share of "none", and that of lost ones."""
    sets = defaultdict(list)
    for each in answers:
        sets[each.request.get("split", "")].append(each)
    return {
        name: {
            "queries": len(some),
            **({name: _quality(some)[name] for name in ("R@1", "R@5")} if some[0].is_real else {}),
            "none": _none(some),
            "lost": _lost(some),
        }
        for name, some in sorted(sets.items())
    }


def _confidence_curve(answers):
    """How often the first result is right, by its score, as rows of lower bound, upper bound, answers and
    share.
    """
    rows = []
    for low, high in pairwise(_SCORES):
        some = [each for each in answers if each.results and low <= each.results[0][1] < high]
        if some:
            right = sum(each.place == 1 for each in some)
            rows.append({"from": low, "to": high, "answers": len(some), "right": round(right / len(some), 4)})
    return rows


def _rows(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        return [json.loads(line) for line in file]


def lines(document):
    yield f"{document['queries']} requests among {document['skills']} skills"
    for title, figures in {"all": document, **document["halves"]}.items():
        yield f"{title}:"
        for name, quality in {"all": figures["all"], **figures["by_pair"]}.items():
            yield f"  {name:<9}" + ", ".join(f"{measure} {value:g}" for measure, value in quality.items())
        yield "  none     " + ", ".join(f"{name} {value:.3f}" for name, value in figures["none"].items())
        for name, row in figures["sets"].items():
            yield f"  {name:<9}" + ", ".join(
                f"{key} {value:g}" for key, value in row.items() if value is not None
            )
        yield "  right    " + ", ".join(
            f"{row['from']:g} to {row['to']:g}: {row['right']:.2f} of {row['answers']}"
            for row in figures["confidence"]
        )
    yield "  match " + ", ".join(f"{at} {value} ms" for at, value in document["latency_ms"].items())
