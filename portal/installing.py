"""The lines that get a skill to where it is used, to be copied as they are."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from registry.addresses import absolute
from registry.models import Version, Visibility


@dataclass(frozen=True)
class Line:
    id: str
    label: str
    text: str


def lines_for(version: Version, example: dict[str, Any], *, runnable: bool) -> list[Line]:
    """Download and unpack; start a run. A public skill is downloaded without a token."""
    found = [Line("install-download", _("Download and unpack"), _download(version))]
    if runnable:
        found.append(Line("install-run", _("Start a run"), _run(version, example)))
    return found


def _download(version: Version) -> str:
    skill = version.skill
    archive = f"{skill.slug}-{version.number}.zip"
    address = absolute(f"/api/v1/skills/{skill}/versions/{version.number}/archive")
    token = "" if skill.seen_as == Visibility.PUBLIC else ' -H "Authorization: Bearer $SKILLQUAY_TOKEN"'
    folder = f".claude/skills/{skill.slug}"
    return f"curl -fsSL{token} -o {archive} {address}\nmkdir -p {folder} && unzip -o {archive} -d {folder}"


def _run(version: Version, example: dict[str, Any]) -> str:
    body = json.dumps({"skill": str(version.skill), "inputs": example}, ensure_ascii=False)
    quoted = body.replace("'", "'\\''")
    return (
        'curl -fsS -H "Authorization: Bearer $SKILLQUAY_TOKEN" -H "Content-Type: application/json" \\\n'
        f"  -d '{quoted}' {absolute('/api/v1/runs')}"
    )
