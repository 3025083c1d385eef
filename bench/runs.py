"""``bench runs``: runs per second of the queue, compared with bare loops and peers. See README.md."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
_OWN_BARE = {
    "rq": "bare_subprocess",
    "rq_bwrapped": "bare_bwrapped",
    "prefect": "bare_subprocess",
    "prefect_tasks": "bare_subprocess",
}
DEFAULT_REDIS = "redis://127.0.0.1:6379/9"


def add_arguments(parser):
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--burst", type=int, default=80, help="runs in each round")
    parser.add_argument("--idle", type=int, default=40, help="pairs of single runs")
    parser.add_argument("--seconds", type=int, default=60, help="seconds until the last round starts")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--redis", default=os.environ.get("REDIS_URL") or DEFAULT_REDIS)
    parser.add_argument("--only", choices=("embedded", "redis"))
    parser.add_argument(
        "--peers",
        default="",
        metavar="PYTHON",
        help="an interpreter that has rq, prefect or both; needs Redis",
    )


def measure(options, *, log=lambda line: None):
    """Measures each broker in its own site in a temporary folder; does not use this site's database.

    Omits the Redis broker if it does not answer. Raises RuntimeError if peers are requested without Redis.
    """
    brokers = {"embedded": "", "redis": options["redis"]}
    if options["only"]:
        brokers = {options["only"]: brokers[options["only"]]}
    if "redis" in brokers and not _reachable(options["redis"]):
        log("Redis does not answer: only the embedded broker is measured.")
        del brokers["redis"]
    if options["peers"] and "redis" not in brokers:
        raise RuntimeError(
            "peers are measured beside the queue on Redis, which does not answer or is left out"
        )
    return {"bench": "runs", **{name: _one(name, url, options, log) for name, url in brokers.items()}}


def _reachable(url):
    parts = urlsplit(url)
    try:
        socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 6379), timeout=1).close()
    except OSError:
        return False
    return True


def _one(name, url, options, log):
    log(f"{name}: {options['rounds']} rounds of {options['burst']} runs, {options['idle']} pairs")
    with tempfile.TemporaryDirectory(prefix="skillquay-bench-") as folder:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SKILLQUAY_")}
        environment |= {
            "SKILLQUAY_VAR": folder,
            "SKILLQUAY_WORKERS": str(options["processes"]),
            "SKILLQUAY_LOG_LEVEL": "WARNING",
            "DJANGO_SETTINGS_MODULE": "portal.settings",
            "DATABASE_URL": "",
            "REDIS_URL": url,
        }
        arguments = {key: options[key] for key in ("rounds", "burst", "idle", "processes", "seconds")}
        arguments["peers"] = os.path.abspath(options["peers"]) if options["peers"] and name == "redis" else ""
        command = [sys.executable, "-m", "bench._site", json.dumps(arguments)]
        ended = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=False)
    if ended.returncode:
        raise RuntimeError(f"the measurement on the {name} broker failed")
    return _figures(json.loads(ended.stdout))


def _figures(raw):
    rounds = raw["rounds"]
    return {
        "runs_per_s": {kind: _spread([r[kind] for r in rounds]) for kind in rounds[0]},
        "of_bare_sandboxed": {
            kind: _spread([r[kind] / r["bare_sandboxed"] for r in rounds])
            for kind in ("burst", "burst_with_requests")
        },
        "of_bare_subprocess": {"burst": _spread([r["burst"] / r["bare_subprocess"] for r in rounds])},
        "peers": raw["peers"],
        "of_own_bare": {
            kind: _spread([r[kind] / r[bare] for r in rounds])
            for kind, bare in _OWN_BARE.items()
            if kind in rounds[0]
        },
        "idle_ms": {
            "bare_sandboxed": _spread([pair["bare"] for pair in raw["idle"]]),
            "queue": _spread([pair["queue"] for pair in raw["idle"]]),
            "difference": _spread([pair["queue"] - pair["bare"] for pair in raw["idle"]]),
        },
        "tier": raw["tier"],
        "processes": raw["processes"],
    }


def _spread(values):
    ordered = sorted(values)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    figures = {"median": median(values), "least": ordered[0], "most": ordered[-1], "p95": p95}
    return {name: round(value, 3) for name, value in figures.items()}


def lines(document):
    for name in ("embedded", "redis"):
        if name not in document:
            continue
        one = document[name]
        yield f"{name}, {one['processes']} processes, tier {one['tier']}"
        for kind, spread in one["runs_per_s"].items():
            yield f"  {kind:<22}{_format(spread)} runs/s"
        for kind, spread in one["of_bare_sandboxed"].items():
            yield f"  {kind + ' / bare_sandboxed':<38}{_format(spread)}"
        for kind, spread in one["of_own_bare"].items():
            yield f"  {kind + ' / ' + _OWN_BARE[kind]:<38}{_format(spread)}"
        for kind, spread in one["idle_ms"].items():
            yield f"  idle {kind:<17}{_format(spread)} ms"


def _format(spread):
    return f"{spread['median']:8.2f}  ({spread['least']:.2f} to {spread['most']:.2f})"
