"""Parses requests to a run's proxy: CONNECT to a host and port, or one plain request to an http:// URL."""

import asyncio
import re
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

from worker.sandbox.egress import allowed_hosts

_END = b"\r\n\r\n"
_HOST = re.compile(r"[a-z0-9._:-]{1,253}")
# Hop-by-hop headers, and headers that could hide a second request.
_DROPPED = frozenset(
    b"connection proxy-connection proxy-authorization proxy-authenticate keep-alive upgrade host".split()
)


class BadRequest(Exception):
    """Raised if the request is neither a valid CONNECT nor a valid plain request. The message gives the
    reason.
    """


@dataclass(frozen=True)
class ProxyRequest:
    """A request to the proxy. ``forwarded`` is the request head to send to the host; empty for CONNECT."""

    host: str
    port: int
    forwarded: bytes = b""


async def read_head(reader: asyncio.StreamReader) -> ProxyRequest:
    """Reads and parses a request head; raises BadRequest if it is invalid or too long for the reader.

    Raises IncompleteReadError if the script closes the connection first.
    """
    try:
        return parse_head(await reader.readuntil(_END))
    except asyncio.LimitOverrunError:
        raise BadRequest("the request head is too long") from None


def parse_head(head: bytes) -> ProxyRequest:
    first, *lines = head[: -len(_END)].split(b"\r\n")
    words = first.split(b" ")
    if len(words) != 3 or not words[2].startswith(b"HTTP/1.") or b"\n" in head.replace(b"\r\n", b""):
        raise BadRequest("it is not an HTTP/1.1 request")
    try:
        return _connect(words[1]) if words[0] == b"CONNECT" else _plain(words, lines)
    except (ValueError, UnicodeError):
        raise BadRequest("its address is invalid") from None


def _connect(target: bytes) -> ProxyRequest:
    parts = urlsplit("//" + target.decode("ascii"))
    if parts.path or parts.query or "@" in parts.netloc or not parts.hostname or not parts.port:
        raise ValueError(target)
    return ProxyRequest(_host(parts.hostname), parts.port)


def _plain(words: list[bytes], lines: list[bytes]) -> ProxyRequest:
    parts = urlsplit(words[1].decode("ascii"))
    if parts.scheme != "http" or "@" in parts.netloc or not parts.hostname:
        raise ValueError(words[1])
    path = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
    headers = [line for line in lines if line.partition(b":")[0].strip().lower() not in _DROPPED]
    start = b" ".join([words[0], path.encode(), b"HTTP/1.1"])
    head = [start, b"Host: " + parts.netloc.encode(), *headers, b"Connection: close"]
    return ProxyRequest(_host(parts.hostname), parts.port or 80, b"\r\n".join(head) + _END)


def _host(text: str) -> str:
    """The normalized host; raises ValueError for characters that resolvers, logs or pages could misread."""
    host = allowed_hosts.normalize_host(text)
    if not _HOST.fullmatch(host):
        raise ValueError(text)
    return host


def refusal_response(status: int, code: str, detail: str) -> bytes:
    """An HTTP response with error code and detail as text, so that they appear in the script's own error."""
    body = f"{code}: {detail}\n".encode()
    phrase = HTTPStatus(status).phrase
    head = f"HTTP/1.1 {status} {phrase}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + f"X-Skillquay-Refused: {code}\r\nConnection: close\r\n\r\n".encode() + body
