"""The same call as a line for a shell."""

from __future__ import annotations

from typing import Any

from portal.showing.texts import json_text
from registry.addresses import absolute


def run_line(document: dict[str, Any], *, indent: int | None = 2) -> str:
    """curl for ``POST /api/v1/runs``; the token stands in a variable, never in the line."""
    body = json_text(document, indent=indent).replace("'", "'\\''")
    return (
        'curl -sS -H "Authorization: Bearer $SKILLQUAY_TOKEN" -H "Content-Type: application/json" \\\n'
        f"  -d '{body}' \\\n  '{absolute('/api/v1/runs?wait=30')}'"
    )
