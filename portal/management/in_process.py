"""Sends API requests to Django within this process, without a server, through URLs and middleware."""

import json
import logging
import secrets
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote_to_bytes, urlencode

from django.core.handlers.base import BaseHandler
from django.http import HttpResponse
from django.http.response import HttpResponseBase, StreamingHttpResponse

from portal.streaming.inner_request import AppResponse
from portal.streaming.waiting import WAIT_PATHS, split_wait, unfinished_id, wait_kind
from registry.api.authentication import ShellRequest
from registry.identity.actors import Actor

PAUSE_S = 0.25  # pause between two polls of a run or import
_QUERY_SAFE = "".join(chr(c) for c in range(33, 127))


@dataclass(frozen=True)
class Call:
    method: str
    path: str  # may be percent-encoded
    query: str = ""
    body: bytes = b""
    content_type: str = ""


class InProcessClient(BaseHandler):
    """Sends requests as ``actor``, without a token or session."""

    def __init__(self, actor: Actor) -> None:
        super().__init__()
        self.actor = actor
        self.load_middleware()

    def send(self, call: Call) -> HttpResponseBase:
        """The response. With ``?wait=``, waits for the end of the run or import, as the server does."""
        match = WAIT_PATHS.fullmatch(call.path)
        query, wait_s = split_wait(call.query.encode())
        if match is None or wait_s is None:
            return self._respond(call)
        return self._wait(replace(call, query=query.decode()), match[1], wait_s)

    def all_pages(self, call: Call) -> HttpResponseBase:
        """One response with the items of all pages; returns an error or a response without pages as it is."""
        items: list[Any] = []
        while True:
            response = self.send(call)
            page = _page(response)
            if page is None:
                return response
            items += page["items"]
            if page["next_cursor"] is None:
                whole = json.dumps({**page, "items": items}, ensure_ascii=False)
                return HttpResponse(whole, content_type="application/json")
            call = replace(call, query=_with_cursor(call.query, page["next_cursor"]))

    def _wait(self, call: Call, kind: str, wait_s: float) -> HttpResponseBase:
        response, deadline = self._respond(call), time.monotonic() + wait_s
        first = last = _to_app_response(response)
        while (uid := unfinished_id(last)) and time.monotonic() < deadline:
            if wait_kind(last, kind) != wait_kind(first, kind):
                break
            time.sleep(PAUSE_S)
            response = self._respond(Call("GET", f"/api/v1/{kind}/{uid}"))
            last = _to_app_response(response)
        return response

    def _respond(self, call: Call) -> HttpResponseBase:
        request = ShellRequest(_environ(call))
        request.shell_actor = self.actor
        log = logging.getLogger("django.request")
        log.addFilter(_is_error)  # refusals are printed; no extra log line
        try:
            return self.get_response(request)
        finally:
            log.removeFilter(_is_error)


def chunks(response: HttpResponseBase) -> Iterable[bytes]:
    """The body of the response, in chunks if it is streamed."""
    if isinstance(response, StreamingHttpResponse):
        return iter(response)
    return [response.content] if isinstance(response, HttpResponse) else []


def form_body(fields: Mapping[str, Any], files: Iterable[tuple[str, Path]]) -> tuple[bytes, str]:
    """A multipart form and its content type; raises OSError for a file that cannot be read."""
    parts = [(_quoted("name", name), _field(value)) for name, value in fields.items()]
    for name, path in files:
        parts.append((f"{_quoted('name', name)}; {_quoted('filename', path.name)}", path.read_bytes()))
    boundary = secrets.token_hex(16)
    body = b"".join(
        f"--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode() + data + b"\r\n"
        for head, data in parts
    )
    return body + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def _field(value: Any) -> bytes:
    return (value if isinstance(value, str) else json.dumps(value)).encode()


def _quoted(name: str, value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "").replace("\n", "")
    return f'{name}="{escaped}"'


def _environ(call: Call) -> dict[str, Any]:
    return {
        "REQUEST_METHOD": call.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(call.path).decode("latin1"),
        "QUERY_STRING": quote(call.query, safe=_QUERY_SAFE),
        "CONTENT_TYPE": call.content_type,
        "CONTENT_LENGTH": str(len(call.body)),
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.url_scheme": "http",
        "wsgi.input": BytesIO(call.body),
        "wsgi.errors": sys.stderr,
    }


def _to_app_response(response: HttpResponseBase) -> AppResponse:
    return AppResponse(response.status_code, [], b"".join(chunks(response)))


def _page(response: HttpResponseBase) -> dict[str, Any] | None:
    if response.status_code != 200 or response.get("Content-Type") != "application/json":
        return None
    document = json.loads(b"".join(chunks(response)))
    is_page = isinstance(document, dict) and {"items", "next_cursor"} <= set(document)
    return document if is_page else None


def _with_cursor(query: str, cursor: str) -> str:
    others = [pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] != "cursor"]
    return urlencode([*others, ("cursor", cursor)])


def _is_error(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.ERROR
