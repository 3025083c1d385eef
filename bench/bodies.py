"""``bench bodies``: sign-ins and uploads while anonymous clients hold memory and disk. See README.md."""

from __future__ import annotations

from bench import _scratch


def add_arguments(parser):
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--uploads", type=int, default=7, help="uploads of 50 MB by an account")


def measure(options, *, log=lambda line: None):
    """Measures a separate site on SQLite with one web process, started by ``manage.py up``."""
    arguments = {name: options[name] for name in ("connections", "seconds", "uploads")}
    found = _scratch.run("bench._bodies", arguments, database="", log=lambda line: log("starting a site"))
    return {"bench": "bodies", **arguments, **found}


def lines(document):
    held = document["held_mb"]
    yield f"{document['connections']} anonymous connections hold at most {held['most']} MB"
    yield f"  memory {held['memory']} MB, disk {held['disk']} MB; responses {document['responses']}"
    for name, times in document["sign_in_ms"].items():
        yield f"  sign-in {name:<8} p50 {times['p50']:.0f} ms, p95 {times['p95']:.0f} ms"
    yield f"  upload by an account: {document['upload_mb_per_s']} MB/s (median)"
