"""Runs measurements in a process with its own site in a temporary folder; changes no other site."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EVAL = ROOT.parent / "shared" / "eval"


def add_arguments(parser):
    parser.add_argument("--corpus", default=str(EVAL / "corpus.jsonl.gz"), help="JSON Lines of skills")
    parser.add_argument("--queries", default=str(EVAL / "queries_dev.jsonl"), help="JSON Lines of queries")


def measure_catalog(options, *, skills, rounds, answers, log, canonical=0):
    """Measures the catalog at each size in ``skills``; for an empty list, at the size of the corpus.

    Raises RuntimeError if a file does not exist or the measurement fails.
    """
    for name in ("corpus", "queries"):
        if not Path(options[name]).is_file():
            raise RuntimeError(f"{options[name]} does not exist: name a file with --{name}")
    files = {name: str(Path(options[name]).resolve()) for name in ("corpus", "queries")}
    arguments = {**files, "skills": skills, "rounds": rounds, "answers": answers, "canonical": canonical}
    return run("bench._catalog", arguments, database=options.get("database") or "", log=log)


def run(module, arguments, *, database, log, folder=None):
    """Runs the module in a process with its own site; returns the JSON that the module prints. A site in
    ``folder`` stays.

    Raises RuntimeError if the process fails.
    """
    log("filling the catalog; this takes some minutes where it is large")
    with tempfile.TemporaryDirectory(prefix="skillquay-bench-") as temporary:
        command = [sys.executable, "-m", module, json.dumps(arguments)]
        environment = _environment(folder or temporary, database)
        ended = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=False)
    if ended.returncode:
        raise RuntimeError("the measurement failed")
    return json.loads(ended.stdout)


@contextmanager
def asked(module, arguments, *, folder):
    """A function that writes a line to the module's process and returns the JSON of the line that it prints.
    The process has the site in ``folder``. ``None`` as line only reads.
    """
    command = [sys.executable, "-m", module, json.dumps(arguments)]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=_environment(folder, ""),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        to, answers = process.stdin, process.stdout
        assert to and answers  # noqa: PT018

        def ask(line):
            if line is not None:
                to.write(f"{line}\n")
                to.flush()
            if not (answer := answers.readline()):
                raise RuntimeError("the measurement failed")
            return json.loads(answer)

        yield ask


def _environment(folder, database):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SKILLQUAY_")}
    return environment | {
        "SKILLQUAY_VAR": str(folder),
        "SKILLQUAY_LOG_LEVEL": "WARNING",
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "DATABASE_URL": database,
        "STORAGE_URL": "",
    }


def spread(times):
    ordered = sorted(times)
    at = {"p50": 0.5, "p95": 0.95}
    return {
        name: round(ordered[min(len(ordered) - 1, int(len(ordered) * part))], 2) for name, part in at.items()
    }
