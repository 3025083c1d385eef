"""``manage.py api`` as the tests call it."""

from __future__ import annotations

import io
import json
from contextlib import suppress
from typing import Any

from django.core.management import call_command


def api(method: str, path: str, body: Any = None, *options: str, by: str = "") -> tuple[int, Any]:
    """The exit status and the document printed (None without one); ``path`` may leave out /api/v1/."""
    address = path if path.startswith("/") else f"/api/v1/{path}"
    words = [method, address, *([] if body is None else [json.dumps(body)]), *options]
    out, status = io.StringIO(), 0
    try:
        call_command("api", *words, *(["--as", by] if by else []), stdout=out, stderr=io.StringIO())
    except SystemExit as ended:
        status = int(str(ended.code))
    return status, json.loads(out.getvalue() or "null")


def refusal(method: str, path: str, body: Any = None, *, by: str = "") -> str:
    """The code of the call's refusal, or an empty text where it was done."""
    status, document = api(method, path, body, by=by)
    assert status == ("code" in (document or {}))
    return str(document["code"]) if status else ""


def printed(*words: str) -> Any:
    """The document that a command prints with ``--json``, whatever its exit status."""
    out = io.StringIO()
    with suppress(SystemExit):
        call_command(*words, "--json", stdout=out)
    return json.loads(out.getvalue())
