"""``bench start``: the time that a scratch space adds to the start of a sandbox. See README.md."""

from __future__ import annotations

import argparse
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from worker.sandbox.limits.limits import Limits
from worker.sandbox.limits.scratch import Scratch
from worker.sandbox.policy import Job
from worker.sandbox.run_job import run_in
from worker.sandbox.site_settings import SandboxSettings
from worker.sandbox.tiers.available import has_scratch, usable_tiers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--starts", type=int, default=60, help="pairs of starts in each tier")


def measure(options: dict[str, Any], *, log: Any = lambda line: None) -> dict[str, Any]:
    """Starts ``true`` in each tier, in pairs without and with a scratch space.

    ``added_ms`` is the median of the differences.
    """
    starts = options["starts"]
    site = SandboxSettings(minimum="landlock")
    tiers = [report.name for report in usable_tiers(site) if report.usable and has_scratch(report.name, site)]
    return {"bench": "start", "starts": starts, "rows": [_row(tier, starts, site) for tier in tiers]}


def lines(document):
    for row in document["rows"]:
        low, high = row["spread_ms"]
        yield (
            f"{row['tier']:<9} without {row['without_ms']:6.2f} ms   with {row['with_ms']:6.2f} ms   "
            f"added {row['added_ms']:+.2f} ms (quartiles {low:+.2f} to {high:+.2f})"
        )


def _row(tier: str, starts: int, site: SandboxSettings) -> dict[str, Any]:
    pairs = [(_start(tier, site, scratch=False), _start(tier, site, scratch=True)) for _ in range(starts)]
    added = [later - earlier for earlier, later in pairs]
    low, _middle, high = quantiles(added, n=4)
    return {
        "tier": tier,
        "without_ms": round(median(first for first, _second in pairs), 2),
        "with_ms": round(median(second for _first, second in pairs), 2),
        "added_ms": round(median(added), 2),
        "spread_ms": [round(low, 2), round(high, 2)],
    }


def _start(tier: str, site: SandboxSettings, *, scratch: bool) -> float:
    with tempfile.TemporaryDirectory() as name:
        folder, limits = Path(name, "attempt"), Limits(timeout_s=20)
        (folder / "job" / "output").mkdir(parents=True)
        Path(name, "package").mkdir()
        with closing(Scratch(folder, limits.disk_mb << 20, limits.files)) as space:
            job = Job(
                ("true",),
                Path(name, "package"),
                folder / "job",
                limits=limits,
                scratch=space if scratch else None,
            )
            began = time.perf_counter()
            result = run_in(tier, job, site=site)
            took = (time.perf_counter() - began) * 1000
        if result.exit_code != 0:
            raise SystemExit(f"the start fails: {result}")
        return took
