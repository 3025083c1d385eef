"""Runs what measures a catalog in a site of its own, in a temporary folder: no other site is touched."""

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


def ask(options, *, skills, rounds, answers, say, canonical=0):
    """What the catalog answers at each size; ``skills`` [] for the corpus as it is."""
    for name in ("corpus", "queries"):
        if not Path(options[name]).is_file():
            raise RuntimeError(f"{options[name]} is not there: name a file with --{name}")
    files = {name: str(Path(options[name]).resolve()) for name in ("corpus", "queries")}
    asked = {**files, "skills": skills, "rounds": rounds, "answers": answers, "canonical": canonical}
    return run("bench._catalog", asked, database=options.get("database") or "", say=say)


def run(module, asked, *, database, say):
    """What the module prints, in a process with a site of its own."""
    say("filling the catalog; this takes some minutes where it is large")
    with tempfile.TemporaryDirectory(prefix="skillquay-bench-") as folder:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SKILLQUAY_")}
        environment |= {
            "SKILLQUAY_VAR": folder,
            "SKILLQUAY_LOG_LEVEL": "WARNING",
            "DJANGO_SETTINGS_MODULE": "portal.settings",
            "DATABASE_URL": database,
            "STORAGE_URL": "",
        }
        command = [sys.executable, "-m", module, json.dumps(asked)]
        ended = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=False)
    if ended.returncode:
        raise RuntimeError("the measurement failed")
    return json.loads(ended.stdout)


def spread(times):
    ordered = sorted(times)
    at = {"p50": 0.5, "p95": 0.95}
    return {
        name: round(ordered[min(len(ordered) - 1, int(len(ordered) * part))], 2) for name, part in at.items()
    }
