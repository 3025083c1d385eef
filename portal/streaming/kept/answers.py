"""Kept answers: responses that are stored in memory and sent again.

Defines their content, their creation from Django's responses, and the limit of their memory.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace

from django.conf import settings
from django.contrib.messages import get_messages
from django.db import connection
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from portal.delivery.csrf_tokens import split_at_tokens
from portal.streaming.files.ranges import Headers
from portal.streaming.kept.access import Access, access_of
from portal.streaming.kept.whole_responses import Head
from registry.api import etag as etags
from registry.api.attachments import OpenedFile, StoredFile
from registry.api.error_response import request_id
from registry.changes import drafts
from registry.changes.dependency import Dependency
from registry.changes.numbers import ChangeLog

MAX_BODY_BYTES = 262_144
MAX_BYTES = 48 * 2**20  # limit for all kept answers of a process
MAX_FILE_BYTES = 65_536  # larger files are read at each delivery
MAX_CODINGS = 8  # limit per answer
UNCHANGED, FILE = "unchanged", "file"  # forms that are no codings: a 304 response, and the whole file
_REQUEST_ID_FIELD = b'"request_id": "'  # quotes are escaped in texts, so that no text contains it
_OVERHEAD_BYTES = 1_500  # memory of an answer besides its texts
_HEADER_BYTES = 130  # memory of a header besides its texts


@dataclass
class Answer:
    """A complete response without its request id. The body is not compressed."""

    status: int
    headers: Headers
    parts: tuple[bytes, ...]  # parts of the body, between which the request id or a page's CSRF token belongs
    is_page: bool = False
    stored: StoredFile | None = None  # the file to send instead of a body
    content: bytes | None = None  # of a small file, from its first delivery on
    etag: str = ""
    view: str = ""
    dependencies: Collection[Dependency] = ()
    ends_at: float = float("inf")  # Unix time
    count_use: Callable[[str], None] | None = None
    renew: drafts.Renewal | None = None
    seen: int = -1  # the latest change number for which the answer is known to hold
    # UNCHANGED, FILE, and codings by Accept-Encoding, each from its first delivery on. A compressed form has
    # a body of its own.
    forms: dict[bytes | str, tuple[Head, bytes | None]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        forms = [
            (self.headers, self.parts),
            *((head.headers, (head.lines, body or b"")) for head, body in self.forms.values()),
        ]
        return _OVERHEAD_BYTES + len(self.content or b"") + sum(_form_size(*form) for form in forms)

    def renewed(self, terms: drafts.AnswerTerms, body: bytes | None, seen: int) -> Answer:
        """This answer with the new body, or with the old one if ``body`` is None, and with new terms."""
        kept = replace(self, dependencies=tuple(terms.dependencies), ends_at=_end(terms), seen=seen)
        if body is None or body == self.parts[0]:
            return kept
        etag = etags.etag_of(body)
        changed = {b"etag": etag.encode(), b"content-length": str(len(body)).encode()}

        def update(headers: Headers) -> Headers:
            return [(name, changed.get(name, value)) for name, value in headers]

        forms: dict[bytes | str, tuple[Head, bytes | None]] = {}
        if plain := self.forms.get(b""):  # for clients that accept no compression
            forms[b""] = Head(self.status, update(plain[0].headers)), None
        return replace(kept, headers=update(self.headers), parts=(body,), etag=etag, forms=forms)


@dataclass
class AnswerDraft(drafts.AnswerTerms):
    """The draft of an answer to one request. ``answer`` and ``access`` are set if it can be kept.

    ``for_facade`` must equal ``is_facade``, because the key of the answer depends on it.
    """

    for_facade: bool = False
    answer: Answer | None = None
    access: Access | None = None


class KeptAnswerMiddleware:
    """Moves a response that can be kept into the request's draft. The event loop sends it from there.

    It runs inside the compression middleware, because kept answers are compressed when they are sent.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        draft = drafts.current()
        if not isinstance(draft, AnswerDraft) or not draft.keeps:
            return response
        if draft.is_kept and _is_keepable(request, response, draft):
            draft.access = access_of(request)
            draft.answer = _answer(request, response, draft)
            response.close()
            return HttpResponse(status=response.status_code)
        draft.is_discarded = True
        return _unchanged(request, response, draft) or response


def _is_keepable(request: HttpRequest, response: HttpResponseBase, draft: AnswerDraft) -> bool:
    if response.status_code not in (200, 404) or connection.in_atomic_block:
        return False
    if draft.is_facade != draft.for_facade:
        return False
    if draft.is_page:
        return _is_keepable_page(request, response)
    if response.cookies:
        return False
    if isinstance(response, FileResponse):
        return isinstance(response.file_to_stream, OpenedFile)
    if not isinstance(response, HttpResponse) or len(response.content) > MAX_BODY_BYTES:
        return False
    return response.status_code == 200 or _has_request_id(response)


def _has_request_id(response: HttpResponse) -> bool:
    """Whether the error is a document with the request's id. Some protocols have other errors."""
    return response["Content-Type"] == "application/json" and _REQUEST_ID_FIELD in response.content


