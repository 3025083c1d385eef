"""``bench follow``: the delay of log lines for many followers, and page times meanwhile. See README.md."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from statistics import median

from bench import _scratch


def add_arguments(parser):
    parser.add_argument("--followers", type=int, default=200)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--pages", type=int, default=0, help="followers that also have the run's page open")
    parser.add_argument("--seconds", type=int, default=15, help="seconds without followers, then with them")
    parser.add_argument("--leaves", type=int, default=2, help="reconnects per follower")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--database", default="", help="postgres://… of an empty database; default: SQLite")


def measure(options, *, log=lambda line: None):
    arguments = {
        name: options[name] for name in ("followers", "runs", "pages", "seconds", "leaves", "rounds")
    }
    log(f"{arguments['runs']} runs, {arguments['followers']} followers, {arguments['rounds']} rounds")
    with tempfile.TemporaryDirectory(prefix="skillquay-bench-") as folder:
        command = [sys.executable, "-m", "bench._following", json.dumps(arguments)]
        around = _environment(folder, options["database"], arguments["runs"])
        ended = subprocess.run(command, cwd=_scratch.ROOT, env=around, stdout=subprocess.PIPE, check=False)
    if ended.returncode:
        raise RuntimeError("the measurement failed")
    return {"bench": "follow", **arguments, **_figures(json.loads(ended.stdout)["rounds"])}


def _environment(folder, database, runs):
    """The environment of a site in its own folder, with one worker process per run, so that no run waits."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SKILLQUAY_")}
    return environment | {
        "SKILLQUAY_VAR": folder,
        "SKILLQUAY_PORT": str(_free_port()),
        "SKILLQUAY_WORKERS": str(runs),
        "SKILLQUAY_WEB_PROCESSES": "1",
        "SKILLQUAY_LOG_LEVEL": "WARNING",
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "DATABASE_URL": database,
        "REDIS_URL": "",
        "STORAGE_URL": "",
    }


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _figures(rounds):
    alone = [time for one in rounds for time in one["alone"]["times"]]
    followed = [time for one in rounds for time in one["followed"]["times"]]
    delays = [delay for one in rounds for delay in one["delays"]]
    return {
        "page_ms": {"alone": _spread(alone), "followed": _spread(followed)},
        "page_ratio": round(median(followed) / median(alone), 2),
        "web_cores": {name: max(one[name]["cores"] for one in rounds) for name in ("alone", "followed")},
        "rss_mb": {
            "before": rounds[0]["rss_mb"]["before"],
            "most": max(one["rss_mb"]["most"] for one in rounds),
            "high_water": rounds[-1]["rss_mb"]["high_water"],
        },
        **{
            name: sum(one[name] for one in rounds)
            for name in ("lines", "lost", "doubled", "refused", "visits")
        },
        "delay_ms": _spread(delays),
        "look_ms": _spread([look for one in rounds for look in one["looks"]]),
    }


def _spread(times):
    if not times:
        return None
    return {**_scratch.spread(times), "worst": round(max(times), 2), "n": len(times)}


def lines(document):
    yield f"{document['lines']} lines in {document['visits']} visits of {document['followers']} followers"
    yield f"  lost {document['lost']}, doubled {document['doubled']}, refused {document['refused']}"
    for name in ("alone", "followed"):
        cores = document["web_cores"][name]
        yield f"  a page, {name:<9}{_format(document['page_ms'][name])}; the web process uses {cores} cores"
    yield f"  ratio of the medians {document['page_ratio']}"
    yield f"  printed to received{_format(document['delay_ms'])}"
    if looks := document["look_ms"]:
        yield f"  a look of an open page{_format(looks)}; {looks['n']} in all"
    rss = document["rss_mb"]
    yield f"  web process {rss['before']} MB before, {rss['most']} at most"


def _format(spread):
    return f" p50 {spread['p50']} ms, p95 {spread['p95']}, worst {spread['worst']}"
