"""Examines this machine: every tier it has, every attack, live."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from registry.packages.problems import gettext_noop
from worker.sandbox import runtimes
from worker.sandbox.attacks import tried
from worker.sandbox.attacks.proxied import PROXIED
from worker.sandbox.site import Site
from worker.sandbox.tiers import usable_tiers

_NO_NETWORK = gettext_noop("Runs have no network at all in this tier, so there is no proxy to attack.")
Say = Callable[[str, int], None]
"""Called before each tier with its name and how many tiers are done."""


def examine(site: Site | None = None, say: Say | None = None) -> dict[str, Any]:
    """``{tiers: [{name, usable, reason, fix, checks: [{attack, passed, detail}], not_tried}], missing}``."""
    site = site or Site()
    documents = []
    for done, report in enumerate(usable_tiers(site)):
        if say:
            say(report.name, done)
        checks = [asdict(check) for check in tried.all_attacks(report.name, site)] if report.usable else []
        untried = [] if not report.usable or tried.has_network(report.name) else list(PROXIED)
        not_tried = [{"attack": attack, "reason": _NO_NETWORK} for attack in untried]
        documents.append(asdict(report) | {"checks": checks, "not_tried": not_tried})
    return {"tiers": documents, "missing": runtimes.missing()}


def sound(document: dict[str, Any]) -> bool:
    """At least one tier is usable, and every attack on the usable ones was stopped."""
    usable = [tier for tier in document["tiers"] if tier["usable"]]
    return bool(usable) and all(check["passed"] for tier in usable for check in tier["checks"])
