"""``bench health``: the cost of ``/-/ready`` and ``/metrics`` with many ended runs. See README.md."""

from __future__ import annotations

from bench import _scratch


def add_arguments(parser):
    parser.add_argument("--runs", type=int, default=100_000, help="ended runs of the scratch database")
    parser.add_argument("--rounds", type=int, default=200, help="repetitions")
    parser.add_argument("--database", default="", help="an empty PostgreSQL database instead of SQLite")


def measure(options, *, log=lambda line: None):
    arguments = {"runs": options["runs"], "rounds": options["rounds"]}
    found = _scratch.run("bench._health", arguments, database=options["database"], log=log)
    return {"bench": "health", **found}


def lines(document):
    yield f"{document['runs']} ended runs on {document['database']}"
    for row in document["rows"]:
        yield f"  {row['name']:<28} p50 {row['p50']}, p95 {row['p95']} ms; CPU p50 {row['cpu_p50']} ms"
    yield f"  adding all runs to the totals once: {document['move_s']} s"
