"""``bench ranking``: the most used of a million skills, by two indexes and by a full sort. See README.md."""

from __future__ import annotations

from bench import _scratch


def add_arguments(parser):
    parser.add_argument("--skills", type=int, default=1_000_000, help="rows of the scratch database")
    parser.add_argument("--rounds", type=int, default=200, help="repetitions of the reads")
    parser.add_argument("--database", default="", help="an empty PostgreSQL database instead of SQLite")


def measure(options, *, log=lambda line: None):
    arguments = {"skills": options["skills"], "rounds": options["rounds"]}
    found = _scratch.run("bench._ranking", arguments, database=options["database"], log=log)
    return {"bench": "ranking", **found}


def lines(document):
    yield f"{document['skills']} skills on {document['database']}"
    for row in document["rows"]:
        two, full = row["two_indexes"], row["full_sort"]
        yield f"  {row['reader']:<14} first {row['most']:<4} equal to the formula: {row['equal']}"
        yield f"    two indexes  p50 {two['p50']}, p95 {two['p95']} ms"
        yield f"      process    p50 {two['cpu_p50']}, p95 {two['cpu_p95']} ms"
        yield f"    full sort    p50 {full['p50']}, p95 {full['p95']} ms"
        ratio = row["ratio"]
        yield f"    ratio        {ratio['median']} ({ratio['least']} to {ratio['most']})"
