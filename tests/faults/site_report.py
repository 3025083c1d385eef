"""What ``/-/ready`` and ``/metrics`` of a site report."""

from __future__ import annotations

import json
import time
from collections.abc import Collection
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

from tests.site import Site

LIMIT_S = 30.0
_BY_LOAD = {"queue"}  # fails if a run has waited for a minute, which depends on the load


@dataclass(frozen=True)
class SiteReport:
    """The failing checks at both addresses, and the live workers; None if the metrics have no workers."""

    ready: frozenset[str]
    metrics: frozenset[str]
    workers: frozenset[str] | None
    slots: int


def read_report(site: Site) -> SiteReport:
    status, _, body = site.ask("/-/ready", token=None)
    checks = {check["name"]: check["ok"] for check in json.loads(body)["checks"]}
    assert status == (200 if all(checks.values()) else 503)
    status, _, body = site.ask("/metrics", token=None)
    assert status == 200
    families = {family.name: family.samples for family in text_string_to_metric_families(body.decode())}
    ok = {sample.labels["check"]: sample.value for sample in families["skillquay_check_ok"]}
    assert set(ok) == set(checks)
    slots = {sample.labels["worker"]: sample.value for sample in families.get("skillquay_worker_slots", ())}
    if "skillquay_workers" in families:
        assert families["skillquay_workers"][0].value == len(slots)
    return SiteReport(
        ready=frozenset(name for name, passes in checks.items() if not passes) - _BY_LOAD,
        metrics=frozenset(name for name, passes in ok.items() if not passes) - _BY_LOAD,
        workers=frozenset(slots) if "skillquay_workers" in families else None,
        slots=int(sum(slots.values())),
    )


def wait_for_report(
    site: Site, *, failing: Collection[str] = (), workers: Collection[str] | None = None, slots: int = 0
) -> None:
    """Waits until both addresses report exactly these checks as failing, and these workers as alive."""
    names, alive = frozenset(failing), None if workers is None else frozenset(workers)
    wanted = SiteReport(ready=names, metrics=names, workers=alive, slots=slots)
    reports, until = [], time.monotonic() + LIMIT_S
    while not reports or reports[-1] != wanted:
        assert time.monotonic() < until, (wanted, reports)
        reports.append(read_report(site))
        time.sleep(0.1)
