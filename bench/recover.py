"""``bench recover``: how long slots are idle after an outage of a service or a worker. See README.md."""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from worker.core.host import host_name

_SERVICES = ("restart_redis", "restart_postgres", "take_storage")
_LIMIT_S = 120.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=3, help="times that each service and worker is away")


def measure(options: dict[str, Any], *, log: Any = lambda line: None) -> dict[str, Any]:
    """Seconds until each slot works again, with the parts of a worker's restart, by round."""
    from tests.faults.restarts import GROUPS

    found: dict[str, list[float]] = defaultdict(list)
    with _busy_site() as site:
        for number in range(options["rounds"]):
            for name in _SERVICES:
                site.fill()
                found[name].append(site.seconds_until_all_work(getattr(site, name)(), limit=_LIMIT_S))
            for group in GROUPS:
                site.fill()
                for part, seconds in _kill(site, group).items():
                    found[part].append(seconds)
            log(f"round {number + 1} of {options['rounds']}")
    rows = [
        {"name": name, **{kind: round(of(each), 1) for kind, of in _SPREAD.items()}}
        for name, each in found.items()
    ]
    return {"bench": "recover", "rounds": options["rounds"], "rows": rows}


_SPREAD = {"median": median, "min": min, "max": max}


@contextmanager
def _busy_site() -> Iterator[Any]:
    """A site with its own PostgreSQL and Redis and two workers of two slots each."""
    from tests.faults.conftest import RedisServers
    from tests.faults.restarts import make_restart_site
    from tests.site import Site

    def make_site(_folder: None, **settings: str) -> Site:
        site = Site(Path(folder), SKILLQUAY_EXAMPLES="0", SKILLQUAY_LEASE_SECONDS="10", **settings)
        site.set_up("ops")
        return site

    program = shutil.which("redis-server")
    if not program:
        raise RuntimeError("redis-server is not installed")
    with (
        tempfile.TemporaryDirectory(prefix="skillquay-bench-") as folder,
        closing(RedisServers(program, Path(folder))) as redis,
    ):
        site = make_restart_site(make_site, redis, Path(folder))
        try:
            yield site
        finally:
            site.stop()


def _kill(site: Any, group: str) -> dict[str, float]:
    """Seconds after the kill until a new process runs, until it is ready, and until its slots work."""
    killed = site.pid(group)
    moment = site.kill(group)
    while (pid := site.pid(group)) == killed:
        time.sleep(0.02)
    started = time.time()
    works = site.seconds_until_all_work(moment, [group], limit=_LIMIT_S)
    name = f"{host_name()}:{pid}"
    row = f"SELECT started_at FROM worker_serviceprocess WHERE name = '{name}'"
    ready = site.site.wait_for(lambda: site.site.rows(row))[0][0].timestamp()
    return {"kill: process": started - moment, "kill: ready": ready - moment, "kill: works": works}


def lines(document: dict[str, Any]) -> Iterator[str]:
    yield "seconds until every slot works again: median (min to max)"
    for row in document["rows"]:
        yield f"  {row['name']:<18}{row['median']:6.1f} ({row['min']:.1f} to {row['max']:.1f})"
