"""``bench timeouts``: how long processes outlive the limit of their run, per tier. See README.md."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from statistics import median

from worker.sandbox import site_settings
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import Job
from worker.sandbox.tiers import available

_WAITS = "trap '' TERM; while :; do sleep 60; done"
_SPINS = "trap '' TERM; while :; do :; done"
_FORKS = "trap '' TERM; for n in $(seq 40); do sleep 60 & setsid sleep 60 & done; while :; do sleep 60; done"
KINDS = {"sleeping": _WAITS, "spinning": _SPINS, "forking": _FORKS}


def add_arguments(parser):
    parser.add_argument("--starts", type=int, default=20, help="starts of each kind in each tier")
    parser.add_argument("--limit", type=float, default=0.6, help="time limit of a script in seconds")


def measure(options, *, log=lambda line: None):
    """Starts each kind of script in each tier in turn, so that load affects all of them alike."""
    tiers = [report.name for report in available.usable_tiers() if report.usable]
    found = {tier: {kind: [] for kind in KINDS} for tier in tiers}
    for number in range(options["starts"]):
        for tier in tiers:
            for kind, script in KINDS.items():
                found[tier][kind].append(_past(tier, script, options["limit"]))
        log(f"{number + 1} of {options['starts']}")
    return {
        "bench": "timeouts",
        "limit_s": options["limit"],
        "tiers": {
            tier: {kind: _spread(each) for kind, each in kinds.items()} for tier, kinds in found.items()
        },
    }


def _past(tier, script, limit):
    """The milliseconds from the time limit until the last process had ended, and until the worker noticed
    this.
    """
    with tempfile.TemporaryDirectory(prefix="skillquay-bench-") as folder:
        package, job_dir = Path(folder, "package"), Path(folder, "job")
        package.mkdir()
        (job_dir / "output").mkdir(parents=True)
        job = Job(("bash", "-c", script), package, job_dir, limits=Limits(timeout_s=limit, processes=100))
        begun = time.monotonic()
        ended = available.run(job, tier=tier, site=site_settings.SandboxSettings(minimum="landlock"))
        known = time.monotonic() - begun
    if ended.ending != "timed_out":
        raise RuntimeError(f"{tier}: the script was to be stopped at its limit, and {ended.ending}")
    return {"gone": (ended.duration_s - limit) * 1000, "known": (known - limit) * 1000}


def _spread(each):
    return {name: _figures(sorted(one[name] for one in each)) for name in ("gone", "known")}


def _figures(ordered):
    at = {"median": median(ordered), "p95": ordered[int(len(ordered) * 0.95)], "worst": ordered[-1]}
    return {name: round(value, 1) for name, value in at.items()}


def lines(document):
    yield f"ms past a limit of {document['limit_s']:g} s until the last process was gone: median, p95, worst"
    for tier, kinds in document["tiers"].items():
        for kind, spread in kinds.items():
            gone, known = spread["gone"], spread["known"]
            yield (
                f"  {tier:<10}{kind:<10}{gone['median']:8.1f}{gone['p95']:8.1f}{gone['worst']:8.1f}"
                f"   known {known['median']:8.1f}{known['p95']:8.1f}{known['worst']:8.1f}"
            )
