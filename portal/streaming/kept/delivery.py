"""Sends kept answers in full, compressed, as a range of a file, or as a 304 response."""

from __future__ import annotations

import asyncio
from secrets import randbelow, token_urlsafe

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from portal.delivery.compression import CompressionMiddleware
from portal.delivery.csrf_tokens import make_token
from portal.streaming.files.stored_files import read_small, send_stored_file
from portal.streaming.inner_request import Scope, Send
from portal.streaming.kept.answers import FILE, MAX_FILE_BYTES, UNCHANGED, Answer, AnswerKey, AnswerStore
from portal.streaming.kept.request import KeptRequest
from portal.streaming.kept.whole_responses import Head, send_whole
from registry.api.etag import matched_etag
from registry.storage import blobs

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
        head = _unchanged_head(answer, key, answers)
        await send_whole(head, [(b"etag", etag.encode("latin-1")), uid], b"", send)
        return 304
    if answer.stored:
        await _send_file(answer, key, request, answers, scope, send)
        return answer.status
    filling, own = uid[1], [uid]
    if answer.is_page:
        filling, cookie = make_token(request.csrf_cookie)
        own.append(cookie)
    accepted = request.headers.get(b"accept-encoding", b"")
    head, body = await _coded(answer, key, filling, accepted, answers)
    if head.is_compressed:
        own.append((_NOISE, token_urlsafe(randbelow(_compression.max_random_bytes + 1)).encode()))
    await send_whole(head, own, b"" if scope["method"] == "HEAD" else body, send)
    return answer.status


def is_lost(answer: Answer) -> bool:
    """Whether the answer is a file that is missing on the local disk: Django sends the protocol's error."""
    if answer.stored is None or answer.content is not None or settings.STORAGE_URL:
        return False
    return not blobs.exists(answer.stored.digest)


def _unchanged_head(answer: Answer, key: AnswerKey, answers: AnswerStore) -> Head:
    """The head of a 304 response, including the headers that caches need to select and store the answer."""
    if form := answer.forms.get(UNCHANGED):
        return form[0]
    headers = dict(answer.headers)
    vary = headers.get(b"vary", b"")
    if b"content-disposition" not in headers:
        vary = _with_accept_encoding(vary)
    others = [pair for pair in answer.headers if pair[0] not in _OF_CONTENT]
    head = Head(304, [*others, (b"vary", vary)] if vary else others)
    answers.add_form(key, answer, UNCHANGED, head)
    return head


async def _send_file(
    answer: Answer, key: AnswerKey, request: KeptRequest, answers: AnswerStore, scope: Scope, send: Send
) -> None:
    assert answer.stored
    if answer.content is None and (content := read_small(answer.stored, MAX_FILE_BYTES)) is not None:
        answers.add_content(key, answer, content)
    uid = (_REQUEST_ID, request.headers.get(_REQUEST_ID, b""))
    if answer.content is None or b"range" in request.headers or scope["method"] == "HEAD":
        message = {"type": "http.response.start", "headers": [*answer.headers, uid]}
        return await send_stored_file(scope, message, answer.stored, send, content=answer.content)
    if form := answer.forms.get(FILE):
        head = form[0]
    else:
        head = Head(200, [*answer.headers, (b"accept-ranges", b"bytes")])
        answers.add_form(key, answer, FILE, head)
    return await send_whole(head, [uid], answer.content, send)


async def _coded(
    answer: Answer, key: AnswerKey, filling: bytes, accepted: bytes, answers: AnswerStore
) -> tuple[Head, bytes]:
    """Head and body, with ``filling`` between its parts, in an encoding that the client accepts.

    A compressed response has a header of random length that hides the exact size, against the BREACH attack.
    """
    if found := answer.forms.get(accepted):
        return found[0], filling.join(answer.parts) if found[1] is None else found[1]
    plain = filling.join(answer.parts)
    if len(plain) > _LOOP_BYTES:
        head, body = await asyncio.to_thread(_compress, answer, plain, accepted)
    else:
        head, body = _compress(answer, plain, accepted)
    if len(answer.parts) == 1 or (answer.is_page and not head.is_compressed):
        answers.add_form(key, answer, accepted, head, body if head.is_compressed else None)
    return head, body


def _compress(answer: Answer, body: bytes, accepted: bytes) -> tuple[Head, bytes]:
    if not accepted:
        return _plain_head(answer, len(body)), body
    request, response = HttpRequest(), HttpResponse(body, status=answer.status)
    request.META["HTTP_ACCEPT_ENCODING"] = accepted.decode("latin-1")
    for name, value in answer.headers:
        response[name.decode()] = value.decode("latin-1")
    response["Content-Length"] = str(len(body))
    _compression.maybe_compress(request, response)
    headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in response.items()]
    head = Head(response.status_code, [pair for pair in headers if pair[0] != _NOISE])
    return head, response.content


def _plain_head(answer: Answer, size: int) -> Head:
    """The head for clients that accept no compression, as the compression middleware leaves it."""
    headers = dict(answer.headers)
    headers[b"content-length"] = b"%d" % size

    def header(name: str, otherwise: str) -> str:
        value = headers.get(name.lower().encode())
        return otherwise if value is None else value.decode("latin-1")

    if _compression.is_compressible(header, size):
        headers[b"vary"] = _with_accept_encoding(headers.get(b"vary", b""))
    return Head(answer.status, [*headers.items()])


def _with_accept_encoding(vary: bytes) -> bytes:
    if b"accept-encoding" in vary.lower():
        return vary
    return vary + b", Accept-Encoding" if vary else b"Accept-Encoding"
