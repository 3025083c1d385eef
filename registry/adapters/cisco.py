"""``cisco-ai-skill-scanner`` as a command that SKILLQUAY_SKILL_SCANNER names; it gets no secrets of ours."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings

from registry.packages.package import Package
from registry.packages.repack import repack, unpack
from registry.packages.scan.checks import Finding, Severity
from registry.packages.scan.text import QUOTE, visible

_SECONDS = 120
_SEVERITIES: dict[str, Severity] = {"CRITICAL": "critical", "HIGH": "high", "MEDIUM": "medium"}


def fingerprint() -> str:
    """The command's path and time: another release is another scanner. "" where it is off."""
    command = settings.SKILLQUAY_SKILL_SCANNER
    return f"cisco {command} {os.stat(command).st_mtime_ns}" if command else ""


def scan(package: Package) -> list[Finding]:
    with tempfile.TemporaryDirectory(prefix="skillquay-scan-") as home:
        folder, report = Path(home) / package.manifest.slug, Path(home) / "report.json"
        unpack(repack(package.files), folder)
        command = [
            settings.SKILLQUAY_SKILL_SCANNER,
            "scan",
            str(folder),
            "--format",
            "json",
            "-o",
            str(report),
        ]
        environment = {"HOME": home, "PATH": os.environ.get("PATH", ""), "NO_COLOR": "1"}
        subprocess.run(command, env=environment, cwd=home, timeout=_SECONDS, capture_output=True, check=False)
        said = json.loads(report.read_bytes())
    return [_finding(one) for one in said.get("findings", ()) if str(one.get("severity")) in _SEVERITIES]


def _finding(one: dict[str, Any]) -> Finding:
    quote = str(one.get("snippet") or one.get("title") or "").strip()
    line = one.get("line_number")
    return Finding(
        rule=f"cisco:{one.get('rule_id') or '-'}"[:64],
        severity=_SEVERITIES[str(one["severity"])],
        certain=False,
        path=str(one.get("file_path") or "SKILL.md")[:500],
        line=line if isinstance(line, int) and line > 0 else None,
        quote=visible(quote.split("\n")[0])[:QUOTE],
        params={"why": visible(str(one.get("title") or one.get("description") or ""))[:300]},
    )
