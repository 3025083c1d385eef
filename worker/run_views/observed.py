"""Compares the hosts, secrets and skills that a version declares with those that its runs accessed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet, Sum

from registry.additions.additions import effective_manifest
from registry.core.sql import Reads, aggregate_rows, prepared, reader
from registry.identity.actors import Actor
from registry.models import Version
from worker.models import DailyRuns, Run, RunQuerySet
from worker.models.daily_runs import reads_all_runs
from worker.queue.states import ENDED
from worker.sandbox.egress.allowed_hosts import parse_allowlist

MAX_RUNS = 500  # newest runs that are read for secrets and other skills
MAX_HOSTS = 100
_HostRow = tuple[dict[str, tuple[int, int]], int]


@dataclass(frozen=True)
class ObservedAccess:
    """A host, secret or skill (``kind``) that the version declares or its runs accessed.

    ``used`` counts connections for hosts, runs for secrets, and child runs for skills. ``refused`` counts
    refused connections.
    """

    kind: str
    name: str
    is_declared: bool
    used: int = 0
    refused: int = 0


@dataclass(frozen=True)
class ObservedPermissions:
    """The accesses of a version's runs. ``runs`` is the number of ended runs that the actor can read."""

    version: str
    runs: int
    rows: tuple[ObservedAccess, ...]


@reader
def observed_permissions(version: Version, actor: Actor) -> Reads[ObservedPermissions]:
    """The declared accesses of the version, and those of its runs that the actor can read.

    Only readable runs count, because hosts can come from the callers' inputs. Hosts include those of removed
    runs; secrets and skills come from the newest ``MAX_RUNS`` runs. Additions count as declared.
    """
    manifest = effective_manifest(version)
    key = (actor, version.skill_id, version.number)
    granted, called = _grants(*key), _called_skills(*key)
    of_all = reads_all_runs(actor)
    runs = _total_runs(*key[1:]) if of_all else _readable_runs(*key)
    connected = _total_hosts(*key[1:]) if of_all else _readable_hosts(*key)
    yield granted, called, runs, connected
    hosts = _hosts(connected)
    secrets = Counter[str]()
    for grants, times in granted:
        secrets.update(dict.fromkeys(grants.get("secrets", {}), times))
    skills = dict(called)
    rows = [*_host_rows(manifest.security.network_allowlist, hosts)]
    rows += _rows("secret", manifest.security.secrets, secrets)
    rows += _rows("skill", manifest.requires, skills)
    return ObservedPermissions(version.number, next(iter(runs), None) or 0, tuple(rows))


def _newest(actor: Actor, skill: int, number: str) -> RunQuerySet:
    runs = Run.objects.readable_by(actor).without_cases()
    runs = runs.filter(skill_id=skill, version_number=number, status__in=ENDED)
    return runs.order_by("-pk")[:MAX_RUNS] if actor.user else runs.none()


@prepared
def _grants(actor: Actor, skill: int, number: str) -> QuerySet[Run, tuple[dict[str, Any], int]]:
    """Different grants with their number of runs: most runs of a version have the same."""
    newest = Run.objects.filter(pk__in=_newest(actor, skill, number).values("pk"))
    return newest.order_by().values_list("grants").annotate(Count("pk"))


@prepared
def _called_skills(actor: Actor, skill: int, number: str) -> QuerySet[Run, tuple[str, int]]:
    below = Run.objects.filter(parent__in=_newest(actor, skill, number).values("pk")).order_by()
    return below.values_list("skill_label").annotate(n=Count("pk"))


@prepared
def _total_runs(skill: int, number: str) -> QuerySet[DailyRuns, int]:
    return _runs(DailyRuns.objects.totals(), skill, number)


@prepared
def _readable_runs(actor: Actor, skill: int, number: str) -> QuerySet[DailyRuns, int]:
    return _runs(DailyRuns.objects.readable_by(actor), skill, number)


@prepared
def _total_hosts(skill: int, number: str) -> QuerySet[DailyRuns, _HostRow]:
    return _different_hosts(DailyRuns.objects.totals(), skill, number)


@prepared
def _readable_hosts(actor: Actor, skill: int, number: str) -> QuerySet[DailyRuns, _HostRow]:
    return _different_hosts(DailyRuns.objects.readable_by(actor), skill, number)


def _runs(days: QuerySet[DailyRuns], skill: int, number: str) -> QuerySet[DailyRuns, Any]:
    of_version = days.filter(skill_id=skill, version_number=number)
    return aggregate_rows(of_version, number=Sum("runs")).values_list("number", flat=True)


def _different_hosts(days: QuerySet[DailyRuns], skill: int, number: str) -> QuerySet[DailyRuns, Any]:
    """Different ``hosts`` with their number of rows. Most days of most callers have none; the others are read
    from the index ``daily_runs_hosts``.
    """
    connected = days.filter(skill_id=skill, version_number=number).exclude(hosts={})
    return connected.order_by().values_list("hosts").annotate(Count("pk"))


def _hosts(rows: Iterable[_HostRow]) -> dict[str, list[int]]:
    total = dict[str, list[int]]()
    for hosts, times in rows:
        for host, (allowed, refused) in hosts.items():
            sums = total.setdefault(host, [0, 0])
            sums[0] += allowed * times
            sums[1] += refused * times
    return total


def _host_rows(declared: Iterable[str], hosts: Mapping[str, list[int]]) -> Iterator[ObservedAccess]:
    """Yields declared entries with their connections, then up to ``MAX_HOSTS`` hosts that no entry covers,
    most refused first.
    """
    left = dict(hosts)
    for text in dict.fromkeys(declared):
        covered = [host for host in left for entry in parse_allowlist([text]) if entry.covers(host)]
        sums = [left.pop(host) for host in covered]
        yield ObservedAccess("host", text, True, sum(pair[0] for pair in sums), sum(pair[1] for pair in sums))
    others = sorted(left.items(), key=lambda item: (-item[1][1], item[0]))
    for host, (allowed, refused) in others[:MAX_HOSTS]:
        yield ObservedAccess("host", host, False, allowed, refused)


def _rows(kind: str, declared: Iterable[str], used: Mapping[str, int]) -> Iterator[ObservedAccess]:
    names = dict.fromkeys(declared)
    for name in (*names, *sorted(used.keys() - names.keys())):
        yield ObservedAccess(kind, name, name in names, used.get(name, 0))
