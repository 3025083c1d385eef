"""Adapter for ``cisco-ai-skill-scanner``. Runs the command SKILLQUAY_SKILL_SCANNER in a clean environment."""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings

from registry.packages.archive.repack import repack, unpack
from registry.packages.package import Package
from registry.packages.scan.findings import ScanFinding, Severity
from registry.packages.scan.text import MAX_QUOTE, visible

_SECONDS = 120
_SEVERITIES: dict[str, Severity] = {"CRITICAL": "critical", "HIGH": "high", "MEDIUM": "medium"}


def fingerprint() -> str:
    """The command's path and modification time, so that an update changes the value; "" if disabled. Raises
    OSError if the command does not exist.
    """
    command = settings.SKILLQUAY_SKILL_SCANNER
    return f"cisco {command} {os.stat(command).st_mtime_ns}" if command else ""


def scan(package: Package) -> list[ScanFinding]:
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
        report_json = json.loads(report.read_bytes())
    return [
        _finding(item) for item in report_json.get("findings", ()) if str(item.get("severity")) in _SEVERITIES
    ]


def _finding(item: dict[str, Any]) -> ScanFinding:
    quote = str(item.get("snippet") or item.get("title") or "").strip()
    line = item.get("line_number")
    return ScanFinding(
        rule=f"cisco:{item.get('rule_id') or '-'}"[:64],
        severity=_SEVERITIES[str(item["severity"])],
        certain=False,
        path=str(item.get("file_path") or "SKILL.md")[:500],
        line=line if isinstance(line, int) and line > 0 else None,
        quote=visible(quote.split("\n")[0])[:MAX_QUOTE],
        params={"why": visible(str(item.get("title") or item.get("description") or ""))[:300]},
    )
