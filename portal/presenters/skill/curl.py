"""API requests as curl commands."""

from dataclasses import asdict
from typing import Any

from portal.presenters.content.text import json_text
from registry.core.addresses import absolute_url
from registry.matching.match import MatchQuery


def run_line(document: dict[str, Any], *, indent: int | None = 2) -> str:
    """The curl command that sends ``document`` to ``POST /api/v1/runs`` and waits 30 s for the result."""
    return _line(document, "/api/v1/runs?wait=30", indent)


def match_line(request: MatchQuery) -> str:
    """The curl command for the request to ``POST /api/v1/match``, without empty fields."""
    return _line({name: value for name, value in asdict(request).items() if value}, "/api/v1/match", 2)


def _line(document: dict[str, Any], path: str, indent: int | None) -> str:
    """The curl command; the shell inserts the token from an environment variable."""
    body = json_text(document, indent=indent).replace("'", "'\\''")
    return (
        'curl -sS -H "Authorization: Bearer $SKILLQUAY_TOKEN" -H "Content-Type: application/json" \\\n'
        f"  -d '{body}' \\\n  '{absolute_url(path)}'"
    )
