"""Package → findings: each check over each file's first 256 kB; the worst first."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from registry.packages.package import Package
from registry.packages.scan import downloads, files, shells, theft, unseen, words
from registry.packages.scan.checks import SEVERITIES, Check, FileCheck, Finding, Seen, lower
from registry.packages.scan.text import Text, quote, read_text, says_security

CHECKS: tuple[Check, ...] = (*downloads.CHECKS, *shells.CHECKS, *words.CHECKS, *unseen.CHECKS, *theft.CHECKS)
FILE_CHECKS: tuple[FileCheck, ...] = files.CHECKS
ALL: tuple[Check | FileCheck, ...] = (*CHECKS, *FILE_CHECKS)
RULES = {check.rule: check for check in ALL}
_EACH = 10  # findings of one check in one file
_MOST = 200  # findings of one package


def scan(package: Package) -> tuple[Finding, ...]:
    """The same for the same package and rules."""
    manifest = package.manifest
    of_security = says_security(f"{manifest.name} {manifest.description[:2000]} {' '.join(manifest.tags)}")
    found = [finding for check in FILE_CHECKS for finding in check.look(package)]
    for file in files.texts_of(package)[0]:
        found += _in_text(read_text(file.path, file.data, of_security=of_security))
    return tuple(sorted(found, key=lambda one: (*_worst(one), one.path, one.line or 0))[:_MOST])


def _worst(one: Finding | Seen) -> tuple[bool, int]:
    return not one.certain, -SEVERITIES.index(one.severity)


def _in_text(text: Text) -> Iterator[Finding]:
    for check in CHECKS:
        if check.hints and not any(hint in text.lowered for hint in check.hints):
            continue
        seen = sorted(check.look(text), key=_worst)
        told: set[tuple[int, str]] = set()
        for one in seen[: _EACH * 2]:
            finding = _judged(check, text, one)
            if (one.line.number, finding.quote) not in told and len(told) < _EACH:
                told.add((one.line.number, finding.quote))
                yield finding


def _judged(check: Check, text: Text, seen: Seen) -> Finding:
    """What is quoted, or called an example of harm, is shown and holds nothing."""
    line, severity, certain = seen.line, seen.severity, seen.certain
    is_shown = check.of_words and (text.is_quoted(line) or text.is_fenced(line))
    if is_shown or (text.is_prose and text.of_security) or text.speaks_of_attacks(line):
        severity, certain = lower(severity, 2 if text.is_prose else 1), False
    elif text.is_comment(line):
        severity, certain = lower(severity, 1), False
    shown = seen.quote or quote(line.text, seen.start, seen.end)
    return Finding(check.rule, severity, certain, text.path, line.number, shown)


@cache
def rules_digest() -> str:
    """Changes when any rule does: versions that were scanned with another are scanned again."""
    folder = Path(__file__).parent
    written = b"".join(path.read_bytes() for path in sorted(folder.glob("*.py")))
    return f"sha256:{hashlib.sha256(written).hexdigest()[:32]}"


def finding_document(one: Finding, translate: Callable[[str], str]) -> dict[str, object]:
    """The JSON object of commands: what was seen, where, why it matters, how to clear it."""
    check = RULES[one.rule]
    return {
        "rule": one.rule,
        "severity": one.severity,
        "certain": one.certain,
        "path": one.path,
        "line": one.line,
        "quote": one.quote,
        "why": translate(check.why),
        "remedy": translate(check.remedy),
    }
