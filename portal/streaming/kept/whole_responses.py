"""Sends a response that is complete from the start.

uvicorn checks and joins the headers of each response, and writes its head and its body separately. For a kept
answer, this takes longer than all other work. So its head is joined once, and written with the body.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from portal.streaming.files.ranges import Headers
from portal.streaming.files.stored_files import STALL_TIMEOUT_S, UNHURRIED_BYTES
from portal.streaming.inner_request import Send

try:
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle
except ImportError:  # httptools has no build for this platform
    RequestResponseCycle = None  # type: ignore[assignment, misc]


class Head:
    """The status and the headers that all deliveries of an answer share. ``lines`` are their bytes."""

    __slots__ = ("headers", "is_complete", "is_compressed", "lines", "status")

    def __init__(self, status: int, headers: Headers) -> None:
        self.status, self.headers = status, headers
        self.lines = b"HTTP/1.1 %d %b\r\n" % (status, HTTPStatus(status).phrase.encode()) + _join(headers)
        names = {name for name, _ in headers}
        self.is_compressed = b"content-encoding" in names
        self.is_complete = status == 304 or b"content-length" in names  # otherwise uvicorn adds a header


async def send_whole(head: Head, own: Headers, body: bytes, send: Send) -> None:
    """Sends the response with the headers ``own`` besides those of the head."""
    cycle = getattr(send, "__self__", None)
    if type(cycle) is RequestResponseCycle and _is_ready(cycle, head, body):
        return _write(cycle, head, own, body)
    await send({"type": "http.response.start", "status": head.status, "headers": [*head.headers, *own]})
    if len(body) <= UNHURRIED_BYTES:
        return await send({"type": "http.response.body", "body": body})
    async with asyncio.timeout(STALL_TIMEOUT_S):
        return await send({"type": "http.response.body", "body": body})


def _is_ready(cycle: Any, head: Head, body: bytes) -> bool:
    """Whether the response can be written without waiting for the client and without changes by uvicorn.

    Middleware that changes or counts messages wraps ``send``, so its responses never come here.
    """
    return (
        head.is_complete
        and len(body) <= UNHURRIED_BYTES
        and cycle.keep_alive
        and not (cycle.response_started or cycle.disconnected or cycle.access_log or cycle.flow.write_paused)
    )


def _write(cycle: Any, head: Head, own: Headers, body: bytes) -> None:
    """Writes the response and leaves the cycle in the state in which its ``send`` leaves it."""
    cycle.response_started = cycle.response_complete = True
    cycle.waiting_for_100_continue = False
    cycle.transport.write(b"%b%b%b\r\n%b" % (head.lines, _join(cycle.default_headers), _join(own), body))
    cycle.message_event.set()
    cycle.on_response()


def _join(headers: Headers) -> bytes:
    return b"".join([b"%b: %b\r\n" % pair for pair in headers])
