"""The same call as a line for a shell."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from portal.showing.texts import json_text
from registry.addresses import absolute
from registry.matching import Request


def run_line(document: dict[str, Any], *, indent: int | None = 2) -> str:
    """curl for ``POST /api/v1/runs``."""
    return _line(document, "/api/v1/runs?wait=30", indent)


def match_line(request: Request) -> str:
    """curl for ``POST /api/v1/match``."""
    return _line({name: value for name, value in asdict(request).items() if value}, "/api/v1/match", 2)


def _line(document: dict[str, Any], path: str, indent: int | None) -> str:
    """The token stands in a variable, never in the line."""
    body = json_text(document, indent=indent).replace("'", "'\\''")
    return (
        'curl -sS -H "Authorization: Bearer $SKILLQUAY_TOKEN" -H "Content-Type: application/json" \\\n'
        f"  -d '{body}' \\\n  '{absolute(path)}'"
    )
