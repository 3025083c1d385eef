"""The text of ``/metrics``: metrics of the site from the database, and metrics of this host."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from portal.health.http_metrics import http_registry
from worker.health.bounded_call import BoundedCall
from worker.health.checks import TIMEOUT_S, SiteState
from worker.health.figures import SiteFigures
from worker.health.release import version
from worker.health.run_totals import BUCKETS_S, NEVER_STARTED, Key, Sums, run_totals

log = logging.getLogger(__name__)
_totals = BoundedCall(run_totals)


def metrics_text(state: SiteState) -> bytes:
    """All metrics in Prometheus's text format; omits those from the database if it does not answer."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_SiteCollector(state, _read_totals() if state.figures else None))
    return generate_latest(registry) + generate_latest(http_registry())


def _read_totals() -> Mapping[Key, Sums] | None:
    try:
        return _totals.start().result(TIMEOUT_S)
    except Exception as error:  # metrics without totals are better than none
        log.warning("The totals of runs can't be read: %s", error or type(error).__name__)
        return None


class _SiteCollector(Collector):
    def __init__(self, state: SiteState, totals: Mapping[Key, Sums] | None) -> None:
        self.state, self.totals = state, totals

    def collect(self) -> Iterator[Metric]:
        yield InfoMetricFamily("skillquay", "The version of the web server's code.", {"version": version()})
        yield _gauge(
            "check_ok",
            "Whether a check of the site's readiness passes.",
            {check.name: int(check.ok) for check in self.state.checks},
            label="check",
        )
        if disk := self.state.disk:
            yield _gauge("disk_free_bytes", "Free bytes on the web server's data disk.", {"": disk.free})
            yield _gauge("disk_size_bytes", "Size of the web server's data disk.", {"": disk.total})
        if self.state.figures:
            yield from _queue_metrics(self.state.figures)
            yield from _worker_metrics(self.state.figures)
        if self.totals is not None:
            yield from _run_metrics(self.totals)


def _gauge(name: str, text: str, values: Mapping[str, float], *, label: str = "") -> GaugeMetricFamily:
    gauge = GaugeMetricFamily(f"skillquay_{name}", text, labels=(label,) if label else ())
    for value, number in values.items():
        gauge.add_metric((value,) if label else (), number)
    return gauge


def _queue_metrics(figures: SiteFigures) -> Iterator[Metric]:
    queue = figures.queue
    states = {
        "runnable": queue.runnable,
        "running": queue.running,
        "waiting_approval": queue.waiting_approval,
    }
    yield _gauge("runs", "Runs that have not ended.", states, label="state")
    age = "Seconds that the oldest runnable run has waited."
    yield _gauge("queue_oldest_seconds", age, {"": queue.oldest_s or 0.0})
    if figures.reaper_age_s is not None:
        yield _gauge("reaper_age_seconds", "Seconds since the reaper's last run.", {"": figures.reaper_age_s})


def _worker_metrics(figures: SiteFigures) -> Iterator[Metric]:
    alive = figures.live_workers
    yield _gauge("workers", "Workers that are alive.", {"": len(alive)})
    by_worker = (
        ("worker_slots", "Slots of a worker.", {w.name: w.slots for w in alive}),
        ("worker_busy_slots", "Busy slots of a worker.", {w.name: w.busy for w in alive}),
        (
            "worker_heartbeat_age_seconds",
            "Seconds since a worker's last heartbeat.",
            {w.name: w.heartbeat_s for w in figures.workers},
        ),
        (
            "worker_disk_free_bytes",
            "Free bytes on the disk of a worker's runs.",
            {w.name: w.details["disk_free"] for w in alive if "disk_free" in w.details},
        ),
    )
    for name, text, values in by_worker:
        yield _gauge(name, text, values, label="worker")


def _run_metrics(totals: Mapping[Key, Sums]) -> Iterator[Metric]:
    by_code: dict[tuple[str, str], Sums] = defaultdict(Sums)
    by_bucket: dict[str, dict[int, Sums]] = defaultdict(lambda: defaultdict(Sums))
    for (status, code, bucket), sums in totals.items():
        by_code[status, code] += sums
        if bucket != NEVER_STARTED:
            by_bucket[status][bucket] += sums
    labels = ("status", "failure_code")
    runs = CounterMetricFamily("skillquay_runs_ended", "Number of ended runs.", labels=labels)
    attempts = CounterMetricFamily("skillquay_run_attempts", "Attempts of ended runs.", labels=("status",))
    for key, sums in by_code.items():
        runs.add_metric(key, sums.runs)
    for status in {status for status, _code in by_code}:
        attempts.add_metric((status,), sum(s.attempts for key, s in by_code.items() if key[0] == status))
    yield runs
    yield attempts
    text = "Durations of the last attempts of ended runs."
    durations = HistogramMetricFamily("skillquay_run_duration_seconds", text, labels=("status",))
    for status, buckets in by_bucket.items():
        durations.add_metric((status,), _cumulative(buckets), sum(s.seconds for s in buckets.values()))
    yield durations


def _cumulative(buckets: Mapping[int, Sums]) -> list[tuple[str, float]]:
    """Pairs of a bound in seconds and the number of runs that took at most that long; ``+Inf`` counts all."""
    bounds = [*map(str, BUCKETS_S), "+Inf"]
    upto = [sum(s.runs for n, s in buckets.items() if n <= index) for index in range(len(bounds))]
    return list(zip(bounds, map(float, upto), strict=True))
