"""The site's state as the status page shows it."""

from __future__ import annotations

import platform
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import django
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from portal.presenters.enforcement import enforcement_rows
from worker.health.checks import SiteState
from worker.health.heartbeats import ProcessState
from worker.health.release import version

_LABELS: Mapping[str, str | Promise] = {
    "database": _("Database"),
    "storage": _("Storage"),
    "broker": _("Broker"),
    "disk": _("Disk space"),
    "reaper": _("Reaper"),
    "workers": _("Workers"),
    "queue": _("Queue"),
}


@dataclass(frozen=True)
class CheckRow:
    name: str
    label: str | Promise
    ok: bool
    detail: str
    cause: str


@dataclass(frozen=True)
class WorkerLimits:
    """What enforces the limits of runs on these workers; ``reason`` is set if they refuse runs."""

    workers: Sequence[str]
    tier: str
    reason: str
    rows: Sequence[tuple[str, str]]


def status_context(state: SiteState) -> dict[str, Any]:
    figures = state.figures
    processes = figures.processes if figures else ()
    return {
        "state": state,
        "checks": [
            CheckRow(
                each.name, _LABELS[each.name], each.ok, each.detail.translated(gettext), cause=each.cause
            )
            for each in state.checks
        ],
        "queue": figures.queue if figures else None,
        "processes": processes,
        "limits": _limits([each for each in processes if each.is_alive and each.details]),
        "version": version(),
        "versions": [
            ("Skillquay", version()),
            ("Python", platform.python_version()),
            ("Django", django.get_version()),
            *([(_("Database"), figures.database)] if figures else []),
            (_("Operating system"), f"{platform.system()} {platform.release()}"),
        ],
    }


def _limits(workers: Sequence[ProcessState]) -> list[WorkerLimits]:
    """One entry for all workers with the same tier and mechanisms."""
    groups: dict[tuple[Any, ...], list[ProcessState]] = defaultdict(list)
    for worker in workers:
        details = worker.details
        mechanisms = tuple(sorted(details.get("enforcement", {}).items()))
        groups[details.get("tier", ""), details.get("reason", ""), mechanisms].append(worker)
    return [
        WorkerLimits([each.name for each in group], tier, reason, enforcement_rows(group[0].details))
        for (tier, reason, _mechanisms), group in groups.items()
    ]
