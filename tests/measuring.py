"""Measures what one answer of the site costs: CPU time and memory, without the help of any cache."""

from __future__ import annotations

import gc
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any
from unittest import mock

from django.template import Context, Engine
from django.test import Client

from portal.pages.skill.presenters import readme
from portal.presenters.skill import runnable_version
from registry.models import Version
from tests.addresses import filled, routes
from worker.core import display_budget
from worker.models import Run

_REFERENCE_MS = (
    15.0  # CPU time of the work in ``_slowness`` on the reference machine, 2 idle cores at 2.4 GHz
)
_REFERENCE = Engine().from_string(
    "[{% for row in rows %}{% if row %},{% endif %}"
    "{'row': {{ row }}, 'next': {{ row|add:1 }}, 'text': '{{ row|stringformat:'05d' }}'}{% endfor %}]"
)
_CACHES = (readme.READMES, runnable_version._ENTRY_POINTS, runnable_version._REPORTS)


@dataclass(frozen=True)
class Cost:
    """What a GET of ``path`` costs: milliseconds of CPU time and megabytes."""

    path: str
    status: int
    cpu_ms: float
    memory_mb: float = 0.0


def cpu_cost(client: Client, path: str, *, enough_ms: float = 0.0) -> Cost:
    """The cost of a GET without its memory; see ``cpu_time``."""
    status, cpu_ms = cpu_time(lambda: client.get(path), enough_ms=enough_ms)
    return Cost(path, status, cpu_ms)


def cpu_time(send: Callable[[], Any], *, enough_ms: float = 0.0) -> tuple[int, float]:
    """The status of an answer and the least of six times, as others slow this process down; the first time
    that is under ``enough_ms``.

    Times are those of the reference machine: a slower machine, or one with busy neighbours, is measured by
    ``_slowness`` and taken out. Each time at another depth of the stack: where a chunk of CPython's stack
    ends, each call maps memory.
    """
    _freeze()
    times: list[float] = []
    for attempt in range(6):
        _forget()
        started = time.thread_time()
        answer = _send_below(send, 10 * attempt)
        answer.getvalue()
        times.append((time.thread_time() - started) * 1000)
        if times[-1] > enough_ms:
            times[-1] /= _slowness()
        if times[-1] <= enough_ms:
            break
    return answer.status_code, min(times)


def _slowness() -> float:
    """How many times longer than the reference machine this one needs for such work now; at least 1."""
    times = []
    for _ in range(3):
        started = time.thread_time()
        rows = json.loads(_REFERENCE.render(Context({"rows": range(500)})).replace("'", '"'))
        json.dumps([{key: str(value) for key, value in row.items()} for row in rows] * 5)
        times.append((time.thread_time() - started) * 1000)
    return max(1.0, min(times) / _REFERENCE_MS)


def _send_below(send: Callable[[], Any], frames: int) -> Any:
    return _send_below(send, frames - 1) if frames else send()


def memory_mb(client: Client, path: str) -> float:
    """The peak of a GET; see ``peak_mb``."""
    return peak_mb(lambda: client.get(path))


def peak_mb(send: Callable[[], Any]) -> float:
    """The peak while the answer is made; tracing slows it down, so it gets more time for its content."""
    with _traced(), mock.patch.object(display_budget, "MAX_CPU_S", 1.0):
        for _chunk in send():
            pass
        return tracemalloc.get_traced_memory()[1] / 1e6


@contextmanager
def _traced() -> Iterator[None]:
    _forget()
    import_module("portal.urls")  # 44 MB, which the first request of a process would load
    gc.collect()
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()


@cache
def _freeze() -> None:
    """Excludes all pages and their objects from garbage collection, as ``portal.asgi`` does at its start."""
    import_module("portal.urls")
    gc.collect()
    gc.freeze()


def _forget() -> None:
    for kept in _CACHES:
        kept.clear()


def package_pages(version: Version) -> list[str]:
    """Each page and API address of a version, of its skill, and the lists that show it."""
    largest = version.files.order_by("-size", "path").values_list("path", flat=True)[0]
    before = version.skill.versions.exclude(pk=version.pk).values_list("number", flat=True).first()
    values = _values(
        team=version.skill.team.slug, slug=version.skill.slug, number=version.number, path=largest
    )
    values |= {"before": before or version.number, "after": version.number}
    lists = ("", "skills/", "held/", "api/v1/skills", "api/v1/held", "api/v1/changes", "skills/listing/")
    chosen = [route for route in routes() if {"<slug:team>", "<str:team>"} & set(route.split("/"))]
    searches = [
        "/api/v1/search?q=heavy",
        "/skills/?q=heavy",
        "/skills/match/test/?q=heavy",
        f"/skills/match/test/?q={'heavy+show+is+' * 38}",
        f"/skills/?q={'heavy+show+is+' * 14}",
        "/api/v1/listing?q=heavy",
    ]
    return [f"/{filled(route, values)}" for route in (*chosen, *lists)] + searches


def run_pages(run: Run, other: Run) -> list[str]:
    """Each page and API address of a run, and the lists that show it."""
    artifact = run.artifacts.values_list("path", flat=True).first() or "none"
    team, _slash, slug = run.skill_label.partition("/")
    values = _values(team=team, slug=slug, uid=run.uid, other=other.uid, path=artifact)
    chosen = [f"/{filled(route, values)}" for route in routes() if "runs" in route.split("/")]
    more = ("live/?part=log", "log/?line=900", "log/?raw=1")
    return [
        *chosen,
        *(f"/runs/{run.uid}/{part}" for part in more),
        f"/skills/{team}/{slug}/run/?rerun_of={run.uid}",
        f"/skills/{team}/{slug}/run/?rerun_of={run.uid}&format=json",
        f"/skills/{team}/{slug}/use/?rerun_of={run.uid}",
        "/approvals/",
        "/approvals/decided/",
        "/api/v1/approvals",
        "/account/export/",
        "/api/v1/me/export",
        "/memory/review/",
        "/api/v1/memory-writes",
    ]


def _values(**values: str) -> dict[str, str]:
    names = ("uid", "other", "username", "number", "path", "before", "after", "name", "code", "note")
    return dict.fromkeys((*names, "collection"), "none") | values
