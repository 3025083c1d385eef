"""Adds ended runs to the counts per day, which stay when retention removes the runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection, transaction

from registry.core.sql import Reads, reader
from worker.models import Attempt, DailyRuns, Run
from worker.models.daily_runs import TOTAL_KEY
from worker.queue.states import ENDED

BATCH = 1000
_MAX_HOSTS = 200  # number of hosts per row, because hosts can come from the callers' inputs


class Key(NamedTuple):
    """The columns that identify a row of daily runs."""

    skill_id: int
    day: date
    version_number: str
    team_key: int
    caller_key: int
    status: str
    failure_code: str


@dataclass
class Figures:
    runs: int = 0
    outcomes: dict[str, Counter[str]] = field(default_factory=dict)  # of a total
    durations: Counter[str] = field(default_factory=Counter)
    cpu_ms: int = 0
    peak_cpu_ms: int = 0
    peak_memory: int = 0
    hosts: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))


def roll_up(limit: int = BATCH) -> int:
    """Counts up to ``limit`` ended runs that are not counted yet; returns how many it examined.

    Safe to repeat and to run concurrently, because the transaction that counts a run also marks it as
    counted.
    """
    skip_locked = bool(connection.features.has_select_for_update_skip_locked)
    uncounted = Run.objects.filter(is_counted=False, finished_at__isnull=False, status__in=ENDED)
    with transaction.atomic():
        locked = uncounted.select_for_update(skip_locked=skip_locked, no_key=True, of=("self",))
        keys = list(locked.order_by("pk").values_list("pk", flat=True)[:limit])
        found = figures_of(keys)
        for key, figures in sorted((found | totals_of(found)).items()):
            _add(key, figures)
        Run.objects.filter(pk__in=keys).update(is_counted=True)
    return len(keys)


def roll_up_all(is_stopped: Callable[[], bool] = lambda: False) -> None:
    """Counts all ended runs that are not counted yet, in batches, until ``is_stopped``."""
    while roll_up() == BATCH and not is_stopped():
        pass


@reader
def figures_of(runs: Sequence[int]) -> Reads[dict[Key, Figures]]:
    """The figures of the ended runs with these primary keys; omits runs of test cases and of purged
    skills.
    """
    found: defaultdict[Key, Figures] = defaultdict(Figures)
    rows = Run.objects.without_cases().filter(pk__in=runs, skill__isnull=False)
    columns = (
        "pk", "skill_id", "created_at", "version_number", "team_id", "caller_id", "status", "failure_code",
        "started_at", "finished_at", "cached_from_id",
    )  # fmt: skip
    counted = rows.order_by().values_list(*columns)
    last = Attempt.objects.filter(run__in=runs).order_by("run_id", "number")
    documents = last.values_list("run", "sandbox", "network")
    yield counted, documents
    attempts = {run: (sandbox, network) for run, sandbox, network in documents}
    for (
        pk,
        skill,
        created,
        version,
        team,
        caller,
        status,
        code,
        started,
        finished,
        cached,
    ) in counted:
        day = created.astimezone(UTC).date()
        figures = found[Key(skill, day, version, team or 0, caller or 0, status, code)]
        figures.runs += 1
        if (duration := rounded_duration(started, finished)) and cached is None:
            figures.durations[duration] += 1
            _add_attempt(figures, *attempts.get(pk, ({}, [])))
    return dict(found)


def totals_of(found: Mapping[Key, Figures]) -> dict[Key, Figures]:
    """The sums over all teams, callers and outcomes, with ``TOTAL_KEY`` in place of team and caller."""
    totals: defaultdict[Key, Figures] = defaultdict(Figures)
    for key, figures in found.items():
        every = key._replace(team_key=TOTAL_KEY, caller_key=TOTAL_KEY, status="", failure_code="")
        total = totals[every]
        total.runs += figures.runs
        total.outcomes.setdefault(key.status, Counter())[key.failure_code] += figures.runs
        total.durations.update(figures.durations)
        total.cpu_ms += figures.cpu_ms
        total.peak_cpu_ms = max(total.peak_cpu_ms, figures.peak_cpu_ms)
        total.peak_memory = max(total.peak_memory, figures.peak_memory)
        for host, (allowed, refused) in figures.hosts.items():
            total.hosts[host][0] += allowed
            total.hosts[host][1] += refused
    return dict(totals)


def rounded_duration(started: datetime | None, finished: datetime | None) -> str | None:
    """The duration in milliseconds, rounded to two significant digits so that a day has few different
    values.
    """
    if started is None or finished is None:
        return None
    return f"{float(f'{(finished - started) / timedelta(milliseconds=1):.2g}'):g}"


def _add_attempt(figures: Figures, sandbox: Mapping[str, Any], network: Sequence[Mapping[str, Any]]) -> None:
    cpu = int(sandbox.get("cpu_ms", 0))
    figures.cpu_ms += cpu
    figures.peak_cpu_ms = max(figures.peak_cpu_ms, cpu)
    figures.peak_memory = max(figures.peak_memory, int(sandbox.get("peak_memory", 0)))
    for host, allowed, count in _accesses(network):
        figures.hosts[host][0 if allowed else 1] += count


def _accesses(network: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, bool, int]]:
    for access in network:
        if access["host"] not in ("", "*"):
            yield access["host"], access["allowed"], access.get("count", 1)


def _add(key: Key, figures: Figures) -> None:
    """Adds the figures to the row of the key. Drops new hosts above ``_MAX_HOSTS``.

    Raises IntegrityError if another process creates the row at the same time; a later call then counts the
    runs.
    """
    rows = DailyRuns.objects.select_for_update(of=("self",), no_key=True)
    row = rows.filter(**key._asdict()).first() or DailyRuns(**key._asdict())
    row.runs += figures.runs
    for status, codes in figures.outcomes.items():
        row.outcomes[status] = dict(Counter(row.outcomes.get(status, {})) + codes)
    row.durations = dict(Counter(row.durations) + figures.durations)
    row.cpu_ms += figures.cpu_ms
    row.peak_cpu_ms = max(row.peak_cpu_ms, figures.peak_cpu_ms)
    row.peak_memory = max(row.peak_memory, figures.peak_memory)
    for host, (allowed, refused) in figures.hosts.items():
        before = row.hosts.get(host, [0, 0])
        if host in row.hosts or len(row.hosts) < _MAX_HOSTS:
            row.hosts[host] = [before[0] + allowed, before[1] + refused]
    row.save()
