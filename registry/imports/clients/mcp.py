"""An MCP client over streamable HTTP (JSON or server-sent events) that sends its requests
through ``stream``.
"""

import json
import time
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from registry.http_client.fetch import stream
from registry.http_client.response import FetchStream, OnRead
from registry.imports.readers.errors import MCP_REFUSED, SOURCE_ANSWER, SOURCE_TOO_LARGE
from registry.packages.archive.paths import printable
from registry.packages.problems import Refusal, gettext_noop

_PROTOCOL_VERSION = "2025-11-25"
_MAX_RESPONSE_BYTES = 4 * 2**20
_MAX_PAGES = 100


class McpSession:
    """An initialized session with an MCP server. All its requests together must finish within
    SKILLQUAY_OUTBOUND_SECONDS. Requests raise OUTBOUND_… refusals, MCP_REFUSED if the server returns an
    error, and SOURCE_ANSWER for an invalid response.
    """

    def __init__(self, url: str, headers: Mapping[str, str], *, on_read: OnRead | None = None) -> None:
        self.url, self.host = url, urlsplit(url).netloc
        self._ends = time.monotonic() + settings.SKILLQUAY_OUTBOUND_SECONDS
        self._numbers, self._on_read = count(1), on_read
        accepts = "application/json, text/event-stream"
        self._headers = {**headers, "content-type": "application/json", "accept": accepts}
        parameters = {
            "protocolVersion": _PROTOCOL_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "skillquay", "version": "1"},
        }
        answer = self.call("initialize", parameters)
        self._headers["mcp-protocol-version"] = _header(answer.get("protocolVersion")) or _PROTOCOL_VERSION
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"}, None)

    def list_items(self, method: str, key: str, *, limit: int) -> Iterator[Mapping[str, Any]]:
        """Yields the items of a paginated list. Raises SOURCE_TOO_LARGE above ``limit`` items or
        ``_MAX_PAGES`` pages.
        """
        cursor, count = None, 0
        for _ in range(_MAX_PAGES):
            answer = self.call(method, {"cursor": cursor} if cursor else {})
            for row in answer.get(key) or ():
                count += 1
                if count > limit:
                    raise SOURCE_TOO_LARGE.refusal(limit=limit, unit=gettext_noop("prompts"))
                if not isinstance(row, dict):
                    raise self._unreadable()
                yield row
            cursor = answer.get("nextCursor")
            if not isinstance(cursor, str) or not cursor:
                return
        raise SOURCE_TOO_LARGE.refusal(limit=_MAX_PAGES, unit=gettext_noop("pages of prompts"))

    def call(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        number = next(self._numbers)
        body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        answer = self._send(body, number)
        if isinstance(error := answer.get("error"), dict):
            reason = printable(str(error.get("message", ""))[:200])
            raise MCP_REFUSED.refusal(method=method, reason=reason).at("location")
        if not isinstance(result := answer.get("result"), dict):
            raise self._unreadable()
        return result

    def _send(self, body: Mapping[str, Any], number: int | None) -> dict[str, Any]:
        left = max(self._ends - time.monotonic(), 0.001)
        data = json.dumps(body).encode()
        context = stream(
            self.url,
            method="POST",
            headers=self._headers,
            body=data,
            limit=_MAX_RESPONSE_BYTES,
            timeout=left,
            on_read=self._on_read,
        )
        with context as answer:
            answer.require(200, 202, 204)
            if session := _header(answer.headers.get("mcp-session-id")):
                self._headers["mcp-session-id"] = session
            return self._read_reply(answer, number) if number is not None else {}

    def _read_reply(self, answer: FetchStream, number: int) -> dict[str, Any]:
        """The message with id ``number`` if the response is an event stream, otherwise its body as a JSON
        object. Raises SOURCE_ANSWER if there is none.
        """
        try:
            if answer.headers.get("content-type", "").startswith("text/event-stream"):
                for message in _events(answer):
                    if isinstance(message, dict) and message.get("id") == number:
                        return message
            elif isinstance(message := json.loads(answer.read_all()), dict):
                return message
        except (ValueError, RecursionError):
            pass
        raise self._unreadable()

    def _unreadable(self) -> Refusal:
        reason = gettext_noop("it is not a valid MCP response")
        return SOURCE_ANSWER.refusal(host=self.host, reason=reason).at(self.host)


def _events(answer: FetchStream) -> Iterator[Any]:
    """Yields the parsed JSON of each server-sent event as it arrives, because the server may keep the stream
    open.
    """
    pending, lines = b"", []
    for piece in answer.iter_chunks():
        *whole, pending = (pending + piece).split(b"\n")
        for line in whole:
            line = line.rstrip(b"\r")
            if line.startswith(b"data:"):
                lines.append(line[5:].removeprefix(b" "))
            elif not line and lines:
                yield json.loads(b"\n".join(lines))
                lines = []


def _header(value: object) -> str:
    """The value if it is safe as a request header, otherwise ""."""
    is_safe = isinstance(value, str) and value.isascii() and value.isprintable() and len(value) <= 500
    return str(value) if is_safe else ""
