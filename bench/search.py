"""``bench search``: how long search, facets and match take in catalogs of growing size. See README.md."""

from __future__ import annotations

from bench import _scratch


def add_arguments(parser):
    _scratch.add_arguments(parser)
    parser.add_argument(
        "--skills", type=int, nargs="+", default=[1000, 10_000, 100_000], help="sizes of the catalog"
    )
    parser.add_argument("--rounds", type=int, default=3, help="times that every query is asked")
    parser.add_argument("--database", default="", help="an empty PostgreSQL database instead of SQLite")


def measure(options, *, say=lambda line: None):
    found = _scratch.ask(
        options, skills=sorted(options["skills"]), rounds=options["rounds"], answers=False, say=say
    )
    return {"bench": "search", "sizes": [_figures(raw) for raw in found]}


def _figures(raw):
    verbs = {}
    for name, rounds in raw["times"].items():
        clock, worked = zip(*(pair for each in rounds for pair in each), strict=True)
        verbs[name] = {"latency_ms": _scratch.spread(clock), "cpu_ms": _scratch.spread(worked)}
    return {"skills": raw["skills"], "postings": raw["postings"], "verbs": verbs}


def lines(document):
    for size in document["sizes"]:
        yield f"{size['skills']} skills, {size['postings']} postings"
        for verb, kinds in size["verbs"].items():
            for kind, figures in kinds.items():
                yield f"  {verb:<20}{kind:<12}" + ", ".join(f"{at} {value}" for at, value in figures.items())
