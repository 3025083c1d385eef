"""Tries the doctor's attacks in every usable tier of this machine and reports the results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from registry.packages.problems import gettext_noop
from worker.sandbox import runtimes
from worker.sandbox.doctor.attacks import arena
from worker.sandbox.site_settings import SandboxSettings
from worker.sandbox.tiers.available import default_enforcement, usable_tiers

_REPORT_FIELDS = ("name", "usable", "reason", "fix", "scratch_reason")
_NO_NETWORK = gettext_noop(
    "At this isolation tier, runs have neither network access nor a network proxy, so this attack "
    "can't be tried."
)
OnTier = Callable[[str, int], object]
"""Called before each tier with its name and the number of tiers done."""


def examine_tiers(site: SandboxSettings | None = None, on_tier: OnTier | None = None) -> dict[str, Any]:
    """Tries every attack and returns a report; takes a few seconds per usable tier.

    The report is ``{tiers: [{name, usable, reason, fix, scratch_reason, enforcement, checks, not_tried}],
    missing}``. ``enforcement`` maps each limit to its mechanism, ``checks`` are ``{attack, passed, detail}``,
    ``not_tried`` are ``{attack, reason}``, and ``missing`` maps runtimes to remedies.
    """
    site = site or SandboxSettings()
    tiers = []
    for done, report in enumerate(usable_tiers(site)):
        if on_tier:
            on_tier(report.name, done)
        checks = [asdict(check) for check in arena.all_attacks(report.name, site)] if report.usable else []
        untried = [] if not report.usable or arena.has_network(report.name) else arena.proxy_attacks()
        not_tried = [{"attack": attack, "reason": _NO_NETWORK} for attack in untried]
        held = default_enforcement(report.name, site) if report.usable else {}
        fields = {name: getattr(report, name) for name in _REPORT_FIELDS}
        tiers.append(fields | {"enforcement": held, "checks": checks, "not_tried": not_tried})
    return {"tiers": tiers, "missing": runtimes.missing_runtimes()}


def is_sound(document: dict[str, Any]) -> bool:
    """Whether at least one tier is usable and every attack in usable tiers was stopped.

    ``document`` is a report of ``examine_tiers``.
    """
    usable = [tier for tier in document["tiers"] if tier["usable"]]
    return bool(usable) and all(check["passed"] for tier in usable for check in tier["checks"])
