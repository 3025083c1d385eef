"""Scans a package: runs each check on the first 256 kB of each text file."""

import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from registry.packages.package import Package
from registry.packages.scan import downloads, files, hidden_instructions, invisible_characters, shells, theft
from registry.packages.scan.findings import (
    SEVERITIES,
    Check,
    CheckHit,
    FileCheck,
    ScanFinding,
    lower_severity,
)
from registry.packages.scan.text import ScannedText, is_about_security, quote, read_text

CHECKS: tuple[Check, ...] = (
    *downloads.CHECKS,
    *shells.CHECKS,
    *hidden_instructions.CHECKS,
    *invisible_characters.CHECKS,
    *theft.CHECKS,
)
FILE_CHECKS: tuple[FileCheck, ...] = files.CHECKS
ALL_CHECKS: tuple[Check | FileCheck, ...] = (*CHECKS, *FILE_CHECKS)
RULES = {check.rule: check for check in ALL_CHECKS}
_MAX_PER_CHECK = 10  # findings per check and file
_MAX_FINDINGS = 200  # findings per package


def scan(package: Package) -> tuple[ScanFinding, ...]:
    """At most 200 findings: certain ones first, then by severity. Deterministic for package and rules."""
    manifest = package.manifest
    about_security = is_about_security(
        f"{manifest.name} {manifest.description[:2000]} {' '.join(manifest.tags)}"
    )
    found = [finding for check in FILE_CHECKS for finding in check.look(package)]
    for file in files.texts_of(package)[0]:
        found += _scan_text(read_text(file.path, file.data, about_security=about_security))
    return tuple(sorted(found, key=lambda each: (*_worst(each), each.path, each.line or 0))[:_MAX_FINDINGS])


def _worst(each: ScanFinding | CheckHit) -> tuple[bool, int]:
    return not each.certain, -SEVERITIES.index(each.severity)


def _scan_text(text: ScannedText) -> Iterator[ScanFinding]:
    for check in CHECKS:
        if check.hints and not any(hint in text.lower_case for hint in check.hints):
            continue
        hits = sorted(check.look(text), key=_worst)
        reported: set[tuple[int, str]] = set()
        for each in hits[: _MAX_PER_CHECK * 2]:
            finding = _weigh(check, text, each)
            if (each.line.number, finding.quote) not in reported and len(reported) < _MAX_PER_CHECK:
                reported.add((each.line.number, finding.quote))
                yield finding


def _weigh(check: Check, text: ScannedText, hit: CheckHit) -> ScanFinding:
    """The finding for a hit. Quotes, comments and examples of harm are less severe and never certain."""
    line, severity, certain = hit.line, hit.severity, hit.certain
    is_example = check.is_instruction and (text.is_quoted(line) or text.is_fenced(line))
    if is_example or (text.is_prose and text.about_security) or text.describes_attacks(line):
        severity, certain = lower_severity(severity, 2 if text.is_prose else 1), False
    elif text.is_comment(line):
        severity, certain = lower_severity(severity, 1), False
    quoted = hit.quote or quote(line.text, hit.start, hit.end)
    return ScanFinding(check.rule, severity, certain, text.path, line.number, quoted)


@cache
def rules_digest() -> str:
    """A digest of all rules. Versions scanned with another digest are scanned again."""
    folder = Path(__file__).parent
    written = b"".join(path.read_bytes() for path in sorted(folder.glob("*.py")))
    return f"sha256:{hashlib.sha256(written).hexdigest()[:32]}"


def finding_document(each: ScanFinding, translate: Callable[[str], str]) -> dict[str, object]:
    """A finding as JSON for commands."""
    check = RULES[each.rule]
    return {
        "rule": each.rule,
        "severity": each.severity,
        "high_confidence": each.certain,
        "path": each.path,
        "line": each.line,
        "excerpt": each.quote,
        "message": translate(check.why),
        "remedy": translate(check.remedy),
    }
