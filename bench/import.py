"""``bench import``: a first and a repeated import of many skills, compared with raw I/O. See README.md."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
_TIMED = ("first", "again", "raw")
CORPUS = ROOT.parent / "shared" / "eval" / "corpus.jsonl.gz"


def add_arguments(parser):
    parser.add_argument("--skills", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--corpus", default=str(CORPUS), help="JSON Lines of skills; random if missing")


def measure(options, *, log=lambda line: None):
    """Runs each round in its own site in a temporary folder; does not use this site's database."""
    rounds = []
    for number in range(options["rounds"]):
        log(f"round {number + 1} of {options['rounds']}: {options['skills']} skills")
        rounds.append(_round(options))
    return {
        "bench": "import",
        "skills": options["skills"],
        "seconds": {name: _spread([one["times"][name][0] for one in rounds]) for name in _TIMED},
        "cpu_seconds": {name: _spread([one["times"][name][1] for one in rounds]) for name in _TIMED},
        "of_raw": {
            name: _spread([one["times"][name][0] / one["times"]["raw"][0] for one in rounds])
            for name in ("first", "again")
        },
        "bytes": rounds[0]["bytes"],
        "files": rounds[0]["files"],
    }


def _round(options):
    with tempfile.TemporaryDirectory(prefix="skillquay-bench-") as folder:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SKILLQUAY_")}
        environment |= {
            "SKILLQUAY_VAR": str(Path(folder, "var")),
            "SKILLQUAY_LOG_LEVEL": "WARNING",
            "DJANGO_SETTINGS_MODULE": "portal.settings",
            "DATABASE_URL": "",
            "STORAGE_URL": "",
        }
        arguments = json.dumps({"skills": options["skills"], "corpus": options["corpus"], "folder": folder})
        command = [sys.executable, "-m", "bench._tree", arguments]
        ended = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=False)
    if ended.returncode:
        raise RuntimeError("the measurement failed")
    return json.loads(ended.stdout)


def _spread(values):
    return {
        name: round(value, 3)
        for name, value in {"median": median(values), "least": min(values), "most": max(values)}.items()
    }


def lines(document):
    yield f"{document['skills']} skills, {document['files']} files, {document['bytes']} bytes"
    for name, spread in document["seconds"].items():
        yield f"  {name:<8}{_format(spread)} s"
    for name, spread in document["cpu_seconds"].items():
        yield f"  {name:<8}{_format(spread)} s of work"
    for name, spread in document["of_raw"].items():
        yield f"  {name + ' / raw':<14}{_format(spread)}"


def _format(spread):
    return f"{spread['median']:8.2f}  ({spread['least']:.2f} to {spread['most']:.2f})"
