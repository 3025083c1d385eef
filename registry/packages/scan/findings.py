"""The types of a scan: checks, their hits, and findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from registry.packages.package import Package
from registry.packages.scan.text import ScannedText, SourceLine

Severity = Literal["low", "medium", "high", "critical"]
SEVERITIES: tuple[Severity, ...] = ("low", "medium", "high", "critical")
FLAGGED = ("medium", "high", "critical")


@dataclass(frozen=True)
class CheckHit:
    """A match of a check, from ``start`` to ``end`` in the text of ``line``.

    ``certain`` is set if no honest package would contain it.
    """

    line: SourceLine
    start: int
    end: int
    severity: Severity
    certain: bool = False
    quote: str = ""  # used instead of the line, because keys are never quoted in full


@dataclass(frozen=True)
class Check:
    """A check of the lines of a text. Its findings have the same ``rule``.

    If ``hints`` is not empty, texts without any of these lower-case strings are skipped.
    """

    rule: str
    why: str
    remedy: str
    look: Callable[[ScannedText], Iterator[CheckHit]]
    hints: tuple[str, ...] = ()
    # True for instructions to an agent: they count as examples if quoted or in a code fence.
    is_instruction: bool = False
    # True if the finding is harmful in a comment of a script too, because comments are read.
    counts_in_comments: bool = False


@dataclass(frozen=True)
class FileCheck:
    """A check of whole files rather than lines. Its findings have the same ``rule``."""

    rule: str
    why: str
    remedy: str
    look: Callable[[Package], Iterator[ScanFinding]]


@dataclass(frozen=True)
class ScanFinding:
    """Evidence of harm. A ``certain`` finding holds the version until a review; others only inform."""

    rule: str
    severity: Severity
    certain: bool
    path: str
    line: int | None
    quote: str
    params: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_flagged(self) -> bool:
        return self.severity in FLAGGED


def lower_severity(severity: Severity, steps: int = 1) -> Severity:
    return SEVERITIES[max(0, SEVERITIES.index(severity) - steps)]
