"""``manage.py scan_package PATH…``: what the scan finds, without a database."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.utils.translation import gettext

from registry.limits import package_limits
from registry.packages.paths import shown
from registry.packages.problems import Problem, Refused
from registry.packages.reading import read_path
from registry.packages.repack import digest_of, repack
from registry.packages.scan.checks import Finding
from registry.packages.scan.scanning import finding_document, scan


@dataclass(frozen=True)
class Scanned:
    """One path's outcome; with problems where it could not be read."""

    path: str
    digest: str | None
    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        return not self.problems and not any(one.certain for one in self.findings)


class Command(BaseCommand):
    help = "Scan packages for evidence of harm. Exit status 1: one would be held, or cannot be read."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", metavar="PATH")
        parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")

    def handle(self, *args: Any, **options: Any) -> None:
        scanned = [scan_path(path) for path in options["paths"]]
        ok = all(one.ok for one in scanned)
        if options["json"]:
            document = {"ok": ok, "packages": [_document(one) for one in scanned]}
            self.stdout.write(json.dumps(document, ensure_ascii=False, indent=2))
        else:
            for one in scanned:
                self._describe(one)
        if not ok:
            raise SystemExit(1)

    def _describe(self, scanned: Scanned) -> None:
        count = len(scanned.findings)
        self.stdout.write(
            f"{shown(scanned.path)}: {'unreadable' if scanned.problems else f'{count} findings'}"
        )
        for found in scanned.problems:
            self.stdout.write(f"  {found.code} {shown(found.message(gettext), 1000)}")
        for one in scanned.findings:
            self.stdout.write(f"  {finding_line(one)}")


def finding_line(one: Finding) -> str:
    place = f"{one.path}:{one.line}" if one.line else one.path
    return f"{one.severity}{' certain' if one.certain else ''} {one.rule} {shown(place)}  {one.quote}"


def scan_path(path: str) -> Scanned:
    """Reads and scans one path; what cannot be read is a problem of its row."""
    try:
        package = read_path(Path(path), limits=package_limits())
    except Refused as refused:
        return Scanned(path, None, (), refused.problems)
    return Scanned(path, digest_of(repack(package.files)), scan(package), ())


def _document(scanned: Scanned) -> dict[str, object]:
    return {
        "path": scanned.path,
        "ok": scanned.ok,
        "digest": scanned.digest,
        "flagged": any(one.is_flagged for one in scanned.findings),
        "held": any(one.certain for one in scanned.findings),
        "findings": [finding_document(one, gettext) for one in scanned.findings],
        "problems": [found.document(gettext) for found in scanned.problems],
    }
