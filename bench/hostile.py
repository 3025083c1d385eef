"""``bench hostile``: times of one team's work while another team's run is hostile. See README.md."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile

from bench import _scratch
from bench.follow import _environment

_SLOTS = 3


def add_arguments(parser):
    parser.add_argument("--times", type=int, default=5, help="measurements of each kind")
    parser.add_argument("--database", default="", help="postgres://… of an empty database; default: SQLite")


def measure(options, *, log=lambda line: None):
    log("starting a site")
    with tempfile.TemporaryDirectory(prefix="skillquay-bench-") as folder:
        command = [sys.executable, "-m", "bench._hostile", json.dumps({"times": options["times"]})]
        around = _environment(folder, options["database"], _SLOTS)
        ended = subprocess.run(command, cwd=_scratch.ROOT, env=around, stdout=subprocess.PIPE, check=False)
    if ended.returncode:
        raise RuntimeError("the measurement failed")
    return {"bench": "hostile", **json.loads(ended.stdout)}


def lines(document):
    alone = document["alone_ms"]
    yield "median ms of another team, and its ratio beside one hostile run"
    yield f"  {'alone':<10}" + "".join(f"  {name} {ms:7.0f}       " for name, ms in alone.items())
    for row in document["rows"]:
        figures = (f"  {name} {row['ms'][name]:7.0f} ({row['ratio'][name]:4.1f})" for name in alone)
        yield f"  {row['kind']:<10}" + "".join(figures) + f"  ended: {row['ended']}"
    yield f"5xx: {document['server_errors']}; least free disk {document['min_free_share']:.3f} of before"
