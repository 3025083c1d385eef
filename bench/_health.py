"""Measures readiness checks and metrics, in a process with its own site."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import json
import random
import sys
import time
from datetime import timedelta

import django

django.setup()

from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from bench import _scratch
from portal.health.site_metrics import metrics_text
from worker.health import checks, heartbeats, run_totals
from worker.models import ProcessKind, Run

_BATCH = 5_000
_WORKERS = 20


def main():
    options = json.loads(sys.argv[1])
    call_command("migrate", verbosity=0)
    _fill(options["runs"])
    for number in range(_WORKERS):
        heartbeats.beat(ProcessKind.WORKER, f"host:{number}", slots=4)
    began = time.perf_counter()
    run_totals.move_forward()
    moved = time.perf_counter() - began
    state = checks.read_state()
    rows = [
        _measure("checks of /-/ready", checks.read_state, options["rounds"]),
        _measure("text of /metrics", lambda: metrics_text(state), options["rounds"]),
        _measure("totals of runs", run_totals.run_totals, options["rounds"]),
    ]
    found = {"runs": options["runs"], "database": connection.vendor, "rows": rows}
    print(json.dumps({**found, "move_s": round(moved, 2)}))


def _fill(runs):
    """Creates ended runs of the last 30 days; every tenth has failed."""
    dice, now = random.Random(9), timezone.now()
    values = {"skill_label": "bench/bench", "version_number": "1.0.0", "digest": "-", "protocol": "script"}
    for start in range(0, runs, _BATCH):
        rows = []
        for number in range(start, min(start + _BATCH, runs)):
            ended = now - timedelta(seconds=120 + dice.random() * 30 * 86400)
            began = ended - timedelta(seconds=dice.expovariate(0.2))
            status, code = ("failed", "SCRIPT_FAILED") if number % 10 == 0 else ("succeeded", "")
            times = {"run_after": began, "created_at": began, "started_at": began, "finished_at": ended}
            rows.append(Run(**values, **times, request={}, status=status, failure_code=code, attempt=1))
        Run.objects.bulk_create(rows)


def _measure(name, work, rounds):
    clock, cpu = [], []
    for _ in range(rounds):
        began, worked = time.perf_counter(), time.process_time()
        work()
        clock.append((time.perf_counter() - began) * 1000)
        cpu.append((time.process_time() - worked) * 1000)
    return {"name": name, **_scratch.spread(clock), "cpu_p50": _scratch.spread(cpu)["p50"]}


if __name__ == "__main__":
    main()
