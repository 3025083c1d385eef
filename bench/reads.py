"""``bench reads``: reads per second next to a trivial view, verdaccio and devpi. See README.md."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from bench import _load, _scratch
from bench.follow import _free_port

_TRIVIAL = "trivial view"
_PEER = "verdaccio package, anonymous"


def add_arguments(parser):
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2, help="seconds per kind of read and round")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--first", type=int, default=15, help="reads right after a change, per kind")
    parser.add_argument("--processes", type=int, default=1, help="web processes; several are not pinned")
    parser.add_argument("--loop", default="asyncio", help="event loop of the servers: asyncio or uvloop")
    parser.add_argument("--peers", default="", metavar="FOLDER", help="folder with verdaccio or devpi")
    parser.add_argument("--database", default="", help="postgres://… of an empty database; default: SQLite")


def measure(options, *, log=lambda line: None):
    """Measures one site in a temporary folder. Raises RuntimeError if wrk is missing or a server fails."""
    if not _load.has_wrk():
        raise RuntimeError("wrk is not installed: install the package wrk")
    cores = sorted(os.sched_getaffinity(0))
    pinned = options["processes"] == 1 and len(cores) > 1
    arguments = {
        name: options[name]
        for name in ("rounds", "seconds", "connections", "first", "processes", "loop", "peers")
    }
    arguments |= {
        "server_cores": cores[:1] if pinned else cores,
        "load_cores": cores[-1:] if pinned else cores,
    }
    log(f"{arguments['rounds']} rounds; servers on processors {arguments['server_cores']}")
    with tempfile.TemporaryDirectory(prefix="skillquay-bench-") as folder:
        command = [sys.executable, "-m", "bench._reads", json.dumps(arguments)]
        environment = _environment(folder, options["database"], options["processes"])
        ended = subprocess.run(
            command, cwd=_scratch.ROOT, env=environment, stdout=subprocess.PIPE, check=False
        )
    if ended.returncode:
        raise RuntimeError("the measurement failed")
    found = json.loads(ended.stdout)
    return {
        "bench": "reads",
        "pinned": pinned,
        **{name: found[name] for name in ("database", "processes", "loop", "peers", "rss_mb")},
        "rows": _rows(found["rounds"], found["first"]),
    }


def _environment(folder, database, processes):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SKILLQUAY_")}

    return environment | {
        "SKILLQUAY_VAR": folder,
        "SKILLQUAY_PORT": str(_free_port()),
        "SKILLQUAY_WEB_PROCESSES": str(processes),
        "SKILLQUAY_LOG_LEVEL": "WARNING",
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "DATABASE_URL": database,
        "REDIS_URL": "",
        "STORAGE_URL": "",
    }


def _rows(rounds, first):
    """One row per kind of read. Ratios are medians of the rounds' ratios; for first reads, they compare CPU
    time with single requests to the trivial view.
    """
    rows = [_row(name, rounds) for name in rounds[0]]
    for name, (cpu_ms, trivial_ms) in first.items():
        ratio = {"median": round(trivial_ms / cpu_ms, 3)}
        row = {"name": f"{name}, first after a change", "rate": round(1000 / cpu_ms)}
        rows.append({**row, "cpu_ms": round(cpu_ms, 3), "ratio_to_trivial_view": ratio, "failed": 0})
    return rows


def _row(name, rounds):
    rate = _load.spread([one[name]["rate"] for one in rounds])
    row = {
        "name": name,
        "rate": round(rate["median"]),
        "cpu_ms": round(_load.spread([one[name]["cpu_ms"] for one in rounds])["median"], 3),
        "ratio_to_trivial_view": _ratio(name, _TRIVIAL, rounds),
        "cpu_ratio_to_trivial_view": _cpu_ratio(name, rounds),
        "failed": sum(one[name]["failed"] for one in rounds),
        "as_expected": all(one[name].get("as_expected", True) for one in rounds),
    }
    if _PEER in rounds[0]:
        row["ratio_to_verdaccio"] = _ratio(name, _PEER, rounds)
    return row


def _ratio(name, other, rounds):
    ratios = _load.spread([one[name]["rate"] / one[other]["rate"] for one in rounds])
    return {key: round(value, 3) for key, value in ratios.items()}


def _cpu_ratio(name, rounds):
    """The trivial view's CPU time per request / that of the read; less noisy than rates on a busy machine."""
    return round(_load.spread([one[_TRIVIAL]["cpu_ms"] / one[name]["cpu_ms"] for one in rounds])["median"], 3)


def lines(document):
    pinned = "server and load on processors of their own" if document["pinned"] else "not pinned"
    yield (
        f"{document['database']}, {document['processes']} web processes, {document['loop']}, {pinned}; "
        f"{document['rss_mb']} MB"
    )
    yield f"{'read':58}{'rate':>8}{'CPU ms':>9}{'by CPU':>8}  ratio to the trivial view (to verdaccio)"
    for row in document["rows"]:
        ratios = _format(row["ratio_to_trivial_view"])
        if "ratio_to_verdaccio" in row:
            ratios += f" ({_format(row['ratio_to_verdaccio'])})"
        failed = f"  {row['failed']} failed" if row["failed"] else ""
        failed += "" if row.get("as_expected", True) else "  answered in full"
        by_cpu = row.get("cpu_ratio_to_trivial_view", row["ratio_to_trivial_view"]["median"])
        yield f"{row['name']:58}{row['rate']:>8,}{row['cpu_ms']:>9.3f}{by_cpu:>8.2f}  {ratios}{failed}"


def _format(ratio):
    spread = f" [{ratio['min']:.2f} to {ratio['max']:.2f}]" if "min" in ratio else ""
    return f"{ratio['median']:.3f}{spread}"
