"""``bench growth``: CPU time of every page and endpoint in a small and in a large catalog. See README.md."""

from __future__ import annotations

from bench import _scratch

MAX_RATIO = 1.5
_MIN_MS = 2.0  # a shorter difference is noise


def add_arguments(parser):
    parser.add_argument("--skills", type=int, nargs=2, default=[100, 100_000], help="before and after")
    parser.add_argument("--runs", type=int, nargs=2, default=[1_000, 1_000_000], help="before and after")
    parser.add_argument("--rounds", type=int, default=5, help="requests per address; the fastest counts")
    parser.add_argument("--database", default="", help="an empty PostgreSQL database instead of SQLite")
    parser.add_argument("--only", default="", help="measure only addresses that contain this text")


def measure(options, *, log=lambda line: None):
    arguments = {name: options[name] for name in ("skills", "runs", "rounds", "only")}
    found = _scratch.run("bench._growth", arguments, database=options["database"], log=log)
    for row in found["rows"]:
        row["ratio"] = round(row["large_ms"] / row["small_ms"], 2)
    found["rows"].sort(key=lambda row: -row["ratio"])
    grown = [row for row in found["rows"] if _grows(row)]
    return {"bench": "growth", **found, "max_ratio": MAX_RATIO, "grown": len(grown)}


def _grows(row):
    return row["ratio"] > MAX_RATIO and row["large_ms"] - row["small_ms"] > _MIN_MS


def lines(document):
    yield f"{len(document['rows'])} addresses on {document['database']}: {document['sizes']}"
    for row in document["rows"]:
        mark = " !" if _grows(row) else ""
        yield (
            f"  {row['ratio']:5.2f} {row['small_ms']:7.1f} -> {row['large_ms']:7.1f} ms, "
            f"{row['queries']} queries  {row['who']} {row['path']}{mark}"
        )
    yield f"{document['grown']} above {document['max_ratio']}"
