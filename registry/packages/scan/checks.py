"""What a check is, what it has seen, and what becomes of that: a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from registry.packages.package import Package
from registry.packages.scan.text import Line, Text

Severity = Literal["low", "medium", "high", "critical"]
SEVERITIES: tuple[Severity, ...] = ("low", "medium", "high", "critical")
FLAGGED = ("medium", "high", "critical")


@dataclass(frozen=True)
class Seen:
    """A place that a check points at; ``certain`` where no honest package would hold it."""

    line: Line
    start: int
    end: int
    severity: Severity
    certain: bool = False
    quote: str = ""  # in place of the line's own words: keys are never quoted whole


@dataclass(frozen=True)
class Check:
    """``rule`` is its stable name; a text that holds none of its ``hints`` (in small letters) is spared."""

    rule: str
    why: str
    remedy: str
    look: Callable[[Text], Iterator[Seen]]
    hints: tuple[str, ...] = ()
    of_words: bool = False  # it reads what is said to an agent: quoted or fenced, that is only shown


@dataclass(frozen=True)
class FileCheck:
    """Looks at a package's bytes and names rather than at lines."""

    rule: str
    why: str
    remedy: str
    look: Callable[[Package], Iterator[Finding]]


@dataclass(frozen=True)
class Finding:
    """Evidence: ``certain`` holds a version until somebody has looked; all else only informs."""

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


def lower(severity: Severity, steps: int = 1) -> Severity:
    return SEVERITIES[max(0, SEVERITIES.index(severity) - steps)]
