"""``bench pull``: downloads and index reads of each protocol next to other registries. See README.md."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from bench import _load, _scratch
from bench.reads import _environment


def add_arguments(parser):
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2, help="seconds per kind of read and round")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--clones", type=int, default=15, help="clones from each git server")
    parser.add_argument("--peers", default="", metavar="FOLDER", help="folder with verdaccio or devpi")
    parser.add_argument("--database", default="", help="postgres://… of an empty database; default: SQLite")


def measure(options, *, log=lambda line: None):
    """Measures one site in a temporary folder. Raises RuntimeError if wrk is missing or a server fails."""
    if not _load.has_wrk():
        raise RuntimeError("wrk is not installed: install the package wrk")
    cores = sorted(os.sched_getaffinity(0))
    names = ("rounds", "seconds", "connections", "clones", "peers")
    arguments = {name: options[name] for name in names}
    arguments |= {"server_cores": cores[:1], "load_cores": cores[-1:]}
    log(f"{arguments['rounds']} rounds; servers on processor {cores[0]}")
    with tempfile.TemporaryDirectory(prefix="skillquay-bench-") as folder:
        command = [sys.executable, "-m", "bench._pull", json.dumps(arguments)]
        environment = _environment(folder, options["database"], 1)
        ended = subprocess.run(
            command, cwd=_scratch.ROOT, env=environment, stdout=subprocess.PIPE, check=False
        )
    if ended.returncode:
        raise RuntimeError("the measurement failed")
    found = json.loads(ended.stdout)
    return {
        "bench": "pull",
        "database": found["database"],
        "peers": found["peers"],
        "rows": [_row(name, found["rounds"]) for name in found["rounds"][0]],
        "clone_ms": {name: _rounded(_load.spread(times)) for name, times in found["clones"].items()},
        "clone_ratio": _clone_ratio(found["clones"]),
    }


def _row(name, rounds):
    figures = [one[name] for one in rounds]
    row = {
        "name": name,
        "rate": _rounded(_load.spread([each["rate"] for each in figures])),
        "cpu_ms": round(_load.spread([each["cpu_ms"] for each in figures])["median"], 3),
        "failed": sum(each["failed"] for each in figures),
    }
    peers = [peer for peer in rounds[0] if peer.endswith(("package, anonymous", "document, anonymous"))]
    row["ratios"] = {peer: _ratio(name, peer, rounds) for peer in peers if peer != name}
    return row


def _ratio(name, other, rounds):
    return _rounded(_load.spread([one[name]["rate"] / one[other]["rate"] for one in rounds]))


def _clone_ratio(clones):
    """The time of a clone from git's http-backend divided by that of one from the site, in pairs."""
    return _rounded(_load.spread([theirs / own for own, theirs in zip(*clones.values(), strict=True)]))


def _rounded(values):
    return {name: round(value, 2) for name, value in values.items()}


def lines(document):
    yield f"{document['database']}; peers: {document['peers'] or 'none'}"
    yield f"{'read':32}{'per second':>28}{'CPU ms':>9}  ratios"
    for row in document["rows"]:
        ratios = ", ".join(f"{_format(ratio)} {peer}" for peer, ratio in row["ratios"].items())
        failed = f"  {row['failed']} failed" if row["failed"] else ""
        yield f"{row['name']:32}{_format(row['rate']):>28}{row['cpu_ms']:>9.3f}  {ratios}{failed}"
    for name, spread in document["clone_ms"].items():
        yield f"git clone, {name}: {_format(spread)} ms"
    yield f"git http-backend / site: {_format(document['clone_ratio'])}"


def _format(spread):
    return f"{spread['median']:,.2f} [{spread['min']:,.2f} to {spread['max']:,.2f}]"
