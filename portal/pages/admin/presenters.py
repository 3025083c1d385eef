"""Presents the site's state and the results of attack tests."""

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
    "reaper": _("Reaper (schedules and cleanup)"),
    "workers": _("Workers"),
    "queue": _("Queue"),
}

_TIERS: Mapping[str, Promise] = {
    "bwrap": _("Bubblewrap: runs have their own file system, processes and network."),
    "nsrun": _("Linux namespaces: runs have their own file system, processes and network."),
    "landlock": _("Landlock: runs use the host's file system, and rules restrict what they can access."),
    "unsafe": _("None: scripts can access everything that the worker can access."),
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
    """The mechanisms that enforce the limits of runs on ``workers``.

    ``reason`` is the reason why these workers refuse runs; "" if they accept them.
    """

    workers: Sequence[str]
    tier: str
    reason: str
    rows: Sequence[tuple[str, str]]

    @property
    def about(self) -> str | Promise:
        return _TIERS.get(self.tier, "")


@dataclass(frozen=True)
class Attack:
    """One attack test. ``state`` is ``stopped``, ``passed-through`` or ``not-tried``."""

    attack: str
    state: str
    detail: str


@dataclass(frozen=True)
class TestedTier:
    """A sandbox tier with two lists of attacks: those that were not stopped, and all others."""

    name: str
    usable: bool
    reason: str
    fix: str
    passed_through: Sequence[Attack]
    others: Sequence[Attack]

    @property
    def stopped(self) -> int:
        return sum(attack.state == "stopped" for attack in self.others)

    @property
    def total(self) -> int:
        """The number of attacks that were tried."""
        return self.stopped + len(self.passed_through)


@dataclass(frozen=True)
class AttackResults:
    tiers: Sequence[TestedTier]

    @property
    def stopped(self) -> int:
        return sum(tier.stopped for tier in self.tiers)

    @property
    def total(self) -> int:
        return sum(tier.total for tier in self.tiers)

    @property
    def all_stopped(self) -> bool:
        return 0 < self.total == self.stopped


def attack_results(document: Mapping[str, Any] | None) -> AttackResults | None:
    """The results in a stored report of attack tests; None if there is no report."""
    return AttackResults([_tier(tier) for tier in document["tiers"]]) if document else None


def _tier(tier: Mapping[str, Any]) -> TestedTier:
    tried = [
        Attack(check["attack"], "stopped" if check["passed"] else "passed-through", check["detail"])
        for check in tier["checks"]
    ]
    untried = [Attack(skipped["attack"], "not-tried", skipped["reason"]) for skipped in tier["not_tried"]]
    return TestedTier(
        tier["name"],
        tier["usable"],
        tier["reason"],
        tier["fix"],
        passed_through=[attack for attack in tried if attack.state == "passed-through"],
        others=[*(attack for attack in tried if attack.state == "stopped"), *untried],
    )


def status_context(state: SiteState) -> dict[str, Any]:
    figures = state.figures
    processes = figures.processes if figures else ()
    return {
        "state": state,
        "checks": [
            CheckRow(
                each.name, _LABELS[each.name], each.ok, each.detail.translated(gettext), cause=each.cause
            )
            for each in sorted(state.checks, key=lambda check: check.ok)
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
    """One ``WorkerLimits`` for each group of workers with the same tier, reason and mechanisms."""
    groups: dict[tuple[Any, ...], list[ProcessState]] = defaultdict(list)
    for worker in workers:
        details = worker.details
        mechanisms = tuple(sorted(details.get("enforcement", {}).items()))
        groups[details.get("tier", ""), details.get("reason", ""), mechanisms].append(worker)
    return [
        WorkerLimits([each.name for each in group], tier, reason, enforcement_rows(group[0].details))
        for (tier, reason, _mechanisms), group in groups.items()
    ]
