"""``bench search``: times of search, facets and match in catalogs of growing size. See README.md."""

from __future__ import annotations

from bench import _scratch


def add_arguments(parser):
    _scratch.add_arguments(parser)
    parser.add_argument(
        "--skills", type=int, nargs="+", default=[1000, 10_000, 100_000], help="sizes of the catalog"
    )
    parser.add_argument("--rounds", type=int, default=3, help="repetitions of every query")
    parser.add_argument("--canonical", type=int, default=0, help="canonical skills of each size")
    parser.add_argument("--database", default="", help="an empty PostgreSQL database instead of SQLite")


def measure(options, *, log=lambda line: None):
    found = _scratch.measure_catalog(
        options,
        skills=sorted(options["skills"]),
        rounds=options["rounds"],
        answers=False,
        canonical=options["canonical"],
        log=log,
    )
    return {"bench": "search", "sizes": [_figures(raw) for raw in found]}


def _figures(raw):
    verbs = {
        verb: {reader: _spread(rounds) for reader, rounds in readers.items()}
        for verb, readers in raw["times"].items()
    }
    return {"skills": raw["skills"], "postings": raw["postings"], "verbs": verbs}


def _spread(rounds):
    """Percentiles over the queries. Uses the fastest round of each query, to exclude other load."""
    clock, worked = (
        [min(each[kind] for each in query) for query in zip(*rounds, strict=True)] for kind in (0, 1)
    )
    return {"latency_ms": _scratch.spread(clock), "cpu_ms": _scratch.spread(worked)}


def lines(document):
    for size in document["sizes"]:
        yield f"{size['skills']} skills, {size['postings']} postings"
        for verb, readers in size["verbs"].items():
            for reader, kinds in readers.items():
                figures = [
                    f"{kind} {at} {value}" for kind, found in kinds.items() for at, value in found.items()
                ]
                yield f"  {verb:<20}{reader:<16}" + ", ".join(figures)
