"""``bench search``: how long a search takes in a catalog of 2,500 and of 10,000 skills. See README.md."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EVAL = ROOT.parent / "shared" / "eval"


def add_arguments(parser):
    parser.add_argument("--corpus", default=str(EVAL / "corpus.jsonl.gz"), help="skills, one JSON a line")
    parser.add_argument("--queries", default=str(EVAL / "queries_dev.jsonl"), help="queries, one JSON a line")
    parser.add_argument("--skills", type=int, nargs="+", default=[2500, 10_000], help="sizes of the catalog")
    parser.add_argument("--rounds", type=int, default=3, help="times that every query is asked")


def measure(options, *, say=lambda line: None):
    """In a site of its own, in a temporary folder: this site's database is not touched."""
    for name in ("corpus", "queries"):
        if not Path(options[name]).is_file():
            raise RuntimeError(f"{options[name]} is not there: name a file with --{name}")
    say("filling the catalog; this takes some minutes")
    with tempfile.TemporaryDirectory(prefix="skillquay-bench-") as folder:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SKILLQUAY_")}
        environment |= {
            "SKILLQUAY_VAR": folder,
            "SKILLQUAY_LOG_LEVEL": "WARNING",
            "DJANGO_SETTINGS_MODULE": "portal.settings",
            "DATABASE_URL": "",
            "STORAGE_URL": "",
        }
        asked = json.dumps({key: options[key] for key in ("corpus", "queries", "skills", "rounds")})
        command = [sys.executable, "-m", "bench._catalog", asked]
        ended = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=False)
    if ended.returncode:
        raise RuntimeError("the measurement failed")
    return {"bench": "search", "sizes": [_figures(raw) for raw in json.loads(ended.stdout)]}


def _figures(raw):
    clock, worked = zip(*raw.pop("times"), strict=True)
    return {**raw, "searches": len(clock), "latency_ms": _spread(clock), "cpu_ms": _spread(worked)}


def _spread(times):
    ordered = sorted(times)
    at = {"p50": 0.5, "p95": 0.95, "most": 1}
    return {
        name: round(ordered[min(len(ordered) - 1, int(len(ordered) * part))], 1) for name, part in at.items()
    }


def lines(document):
    for size in document["sizes"]:
        yield f"{size['skills']} skills, {size['postings']} postings, {size['searches']} searches"
        for name in ("latency_ms", "cpu_ms"):
            yield f"  {name:<12}" + ", ".join(f"{at} {value}" for at, value in size[name].items())
