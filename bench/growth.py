"""``bench growth``: CPU time of every page and endpoint in a small and in a large catalog. See README.md."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from bench import _scratch

MAX_RATIO = 1.5
_MIN_MS = 2.0  # a shorter difference is noise


def add_arguments(parser):
    parser.add_argument("--skills", type=int, nargs=2, default=[100, 100_000], help="before and after")
    parser.add_argument("--runs", type=int, nargs=2, default=[1_000, 1_000_000], help="before and after")
    parser.add_argument("--rounds", type=int, default=5, help="requests per address; the fastest counts")
    parser.add_argument("--database", default="", help="an empty PostgreSQL database instead of SQLite")
    parser.add_argument("--only", default="", help="measure only addresses that this pattern matches")
    fill = "also fill the lists of the small site; needs at least 3,700 skills and 37,000 runs to fill all"
    parser.add_argument("--fill", action="store_true", help=fill)
    keep = "a folder: its SQLite sites are used again, or created and kept there"
    parser.add_argument("--keep", default="", help=keep)


def measure(options, *, log=lambda line: None):
    database, (small, large) = _measure_both(options, log)
    before = {(who, path): ms for who, path, ms, _ in small}
    rows = [
        {"who": who, "path": path, "small_ms": before[who, path], "large_ms": ms, "queries": queries}
        for who, path, ms, queries in large
        if (who, path) in before
    ]
    for row in rows:
        row["ratio"] = round(row["large_ms"] / row["small_ms"], 2)
    rows.sort(key=lambda row: -row["ratio"])
    sizes = f"{options['skills']} skills, {options['runs']} runs"
    grown = len([row for row in rows if _grows(row)])
    found = {"database": database, "sizes": sizes, "rows": rows}
    return {"bench": "growth", **found, "max_ratio": MAX_RATIO, "grown": grown}


def _measure_both(options, log):
    """The database's name, and the figures at both sizes: of one site that grows, or of two kept sites."""
    common = {name: options[name] for name in ("rounds", "only", "fill")}
    if not options["keep"]:
        both = common | {"skills": options["skills"], "runs": options["runs"]}
        found = _scratch.run("bench._growth", both, database=options["database"], log=log)
        return found["database"], found["measured"]
    log("creating or opening both sites; this takes some minutes where one is large")
    with ExitStack() as stack:
        asks = []
        for skills, runs in zip(options["skills"], options["runs"], strict=True):
            name = f"{skills}-{runs}" + ("-filled" if options["fill"] else "")
            folder = Path(options["keep"]).resolve() / name
            folder.mkdir(parents=True, exist_ok=True)
            one = common | {"skills": [skills], "runs": [runs], "in_turn": True}
            asks.append(stack.enter_context(_scratch.asked("bench._growth", one, folder=folder)))
        return "sqlite", _measure_in_turn(asks, options["rounds"])


def _measure_in_turn(asks, rounds):
    """The figures of both sites. Each request goes to one right after the other, so that other work on the
    machine slows down both.
    """
    addresses = [ask(None) for ask in asks]
    measured = [[], []]
    for number, (who, path) in enumerate(addresses[1]):
        costs = [[ask(number) for ask in asks] for _ in range(rounds + 1)][1:]  # the first one warms up
        if all(cost is not None for both in costs for cost in both):
            for found, both in zip(measured, zip(*costs, strict=True), strict=True):
                found.append((who, path, min(ms for ms, _ in both), both[-1][1]))
    return measured


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
