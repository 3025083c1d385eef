"""A session with an MCP server over streamable HTTP: JSON or server-sent events, through the one door out."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from registry.outbound import opened
from registry.outbound.answers import Answer
from registry.packages.paths import shown
from registry.packages.problems import Refused, refuse

_PROTOCOL = "2025-11-25"
_ANSWER = 4 * 2**20  # bytes
_PAGES = 100


class Session:
    """One conversation; all of it has the time that one exchange with the outside may take."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self.url, self.host = url, urlsplit(url).netloc
        self._ends = time.monotonic() + settings.SKILLQUAY_OUTBOUND_SECONDS
        self._numbers = count(1)
        accepts = "application/json, text/event-stream"
        self._headers = {**headers, "content-type": "application/json", "accept": accepts}
        said = {
            "protocolVersion": _PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "skillquay", "version": "1"},
        }
        answer = self.call("initialize", said)
        self._headers["mcp-protocol-version"] = _header(answer.get("protocolVersion")) or _PROTOCOL
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"}, None)

    def listed(self, method: str, what: str, *, most: int) -> Iterator[Mapping[str, Any]]:
        """Every row of a list, page by page."""
        cursor, seen = None, 0
        for _ in range(_PAGES):
            answer = self.call(method, {"cursor": cursor} if cursor else {})
            for row in answer.get(what) or ():
                seen += 1
                if seen > most or not isinstance(row, dict):
                    raise refuse("SOURCE_TOO_LARGE", limit=most) if seen > most else self._unreadable()
                yield row
            cursor = answer.get("nextCursor")
            if not isinstance(cursor, str) or not cursor:
                return
        raise refuse("SOURCE_TOO_LARGE", limit=most)

    def call(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        number = next(self._numbers)
        body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        answer = self._send(body, number)
        if isinstance(error := answer.get("error"), dict):
            reason = shown(str(error.get("message", ""))[:200])
            raise refuse("MCP_REFUSED", path="location", method=method, reason=reason)
        if not isinstance(result := answer.get("result"), dict):
            raise self._unreadable()
        return result

    def _send(self, body: Mapping[str, Any], number: int | None) -> dict[str, Any]:
        left = max(self._ends - time.monotonic(), 0.001)
        data = json.dumps(body).encode()
        door = opened(self.url, method="POST", headers=self._headers, body=data, limit=_ANSWER, timeout=left)
        with door as answer:
            answer.require(200, 202, 204)
            if session := _header(answer.headers.get("mcp-session-id")):
                self._headers["mcp-session-id"] = session
            return self._answered(answer, number) if number is not None else {}

    def _answered(self, answer: Answer, number: int) -> dict[str, Any]:
        """The message that answers our request; what a server says beside it is not for us."""
        try:
            if answer.headers.get("content-type", "").startswith("text/event-stream"):
                for said in _events(answer):
                    if isinstance(said, dict) and said.get("id") == number:
                        return said
            elif isinstance(said := json.loads(answer.rest()), dict):
                return said
        except (ValueError, RecursionError):
            pass
        raise self._unreadable()

    def _unreadable(self) -> Refused:
        reason = "it does not speak MCP as it should"
        return refuse("SOURCE_ANSWER", path=self.host, host=self.host, reason=reason)


def _events(answer: Answer) -> Iterator[Any]:
    """The JSON of each server-sent event, as it comes; the stream may stay open behind it."""
    pending, lines = b"", []
    for piece in answer.pieces():
        *whole, pending = (pending + piece).split(b"\n")
        for line in whole:
            line = line.rstrip(b"\r")
            if line.startswith(b"data:"):
                lines.append(line[5:].removeprefix(b" "))
            elif not line and lines:
                yield json.loads(b"\n".join(lines))
                lines = []


def _header(value: object) -> str:
    """What may go back to the server in a header."""
    sound = isinstance(value, str) and value.isascii() and value.isprintable() and len(value) <= 500
    return str(value) if sound else ""