def _is_keepable_page(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Whether only the CSRF tokens of the page belong to this request. Messages are shown once."""
    if response.status_code != 200 or not isinstance(response, HttpResponse) or len(get_messages(request)):
        return False
    has_token = "CSRF_COOKIE" in request.META and set(response.cookies) == {settings.CSRF_COOKIE_NAME}
    return has_token and len(response.content) <= MAX_BODY_BYTES


def _answer(request: HttpRequest, response: HttpResponseBase, draft: AnswerDraft) -> Answer:
    file = response.file_to_stream if isinstance(response, FileResponse) else None
    return Answer(
        status=response.status_code,
        headers=[(name.lower().encode(), value.encode("latin-1")) for name, value in response.items()],
        parts=_split(response, request, draft) if isinstance(response, HttpResponse) else (),
        is_page=draft.is_page,
        stored=file.stored if isinstance(file, OpenedFile) else None,
        etag=response.get("ETag", ""),
        view=str(request.resolver_match.url_name) if request.resolver_match else "",
        dependencies=tuple(draft.dependencies),
        ends_at=_end(draft),
        count_use=draft.count_use,
        renew=draft.renew if response.status_code == 200 else None,
    )


def _end(terms: drafts.AnswerTerms) -> float:
    return time.time() + terms.lasts_s if terms.lasts_s else float("inf")


def _split(response: HttpResponse, request: HttpRequest, draft: AnswerDraft) -> tuple[bytes, ...]:
    """The body; for an error, the parts around its request id; for a page, those around its CSRF tokens.

    Splits at the field, not at the id, because clients choose ids and an id might occur in the text.
    """
    if draft.is_page:
        return split_at_tokens(response.content, request)
    if response.status_code == 200:
        return (response.content,)
    before, field, after = response.content.partition(_REQUEST_ID_FIELD)
    uid = request_id(request).encode()
    assert after.startswith(uid + b'"'), "an error document without its request id"
    return before + field, after[len(uid) :]


def _unchanged(request: HttpRequest, response: HttpResponseBase, draft: AnswerDraft) -> HttpResponse | None:
    """A 304 response if the client already has this content, otherwise None.

    For a full response that can't be kept: its endpoint built the body because kept answers must be complete.
    Closes that response. A 304 does not count as a use.
    """
    if response.status_code != 200 or "ETag" not in response:
        return None
    unchanged = etags.unchanged_response(request, response)
    if unchanged:
        draft.count_use = None
        response.close()
    return unchanged


def _form_size(headers: Headers, parts: Iterable[bytes]) -> int:
    texts = sum(len(name) + len(value) + _HEADER_BYTES for name, value in headers)
    return texts + sum(map(len, parts))


AnswerKey = tuple[object, ...]


def _key_size(key: AnswerKey) -> int:
    return sum(len(part) for part in key if isinstance(part, str | bytes))


class AnswerStore:
    """Kept answers by key; the least recently used ones are dropped above MAX_BYTES."""

    def __init__(self) -> None:
        self.known: OrderedDict[AnswerKey, Answer] = OrderedDict()
        self.sizes: dict[AnswerKey, int] = {}  # bytes of each known answer and its key
        self.bytes = 0

    def find(self, key: AnswerKey, log: ChangeLog, now: float) -> tuple[Answer | None, bool]:
        """The answer, and whether it is current."""
        answer = self.known.get(key)
        if answer is None:
            return None, False
        if now >= answer.ends_at or not (
            answer.seen == log.number or log.is_current(answer.seen, answer.dependencies)
        ):
            return answer, False
        answer.seen = log.number
        self.known.move_to_end(key)
        return answer, True

    def put(self, key: AnswerKey, answer: Answer) -> None:
        self.drop(key)
        self.known[key] = answer
        self._count(key, answer)

    def add_form(
        self, key: AnswerKey, answer: Answer, name: bytes | str, head: Head, body: bytes | None = None
    ) -> None:
        """Keeps a form of the kept answer: UNCHANGED, FILE, or the one for this Accept-Encoding."""
        is_kept = self.known.get(key) is answer
        if is_kept and (name in (UNCHANGED, FILE) or len(answer.forms) < MAX_CODINGS):
            answer.forms[name] = head, body
            self._count(key, answer)

    def add_content(self, key: AnswerKey, answer: Answer, content: bytes) -> None:
        """Keeps the content of the file that the kept answer consists of."""
        if self.known.get(key) is answer:
            answer.content = content
            self._count(key, answer)

    def drop(self, key: AnswerKey) -> None:
        if self.known.pop(key, None):
            self.bytes -= self.sizes.pop(key)

    def _count(self, key: AnswerKey, answer: Answer) -> None:
        """Counts the answer's bytes, and drops the least recently used answers above the limit."""
        size = answer.size + _key_size(key)
        self.bytes += size - self.sizes.get(key, 0)
        self.sizes[key] = size
        while self.bytes > MAX_BYTES:
            self.drop(next(iter(self.known)))
