"""The access log: a line for each request, including requests that do not reach Django."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from portal.streaming.inner_request import App, Receive, Scope, Send

_log = logging.getLogger("skillquay.access")
SECRET_ROOTS = (
    "c",
    "join",
    "reset-password",
    "shared",
)  # the rest of these paths is a secret that gives access


class AccessLog:
    """Logs method, path, status, bytes and milliseconds of each request. Does not log query strings."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        began, status, size = time.perf_counter(), 0, 0

        async def count(message: Any) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
            elif message["type"] == "http.response.body":
                size += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, count)
        finally:
            fields = {
                "method": scope["method"],
                "path": logged_path(scope["path"]),
                "status": status,
                "bytes": size,
                "ms": round((time.perf_counter() - began) * 1000, 1),
                "client": (scope.get("client") or [""])[0],
            }
            _log.info(" ".join(f"{name}={value}" for name, value in fields.items()), extra=fields)
        return None


def logged_path(path: str) -> str:
    """The path with control characters escaped, without secrets that give access."""
    root, _, rest = path.lstrip("/").partition("/")
    shown = f"/{root}/…" if root in SECRET_ROOTS and rest else path
    return "".join(c if c.isprintable() and c != " " else f"%{ord(c):02X}" for c in shown)
