"""Adapter for a site's YARA rules, the ``.yar`` files in SKILLQUAY_YARA_RULES. Requires yara-x."""

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from django.conf import settings

from registry.packages.package import Package, PackageFile
from registry.packages.scan.findings import ScanFinding
from registry.packages.scan.text import quote

_SECONDS = 10  # timeout per file


def fingerprint() -> str:
    """A text that changes when the rules change; "" if there are no rules."""
    rules = _sources()
    return f"yara {hashlib.sha256(repr(rules).encode()).hexdigest()}" if rules else ""


def scan(package: Package) -> list[ScanFinding]:
    scanner = import_module("yara_x").Scanner(_compile(_sources()))
    scanner.set_timeout(_SECONDS)
    return [found for file in package.files for found in _findings(file, scanner.scan(file.data))]


def _sources() -> tuple[str, ...]:
    folder = settings.SKILLQUAY_YARA_RULES
    files = sorted(Path(folder).glob("*.yar")) if folder else []
    return tuple(file.read_text() for file in files)


@lru_cache(maxsize=1)
def _compile(sources: tuple[str, ...]) -> Any:
    compiler = import_module("yara_x").Compiler()
    for source in sources:
        compiler.add_source(source)
    return compiler.build()


def _findings(file: PackageFile, results: Any) -> Iterator[ScanFinding]:
    for rule in results.matching_rules:
        at = min((match.offset for pattern in rule.patterns for match in pattern.matches), default=None)
        why = dict(rule.metadata).get("description", "")
        yield ScanFinding(
            rule=f"yara:{rule.identifier}"[:64],
            severity="medium",
            certain=False,
            path=file.path,
            line=None if at is None else file.data.count(b"\n", 0, at) + 1,
            quote="" if at is None else _quote(file.data, at),
            params={"why": str(why)[:300]},
        )


def _quote(data: bytes, at: int) -> str:
    start = data.rfind(b"\n", max(0, at - 80), at) + 1 or max(0, at - 80)
    end = data.find(b"\n", at, at + 160)
    return quote(data[start : end if end >= 0 else at + 160].decode("utf-8", "replace"), 0, 0)
