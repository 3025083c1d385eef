"""Scanners that a site may add to its own rules: off unless a setting names them, never holding anything."""

from __future__ import annotations

import hashlib
import logging

from registry.adapters import cisco, yara
from registry.packages.package import Package
from registry.packages.scan.checks import Finding
from registry.packages.scan.scanning import rules_digest

log = logging.getLogger(__name__)
MOST = 100  # findings of one scanner in one package
_ADAPTERS = (cisco, yara)


def scan(package: Package) -> tuple[Finding, ...]:
    """What the site's scanners find; one that fails is logged and finds nothing."""
    found: list[Finding] = []
    for adapter in _ADAPTERS:
        if not adapter.fingerprint():
            continue
        try:
            found += adapter.scan(package)[:MOST]
        except Exception as error:  # whatever a program of others does: a scan adds, it never stops
            log.warning("%s failed on %s: %s", adapter.__name__, package.manifest.slug, error)
    return tuple(found)


def digest() -> str:
    """The digest of our rules and of the scanners that are on: a version scanned with another is stale."""
    on = [fingerprint for adapter in _ADAPTERS if (fingerprint := adapter.fingerprint())]
    if not on:
        return rules_digest()
    return "sha256:" + hashlib.sha256("\n".join((rules_digest(), *on)).encode()).hexdigest()[:32]
