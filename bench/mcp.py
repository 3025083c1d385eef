"""``bench mcp``: latency of the MCP tools ``skills_list`` and ``skills_load``. See README.md."""

from __future__ import annotations

from bench import _scratch


def add_arguments(parser):
    parser.add_argument("--skills", type=int, default=10_000, help="skills in the catalog")
    parser.add_argument("--rounds", type=int, default=100, help="calls of each tool by each caller")
    parser.add_argument("--database", default="", help="postgres://… of an empty database; default: SQLite")


def measure(options, *, log=lambda line: None):
    arguments = {"skills": options["skills"], "rounds": options["rounds"]}
    found = _scratch.run("bench._mcp", arguments, database=options["database"], log=log)
    rows = [
        {"caller": caller, "call": call, **_scratch.spread(times)}
        for caller, calls in found["times"].items()
        for call, times in calls.items()
    ]
    return {"bench": "mcp", "database": found["database"], "skills": found["skills"], "rows": rows}


def lines(document):
    yield f"{document['database']}, {document['skills']:,} skills; milliseconds in Django"
    yield f"{'call':32}{'caller':12}{'p50':>8}{'p95':>8}"
    for row in document["rows"]:
        yield f"{row['call']:32}{row['caller']:12}{row['p50']:>8.1f}{row['p95']:>8.1f}"
