"""What a script asks of its proxy: CONNECT to a host and port, or one plain request to an http:// address."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

from worker.sandbox import hosts

_END = b"\r\n\r\n"
_HOST = re.compile(r"[a-z0-9._:-]{1,253}")
# Of one hop alone, or what would let a second request follow the first unseen.
_DROPPED = frozenset(
    b"connection proxy-connection proxy-authorization proxy-authenticate keep-alive upgrade host".split()
)


class BadRequest(Exception):
    """It is none of the two; the text says what is wrong."""


@dataclass(frozen=True)
class Asked:
    """``forwarded`` is the head to send on where it is a plain request, empty for CONNECT."""

    host: str
    port: int
    forwarded: bytes = b""


async def read_head(reader: asyncio.StreamReader) -> Asked:
    """Reads up to the empty line; a head beyond the reader's limit is refused, whatever follows."""
    try:
        return asked_by(await reader.readuntil(_END))
    except asyncio.LimitOverrunError:
        raise BadRequest("its head is too long") from None


def asked_by(head: bytes) -> Asked:
    first, *lines = head[: -len(_END)].split(b"\r\n")
    words = first.split(b" ")
    if len(words) != 3 or not words[2].startswith(b"HTTP/1.") or b"\n" in head.replace(b"\r\n", b""):
        raise BadRequest("it is no HTTP/1.1 request")
    try:
        return _connect(words[1]) if words[0] == b"CONNECT" else _plain(words, lines)
    except (ValueError, UnicodeError):
        raise BadRequest("its address makes no sense") from None


def _connect(target: bytes) -> Asked:
    parts = urlsplit("//" + target.decode("ascii"))
    if parts.path or parts.query or "@" in parts.netloc or not parts.hostname or not parts.port:
        raise ValueError(target)
    return Asked(_host(parts.hostname), parts.port)


def _plain(words: list[bytes], lines: list[bytes]) -> Asked:
    parts = urlsplit(words[1].decode("ascii"))
    if parts.scheme != "http" or "@" in parts.netloc or not parts.hostname:
        raise ValueError(words[1])
    path = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
    kept = [line for line in lines if line.partition(b":")[0].strip().lower() not in _DROPPED]
    begun = b" ".join([words[0], path.encode(), b"HTTP/1.1"])
    head = [begun, b"Host: " + parts.netloc.encode(), *kept, b"Connection: close"]
    return Asked(_host(parts.hostname), parts.port or 80, b"\r\n".join(head) + _END)


def _host(written: str) -> str:
    """No character that a resolver, a log or a page could take for anything but a name's."""
    host = hosts.name(written)
    if not _HOST.fullmatch(host):
        raise ValueError(written)
    return host


def answer(status: int, code: str, what: str) -> bytes:
    """A refusal that a person finds in the script's own error."""
    body = f"{code}: {what}\n".encode()
    phrase = HTTPStatus(status).phrase
    head = f"HTTP/1.1 {status} {phrase}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + f"X-Skillquay-Refused: {code}\r\nConnection: close\r\n\r\n".encode() + body
