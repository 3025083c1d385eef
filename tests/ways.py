"""The ways to use Skillquay: its pages, its API, and ``manage.py api``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.factories.trees import zip_tree
from tests.pages import parts
from tests.shell import api, printed

WAYS = ("page", "api", "command")
CHECK_WAYS = (*WAYS, "check_package")
Call = Callable[..., Any]


def caller(way: str, client: Client, *, by: str = "alice") -> Call:
    """``call(method, path, body)``: the document that the API answers to the signed-in client, or to
    ``manage.py api --as``.
    """
    return lambda method, path, body=None: (
        api(method, path, body, by=by)[1] if way == "command" else _over_http(client, method, path, body)
    )


def _over_http(client: Client, method: str, path: str, body: Any) -> Any:
    data, kind = ("", "") if body is None else (json.dumps(body), "application/json")
    answer = client.generic(method, f"/api/v1/{path}", data, kind or "application/octet-stream")
    return json.loads(answer.content or "null")


def check_files(way: str, client: Client, files: dict[str, str], folder: Path) -> list[tuple[str, str, str]]:
    """Code, path and line of each problem of the package, which is checked and not published."""
    archive = folder / "package.zip"
    archive.write_bytes(zip_tree(files))
    if way == "page":
        content = SimpleUploadedFile(archive.name, archive.read_bytes())
        page = client.post("/publish/", {"team": "docs", "check": "1", "archive": content})
        return [(one["code"], one["path"], one["line"]) for one in parts(page, "problem")]
    if way == "check_package":
        problems = printed("check_package", str(archive))["packages"][0]["problems"]
    elif way == "command":
        words = ("--file", f"package={archive}", "--as", "alice")
        problems = api("POST", "packages?team=docs&dry_run=1", None, *words)[1]["problems"]
    else:
        address = "/api/v1/packages?team=docs&dry_run=1"
        problems = client.post(address, archive.read_bytes(), "application/zip").json()["problems"]
    return [(one["code"], one["path"], str(one["line"] or "")) for one in problems]
