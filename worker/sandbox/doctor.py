"""Examines this machine: every tier it has, every attack, live."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from registry.packages.problems import gettext_noop
from worker.sandbox import runtimes
from worker.sandbox.attacks import tried
from worker.sandbox.site import TIERS, Site
from worker.sandbox.tiers import usable_tiers

_NOT_BUILT = gettext_noop("This tier is not built yet.")
_NO_ALLOWLIST = gettext_noop("Runs have no network at all in this version, so there is no proxy to attack.")
_NOT_TRIED = (
    "bypass the proxy",
    "rebinding",
    "address literals through the proxy",
    "other ports of an allowed host",
)


def examine(site: Site | None = None) -> dict[str, Any]:
    """``{tiers: [{name, usable, reason, fix, checks: [{attack, passed, detail}], not_tried}], missing}``."""
    site = site or Site()
    reports = {report.name: report for report in usable_tiers(site)}
    documents = []
    for tier in TIERS:
        report = reports[tier]
        checks = [asdict(check) for check in tried.all_attacks(tier, site)] if report.usable else []
        documents.append(asdict(report) | {"checks": checks, "not_tried": _not_tried(report.usable)})
    documents.append(
        {"name": "landlock", "usable": False, "reason": _NOT_BUILT, "fix": "", "checks": [], "not_tried": []}
    )
    return {"tiers": documents, "missing": runtimes.missing()}


def sound(document: dict[str, Any]) -> bool:
    """At least one tier is usable, and every attack on the usable ones was stopped."""
    usable = [tier for tier in document["tiers"] if tier["usable"]]
    return bool(usable) and all(check["passed"] for tier in usable for check in tier["checks"])


def _not_tried(usable: bool) -> list[dict[str, str]]:
    return [{"attack": attack, "reason": _NO_ALLOWLIST} for attack in _NOT_TRIED] if usable else []
