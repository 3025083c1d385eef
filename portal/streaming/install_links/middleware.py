"""Turns install links into requests with a credential: ``/c/SECRET/handbook/pdf.git/…`` becomes
``/handbook/pdf.git/…`` with ``Authorization: Link SECRET``, for clients that send no header.
"""

from __future__ import annotations

import re

from portal.streaming.inner_request import App, Message, Receive, Scope, Send
from portal.streaming.refusals import refusal_response
from registry.install_links.errors import INSTALL_LINK_INVALID
from registry.install_links.links import ROOT

_LINK = re.compile(rf"/{ROOT}/([^/]*)(/.*)")
# Protocols of clients. Pages and the API are not available below a link.
_SERVED = re.compile(r".*/\.well-known/.*|.*\.git/.*|.*/marketplace\.json|/npm/.*")
_CREDENTIALS = (b"authorization", b"cookie", b"x-api-key")
_REPLACED = (b"cache-control", b"referrer-policy", b"x-robots-tag")
_HEADERS = [
    (b"cache-control", b"private, no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-robots-tag", b"noindex, nofollow, noarchive"),
]


class InstallLinks:
    """Passes requests below a link on without the link, and keeps the answers out of caches and search
    engines.
    """

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(f"/{ROOT}/"):
            return await self.app(scope, receive, send)

        async def send_private(message: Message) -> None:
            if message["type"] == "http.response.start":
                others = [pair for pair in message["headers"] if pair[0].lower() not in _REPLACED]
                message = {**message, "headers": [*others, *_HEADERS]}
            await send(message)

        found = _LINK.fullmatch(scope["path"])
        if found is None or not _SERVED.fullmatch(found[2]) or not found[1].isascii():
            return await refusal_response(scope, INSTALL_LINK_INVALID.refusal()).relay(send_private)
        return await self.app(_inner_scope(scope, found[1], found[2]), receive, send_private)


def _inner_scope(scope: Scope, secret: str, path: str) -> Scope:
    headers = [pair for pair in scope["headers"] if pair[0] not in _CREDENTIALS]
    credential = (b"authorization", f"Link {secret}".encode())
    return {**scope, "path": path, "raw_path": path.encode(), "headers": [*headers, credential]}
