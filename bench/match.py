"""``bench match``: how often the expected skill is the first, or among the first 5 or 20. See README.md."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict

from bench import _scratch


def add_arguments(parser):
    _scratch.add_arguments(parser)
    parser.add_argument("--rounds", type=int, default=3, help="repetitions of every query")


def measure(options, *, log=lambda line: None):
    (found,) = _scratch.measure_catalog(options, skills=[], rounds=options["rounds"], answers=True, log=log)
    queries = _rows(options["queries"])
    places, pairs = [], defaultdict(list)
    for row, slugs in zip(queries, found["found"], strict=True):
        place = slugs.index(row["expected_slug"]) + 1 if row["expected_slug"] in slugs else None
        places.append(place)
        pairs[f"{row['lang']}-{row['target_lang']}"].append(place)
    return {
        "all": _quality(places),
        "by_pair": {pair: _quality(each) for pair, each in sorted(pairs.items())},
        "latency_ms": _scratch.spread(
            [clock for each in found["times"]["match"]["administrator"] for clock, _ in each]
        ),
        "skills": found["skills"],
        "queries": len(queries),
    }


def _quality(places):
    """Recall and mean reciprocal rank of ``places``: ranks from 1, or None for a skill that was not found."""
    among = {f"R@{most}": sum(place is not None and place <= most for place in places) for most in (1, 5, 20)}
    quality = {name: round(number / len(places), 4) for name, number in among.items()}
    return {**quality, "MRR": round(sum(1 / place for place in places if place) / len(places), 4)}


def _rows(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        return [json.loads(line) for line in file]


def lines(document):
    yield f"{document['queries']} requests among {document['skills']} skills"
    for name, quality in {"all": document["all"], **document["by_pair"]}.items():
        yield f"  {name:<6}" + ", ".join(f"{measure} {value:.2f}" for measure, value in quality.items())
    yield "  match " + ", ".join(f"{at} {value} ms" for at, value in document["latency_ms"].items())
