"""Keeps the packs that clones with git download: many clients send the same request."""

from __future__ import annotations

import hashlib
import zlib

from portal.streaming.inner_request import App, Receive, Scope, Send, replay
from portal.streaming.kept.request import BODY_DIGEST
from registry.facades.git.kept import clone_request

ENDING = ".git/git-upload-pack"
MAX_BYTES = 8_192  # of a body; longer ones list commits that the client has
MAX_UNPACKED = 65_536  # of a compressed body


class ClonePacks:
    """Passes the requests of clones to ``kept`` with the digest of the body, and all others to ``app``. Must
    be called with a body that is complete.
    """

    def __init__(self, app: App, kept: App) -> None:
        self.app, self.kept = app, kept

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _may_be_clone(scope):
            return await self.app(scope, receive, send)
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        app, request = self.app, clone_request(_unpacked(body, scope))
        if request:
            app, scope = self.kept, {**scope, BODY_DIGEST: hashlib.sha256(request).digest()}
        return await app(scope, replay(body, receive), send)


def _may_be_clone(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] != "POST" or not scope["path"].endswith(ENDING):
        return False
    return 0 < int(dict(scope["headers"]).get(b"content-length", 0)) <= MAX_BYTES


def _unpacked(body: bytes, scope: Scope) -> bytes:
    """The body; empty if it is compressed in another way than gzip, too long, or damaged."""
    encoding = dict(scope["headers"]).get(b"content-encoding", b"")
    if not encoding:
        return body
    inflater = zlib.decompressobj(wbits=31)
    try:
        found = inflater.decompress(body, MAX_UNPACKED) if encoding == b"gzip" else b""
    except zlib.error:
        return b""
    return found if inflater.eof and not inflater.unused_data else b""
