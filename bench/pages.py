"""``bench pages``: queries, bytes, CPU time and first paint of every page of a large site. See README.md."""

from __future__ import annotations

from bench import _scratch

MAX_QUERIES, MAX_KB, MAX_PAINT_MS = 8, 60, 500


def add_arguments(parser):
    parser.add_argument("--skills", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5, help="loads per page in chromium; 0: no browser")


def measure(options, *, log=lambda line: None):
    arguments = {name: options[name] for name in ("skills", "runs", "rounds")}
    rows = _scratch.run("bench._pages", arguments, database="", log=log)
    return {
        "bench": "pages",
        **arguments,
        "pages": rows,
        "above": [row["path"] for row in rows if _is_above(row)],
    }


def _is_above(row):
    slow = row["paint_ms"] is not None and row["paint_ms"] > MAX_PAINT_MS
    return row["queries"] > MAX_QUERIES or row["kb"] > MAX_KB or slow


def lines(document):
    yield f"{'queries':>7} {'kB':>6} {'CPU ms':>7} {'paint ms':>8}  page"
    for row in document["pages"]:
        painted = "" if row["paint_ms"] is None else row["paint_ms"]
        mark = " !" if _is_above(row) else ""
        yield f"{row['queries']:7} {row['kb']:6.1f} {row['cpu_ms']:7} {painted:>8}  {row['path']}{mark}"
    yield (
        f"{len(document['pages'])} pages at {document['skills']} skills and {document['runs']} runs; "
        f"{len(document['above'])} above {MAX_QUERIES} queries, {MAX_KB} kB or {MAX_PAINT_MS} ms"
    )
