"""Scans a package with all checks. Checks of lines read the first 256 kB of each text file."""

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
from registry.packages.scan.text import ScannedText, quote, read_text

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
    """At most 200 findings: certain ones first, then by severity, path and line.

    The result depends only on the package and the rules. No text near a finding lowers it, because the author
    of malicious code writes that text too.
    """
    found = [finding for check in FILE_CHECKS for finding in check.look(package)]
    for file in files.texts_of(package)[0]:
        found += _scan_text(read_text(file.path, file.data))
    return tuple(sorted(found, key=lambda each: (*_worst(each), each.path, each.line or 0))[:_MAX_FINDINGS])


def _worst(each: ScanFinding) -> tuple[bool, int]:
    return not each.certain, -SEVERITIES.index(each.severity)


def _scan_text(text: ScannedText) -> Iterator[ScanFinding]:
    for check in _checks_for(text.lower_case):
        reported: set[tuple[int | None, str]] = set()
        for finding in sorted((_weigh(check, text, hit) for hit in check.look(text)), key=_worst):
            if (finding.line, finding.quote) not in reported and len(reported) < _MAX_PER_CHECK:
                reported.add((finding.line, finding.quote))
                yield finding


def _checks_for(lower_case: str) -> Iterator[Check]:
    """Yields the checks that have a hint in the text or no hints."""
    for check in CHECKS:
        if not check.hints:
            yield check
        for hint in check.hints:  # not any(): a generator costs a package of many files 20 ms
            if hint in lower_case:
                yield check
                break


def _weigh(check: Check, text: ScannedText, hit: CheckHit) -> ScanFinding:
    """The finding for a hit.

    Quoted and fenced instructions, and comments in code, are less severe and never certain.
    """
    line, severity, certain = hit.line, hit.severity, hit.certain
    if check.is_instruction and (text.is_quoted(line) or text.is_fenced(line)):
        severity, certain = lower_severity(severity, 2), False
    elif text.is_comment(line) and not check.counts_in_comments:
        severity, certain = lower_severity(severity, 1), False
    quoted = hit.quote or quote(line.text, hit.start, hit.end)
    return ScanFinding(check.rule, severity, certain, text.path, line.number, quoted)


@cache
def rules_digest() -> str:
    """A digest of the source files of all checks. Versions scanned with another digest are scanned again.

    A change of a docstring changes the digest too.
    """
    folder = Path(__file__).parent
    written = b"".join(path.read_bytes() for path in sorted(folder.glob("*.py")))
    return f"sha256:{hashlib.sha256(written).hexdigest()[:32]}"


def finding_document(each: ScanFinding, translate: Callable[[str], str]) -> dict[str, object]:
    """The finding as a JSON object for the output of commands, with translated message and remedy."""
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
