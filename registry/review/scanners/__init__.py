"""Optional third-party scanners, which settings enable. Their findings never hold a version."""

import hashlib
import logging
from types import ModuleType

from registry.packages.package import Package
from registry.packages.scan.findings import ScanFinding
from registry.packages.scan.scan import rules_digest
from registry.review.scanners import cisco, yara

log = logging.getLogger(__name__)
MAX_FINDINGS = 100  # per scanner and package
_ADAPTERS = (cisco, yara)


def scan(package: Package) -> tuple[ScanFinding, ...]:
    """At most MAX_FINDINGS findings of each enabled scanner. A scan that fails is logged and skipped."""
    found: list[ScanFinding] = []
    for adapter in _ADAPTERS:
        if not _fingerprint(adapter):
            continue
        try:
            found += adapter.scan(package)[:MAX_FINDINGS]
        except Exception as error:  # third-party code may fail in any way and must not stop the scan
            log.warning("%s failed on %s: %s", adapter.__name__, package.manifest.slug, error)
    return tuple(found)


def digest() -> str:
    """A digest of the built-in rules and the enabled scanners. Scans with another digest are stale. Omits a
    scanner that fails, so that versions are scanned again once it works.
    """
    on = [fingerprint for adapter in _ADAPTERS if (fingerprint := _fingerprint(adapter))]
    if not on:
        return rules_digest()
    return "sha256:" + hashlib.sha256("\n".join((rules_digest(), *on)).encode()).hexdigest()[:32]


def _fingerprint(adapter: ModuleType) -> str:
    """The scanner's fingerprint; "" if the scanner is disabled or fails. Logs failures."""
    try:
        return str(adapter.fingerprint())
    except Exception as error:  # such as a missing command or unreadable rules
        log.warning("%s failed: %s", adapter.__name__, error)
        return ""
