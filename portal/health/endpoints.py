"""Answers ``/-/live``, ``/-/ready`` and ``/metrics`` without Django, because all of its threads may be
busy.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.utils import translation
from prometheus_client import CONTENT_TYPE_LATEST

from portal.errors import CHECK_UNKNOWN, METRICS_DENIED
from portal.health.site_metrics import metrics_text
from portal.streaming.inner_request import App, AppResponse, Receive, Scope, Send
from registry.api.error_response import response_for
from registry.packages.problems import Refusal
from worker.health.checks import NAMES, read_state
from worker.health.status import ready_document

FRESH_S = 1.0  # how long requests share one answer
_FORWARDED = frozenset({b"forwarded", b"via", b"x-forwarded-for", b"x-real-ip"})


class HealthEndpoints:
    """Answers GET and HEAD of the three paths; passes all other requests to ``app``."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.state = _Shared(read_state)
        self.metrics = _Shared(lambda: metrics_text(read_state()))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoints = {"/-/live": self._live, "/-/ready": self._ready, "/metrics": self._metrics}
        endpoint = endpoints.get(scope["path"]) if scope["type"] == "http" else None
        if endpoint is None or scope["method"] not in ("GET", "HEAD"):
            return await self.app(scope, receive, send)
        try:
            response = await endpoint(scope)
        except Refusal as refused:
            response = _refusal_response(scope, refused)
        length = str(len(response.body)).encode()
        response.headers += [
            (b"content-length", length),
            (b"cache-control", b"no-store"),
            (b"x-request-id", _request_id(scope)),
        ]
        if scope["method"] == "HEAD":
            response.body = b""
        return await response.relay(send)

    async def _live(self, scope: Scope) -> AppResponse:
        return _json_response({"ok": True})

    async def _ready(self, scope: Scope) -> AppResponse:
        names = parse_qs(scope["query_string"].decode("latin-1")).get("check", [])
        for name in names:
            if name not in NAMES:
                raise CHECK_UNKNOWN.refusal(name=name[:40], known=tuple(NAMES))
        document = ready_document(await self.state.latest(), names)
        return _json_response(document, 200 if document["ok"] else 503)

    async def _metrics(self, scope: Scope) -> AppResponse:
        if not _may_read_metrics(scope):
            raise METRICS_DENIED.refusal()
        headers = [(b"content-type", CONTENT_TYPE_LATEST.encode())]
        return AppResponse(200, headers, await self.metrics.latest())


class _Shared:
    """Caches the value of a slow function for about a second; never calls it twice at the same time."""

    def __init__(self, read: Callable[[], Any]) -> None:
        self.read = read
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="health")
        self.call: asyncio.Future[Any] | None = None
        self.started = 0.0

    async def latest(self) -> Any:
        now = time.monotonic()
        if self.call is None or (self.call.done() and now - self.started > FRESH_S):
            self.started = now
            self.call = asyncio.get_running_loop().run_in_executor(self.thread, self.read)
        return await asyncio.shield(self.call)


def _may_read_metrics(scope: Scope) -> bool:
    """Whether the request has the token SKILLQUAY_METRICS_TOKEN or, if that is unset, comes from this machine
    without a proxy.
    """
    headers = scope["headers"]
    if token := settings.SKILLQUAY_METRICS_TOKEN:
        sent = next((value for name, value in headers if name == b"authorization"), b"")
        return hmac.compare_digest(sent, b"Bearer " + token.encode())
    host = (scope.get("client") or ("",))[0]
    try:
        is_here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_here = False
    return is_here and not any(name in _FORWARDED for name, _value in headers)


def _json_response(document: object, status: int = 200) -> AppResponse:
    return AppResponse(status, [(b"content-type", b"application/json")], json.dumps(document).encode())


def _refusal_response(scope: Scope, refused: Refusal) -> AppResponse:
    request = ASGIRequest(scope, BytesIO())
    with translation.override(translation.get_language_from_request(request)):
        response = response_for(refused, request)
    kept = ("Content-Type", "WWW-Authenticate")
    headers = [(name.lower().encode(), response[name].encode()) for name in kept if name in response]
    return AppResponse(response.status_code, headers, response.content)


def _request_id(scope: Scope) -> bytes:
    return next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
