"""``bench render``: CPU time and memory of all pages built from hostile content. See README.md."""

from __future__ import annotations

from bench import _scratch


def add_arguments(parser):
    parser.add_argument("--kinds", nargs="*", default=[], help="kinds of content; default: all")
    parser.add_argument("--worst", type=int, default=10, help="number of pages to list")


def measure(options, *, log=lambda line: None):
    log("publishing hostile packages and asking for each of their pages; this takes some minutes")
    rows = _scratch.run("bench._render", {"kinds": options["kinds"]}, database="", log=lambda line: None)
    worst = {
        name: sorted(rows, key=lambda row: -row[name])[: options["worst"]] for name in ("cpu_ms", "memory_mb")
    }
    return {
        "bench": "render",
        "pages": len(rows),
        "kinds": len({row["kind"] for row in rows}),
        "worst": worst,
    }


def lines(document):
    yield f"{document['pages']} pages of {document['kinds']} kinds of content"
    for name, rows in document["worst"].items():
        yield f"by {name}"
        for row in rows:
            yield f"  {row['cpu_ms']:6.0f} ms {row['memory_mb']:5.1f} MB  {row['kind']:<28}{row['path']}"
