"""The ASGI application: Django behind a WSGI bridge, with middleware for long waits, streams and request
bodies.

The middleware checks permissions by sending Django a request with the client's credentials. The middleware
occupies no web thread while it waits or streams.
"""

from __future__ import annotations

import gc
from importlib import import_module
from random import getrandbits
from typing import TYPE_CHECKING, cast
from urllib.parse import quote_from_bytes

from portal.wsgi import application as django_application  # sets up Django for the imports below

# isort: split
from django.conf import settings

from portal.errors import OVERLOADED
from portal.health import http_metrics
from portal.health.endpoints import HealthEndpoints
from portal.streaming.access_log import AccessLog
from portal.streaming.bridge import WsgiBridge
from portal.streaming.changes.middleware import ChangesMiddleware
from portal.streaming.events import EventMiddleware
from portal.streaming.files.middleware import FileMiddleware, defer_file_sending
from portal.streaming.install_links.middleware import InstallLinks
from portal.streaming.kept.clones import ClonePacks
from portal.streaming.kept.middleware import KeptAnswers
from portal.streaming.lifespan import run_lifespan
from portal.streaming.mcp import McpMiddleware
from portal.streaming.refusals import refusal_response
from portal.streaming.spooled_bodies import BodyMiddleware
from portal.streaming.waiting import WaitMiddleware
from registry import log_context
from registry.api.middleware import is_request_id

if TYPE_CHECKING:
    from portal.streaming.inner_request import App, Receive, Scope, Send

WEB_THREADS = 2  # more threads would only compete for the interpreter lock
_RETRY_AFTER_S = 2
_REQUEST_ID = b"x-request-id"
_REQUEST_ID_BITS = 104  # of a new id, which is no secret
_QUERY_SAFE = "".join(chr(c) for c in range(33, 127))


class Application:
    app: App

    def __init__(self) -> None:
        django = WsgiBridge(
            defer_file_sending(django_application),
            workers=WEB_THREADS,
            max_queue_s=settings.SKILLQUAY_MAX_QUEUE_SECONDS,
            overloaded=_refuse,
        )
        waiting = WaitMiddleware(McpMiddleware(FileMiddleware(cast("App", django))))
        app = ChangesMiddleware(EventMiddleware(waiting))
        inner = HealthEndpoints(app)
        front = _keep_answers(inner, django) if settings.SKILLQUAY_KEEP_ANSWERS else BodyMiddleware(inner)
        self.app = InstallLinks(front)
        if settings.SKILLQUAY_ACCESS_LOG:
            self.app = AccessLog(self.app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await run_lifespan(receive, send)
        if scope["type"] == "http" and scope["query_string"]:
            # The bridge accepts only ASCII, but a client may send raw bytes.
            scope["query_string"] = quote_from_bytes(scope["query_string"], safe=_QUERY_SAFE).encode()
        with log_context.bind("request", _set_request_id(scope)):
            await self.app(scope, receive, send)
        return None


def _keep_answers(app: App, django: WsgiBridge) -> App:
    """Keeps answers to reads, and to the requests of clones, whose bodies must be complete first."""
    packs = KeptAnswers(app, django.run, http_metrics.count_request)
    reads = KeptAnswers(BodyMiddleware(ClonePacks(app, packs)), django.run, http_metrics.count_request)
    packs.answers = reads.answers  # one limit of memory; the keys of packs contain the digest of the body
    return reads


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    await refusal_response(scope, OVERLOADED.refusal(retry_after_s=_RETRY_AFTER_S)).relay(send)


def _set_request_id(scope: Scope) -> str:
    """Returns the request's id: the client's if valid, otherwise a new one, which replaces the header."""
    headers = scope.get("headers", [])
    sent: list[bytes] = [value for name, value in headers if name == _REQUEST_ID]
    if sent and is_request_id(uid := sent[0].decode("latin-1")):
        return uid
    uid = f"{getrandbits(_REQUEST_ID_BITS):026x}"
    others = [pair for pair in headers if pair[0] != _REQUEST_ID] if sent else headers
    scope["headers"] = [*others, (_REQUEST_ID, uid.encode())]
    return uid


application = Application()
import_module("portal.urls")  # loads every page before gc.freeze()
gc.collect()
gc.freeze()  # excludes these objects from garbage collection, which took a fifth of a match request
