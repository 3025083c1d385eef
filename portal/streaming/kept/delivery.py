"""Sends kept answers in full, compressed, as a range of a file, or as a 304 response."""

from __future__ import annotations

import asyncio
from secrets import randbelow, token_urlsafe

from django.http import HttpRequest, HttpResponse

from portal.delivery.compression import CompressionMiddleware
from portal.streaming.files.ranges import Headers
from portal.streaming.files.stored_files import (
    STALL_TIMEOUT_S,
    UNHURRIED_BYTES,
    read_small,
    send_stored_file,
)
from portal.streaming.inner_request import Scope, Send
from portal.streaming.kept.answers import MAX_FILE_BYTES, Answer, AnswerKey, AnswerStore
from portal.streaming.kept.csrf import make_token
from portal.streaming.kept.request import KeptRequest
from registry.api.etag import matched_etag

_LOOP_BYTES = 65_536  # longer bodies are compressed in a thread
_REQUEST_ID = b"x-request-id"
_NOISE = b"x-noise"
_OF_CONTENT = frozenset(
    {b"content-type", b"content-length", b"content-disposition", b"etag", b"vary", b"x-digest"}
)
_compression = CompressionMiddleware(lambda request: HttpResponse())


async def deliver(
    answer: Answer, key: AnswerKey, request: KeptRequest, answers: AnswerStore, scope: Scope, send: Send
) -> int:
    """Sends the answer, and returns the status that was sent."""
    uid = (_REQUEST_ID, request.headers.get(_REQUEST_ID, b""))
    condition = request.headers.get(b"if-none-match")
    if condition and answer.etag and (etag := matched_etag(condition.decode("latin-1"), answer.etag)):
        headers = [*_unchanged_headers(answer), (b"etag", etag.encode("latin-1")), uid]
        await _send(304, headers, b"", send)
        return 304
    if answer.stored:
        head = {"type": "http.response.start", "headers": [*answer.headers, uid]}
        if answer.content is None and (content := read_small(answer.stored, MAX_FILE_BYTES)) is not None:
            answers.add_content(key, answer, content)
        await send_stored_file(scope, head, answer.stored, send, content=answer.content)
        return answer.status
    filling, own = uid[1], [uid]
    if answer.is_page:
        filling, cookie = make_token(request.csrf_cookie)
        own.append(cookie)
    accepted = request.headers.get(b"accept-encoding", b"")
    headers, body = await _coded(answer, key, filling, accepted, answers)
    headers = [*headers, *own]
    await _send(answer.status, headers, b"" if scope["method"] == "HEAD" else body, send)
    return answer.status


async def _send(status: int, headers: Headers, body: bytes, send: Send) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    if len(body) <= UNHURRIED_BYTES:
        return await send({"type": "http.response.body", "body": body})
    async with asyncio.timeout(STALL_TIMEOUT_S):
        return await send({"type": "http.response.body", "body": body})


def _unchanged_headers(answer: Answer) -> Headers:
    """The headers of a 304 response, including those that caches need to select and store the answer."""
    if not answer.unchanged_headers:
        vary = dict(answer.headers).get(b"vary", b"")
        names = {name for name, _ in answer.headers}
        if b"content-disposition" not in names and b"Accept-Encoding" not in vary:
            vary = vary + b", Accept-Encoding" if vary else b"Accept-Encoding"
        others = [pair for pair in answer.headers if pair[0] not in _OF_CONTENT]
        answer.unchanged_headers = [*others, (b"vary", vary)] if vary else others
    return answer.unchanged_headers


async def _coded(
    answer: Answer, key: AnswerKey, filling: bytes, accepted: bytes, answers: AnswerStore
) -> tuple[Headers, bytes]:
    """Headers and body, with ``filling`` between its parts, in an encoding that the client accepts.

    A compressed response has a header of random length that hides the exact size, against the BREACH attack.
    """
    if found := answer.coded.get(accepted):
        headers, body = found[0], filling.join(answer.parts) if found[1] is None else found[1]
    else:
        plain = filling.join(answer.parts)
        if len(plain) > _LOOP_BYTES:
            headers, body = await asyncio.to_thread(_compress, answer, plain, accepted)
        else:
            headers, body = _compress(answer, plain, accepted)
        if len(answer.parts) == 1:
            answers.add_coding(key, accepted, headers, body)
        elif answer.is_page and not _is_compressed(headers):
            answers.add_coding(key, accepted, headers, None)
    if headers is not answer.headers and _is_compressed(headers):
        headers = [*headers, (_NOISE, token_urlsafe(randbelow(_compression.max_random_bytes + 1)).encode())]
    return headers, body


def _is_compressed(headers: Headers) -> bool:
    return any(name == b"content-encoding" for name, _ in headers)


def _compress(answer: Answer, body: bytes, accepted: bytes) -> tuple[Headers, bytes]:
    request, response = HttpRequest(), HttpResponse(body, status=answer.status)
    request.META["HTTP_ACCEPT_ENCODING"] = accepted.decode("latin-1")
    for name, value in answer.headers:
        response[name.decode()] = value.decode("latin-1")
    response["Content-Length"] = str(len(body))
    _compression.maybe_compress(request, response)
    headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in response.items()]
    return [pair for pair in headers if pair[0] != _NOISE], response.content
