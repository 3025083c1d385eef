"""ETags of API responses: If-None-Match leads to a 304 response, and If-Match guards changes.

All ETags are strong. A compressed response adds its coding: ``"…-gzip"``. Ranges use only the plain form.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.http import parse_etags
from rest_framework.request import Request

from registry.api.authentication import request_actor
from registry.api.errors import PRECONDITION_FAILED
from registry.changes import drafts
from registry.identity.actors import ANONYMOUS, Actor
from registry.models import Skill, Visibility

ACCEPT_ENCODING = "Accept-Encoding"
CREDENTIAL_HEADERS = ("Authorization", "Cookie")  # all that authenticate; private responses vary on them
_YEAR_S = 31_536_000
_CODING = re.compile(r'-(?:br|gzip|zstd)"$')
Document = Mapping[str, Any] | Sequence[Any]
Response = TypeVar("Response", bound=HttpResponseBase)


def document_response(request: Request, document: Document, *, status: int = 200) -> HttpResponse:
    """A private JSON response with an ETag; 304 if a GET or HEAD has this ETag in If-None-Match."""
    return _response(request, _encode(document), kind="application/json", status=status)


def renewable_response(request: Request, make: Callable[[Actor], Document]) -> HttpResponse:
    """A ``document_response`` with the document that ``make`` returns for the request's actor. A
    kept answer is renewed by calling ``make`` again, so ``make`` must not reference the request
    (see ``drafts.renew_by``).
    """
    drafts.renew_by(lambda actor: _encode(make(actor)))
    return document_response(request, make(request_actor(request)))


def text_response(request: Request, text: str, *, kind: str) -> HttpResponse:
    """A private text response of media type ``kind`` with an ETag; 304 as in ``document_response``."""
    return _response(request, text.encode(), kind=f"{kind}; charset=utf-8", status=200)


def _response(request: Request, data: bytes, *, kind: str, status: int) -> HttpResponse:
    etag = etag_of(data)
    if request.method in ("GET", "HEAD") and (unchanged := not_modified(request, etag)):
        return unchanged
    response = HttpResponse(data, content_type=kind, status=status)
    response["ETag"] = etag
    return set_private(response)


def etag_of(data: bytes) -> str:
    return f'"{hashlib.sha256(data).hexdigest()[:32]}"'


def document_etag(document: Document) -> str:
    """The ETag that ``document_response`` sets for this document, with its quotes."""
    return etag_of(_encode(document))


def _encode(document: Document) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def coded_etag(etag: str, coding: str) -> str:
    """The ETag of a compressed response whose plain ETag is ``etag``: ``"…-gzip"``."""
    return f'{etag[:-1]}-{coding}"'


def plain_etag(etag: str) -> str:
    """The ETag without the coding of a compressed response."""
    return _CODING.sub('"', etag)


def matched_etag(if_none_match: str, etag: str) -> str | None:
    """The first ETag in the header that equals ``etag`` in any coding, in its strong form. None if there is
    none.

    Accepts lists, weak ETags and ``*``, which returns ``etag``.
    """
    if if_none_match == etag:
        return etag
    for tag in parse_etags(if_none_match):
        known = etag if tag == "*" else tag.removeprefix("W/")
        if known == etag or plain_etag(known) == etag:
            return known
    return None


def set_private(response: Response) -> Response:
    """Sets the cache headers of a response that depends on the actor: private and revalidated at every use.
    Returns the response.
    """
    response["Cache-Control"] = "private, no-cache"
    patch_vary_headers(response, (*CREDENTIAL_HEADERS, "Accept-Language"))
    return response


def not_modified(
    request: Request | HttpRequest,
    etag: str,
    *,
    vary: Sequence[str] = (ACCEPT_ENCODING,),
    set_cache_headers: Callable[[HttpResponse], object] = set_private,
) -> HttpResponse | None:
    """A 304 response if If-None-Match has this ETag in any coding or ``*``, otherwise None.

    ``vary`` and ``set_cache_headers`` must set the Vary and Cache-Control of the full response: caches take
    them from the 304 response. Downloads are not compressed, so their ``vary`` lacks Accept-Encoding.

    The response has the ETag that the client sent, so that caches find the matching copy. Also None for an
    answer that will be cached, because the web process compares the ETag of the complete answer later.
    """
    if drafts.is_kept():
        return None
    known = matched_etag(request.META.get("HTTP_IF_NONE_MATCH", ""), etag)
    if known is None:
        return None
    response = HttpResponse(status=304)
    response["ETag"] = known
    if vary:
        patch_vary_headers(response, vary)
    set_cache_headers(response)
    return response


def unchanged_response(request: HttpRequest, response: HttpResponseBase) -> HttpResponse | None:
    """A 304 response instead of this full one, with its cache headers. None if the client lacks the content.
    The full response must not be compressed yet.
    """

    def copy_headers(unchanged: HttpResponse) -> None:
        unchanged["Cache-Control"] = response.get("Cache-Control", "private, no-cache")
        if vary := response.get("Vary"):
            patch_vary_headers(unchanged, vary.split(", "))

    by_coding = () if "Content-Disposition" in response else (ACCEPT_ENCODING,)
    return not_modified(request, response["ETag"], vary=by_coding, set_cache_headers=copy_headers)


def require_match(request: Request, document: Document) -> None:
    """Raises PRECONDITION_FAILED if If-Match is set and has neither ``*`` nor the document's ETag.

    Compares the plain forms, because a change concerns all codings. A weak ETag never matches.
    """
    header = request.META.get("HTTP_IF_MATCH")
    if header is None or header.strip() == "*":
        return
    if document_etag(document) not in map(plain_etag, parse_etags(header)):
        raise PRECONDITION_FAILED.refusal()


def set_immutable(response: HttpResponseBase, request: Request, skill: Skill) -> HttpResponseBase:
    """Sets the cache headers of bytes that never change, and returns the response. Shared caches may store
    them only if the skill is public and the actor anonymous.

    Responses for a canonical name are revalidated, because the name can move to another version.
    """
    if skill.resolved_canonical:
        return set_private(response)
    public = skill.effective_visibility == Visibility.PUBLIC and _is_anonymous(request_actor(request))
    response["Cache-Control"] = f"{'public' if public else 'private'}, max-age={_YEAR_S}, immutable"
    if not public:
        patch_vary_headers(response, CREDENTIAL_HEADERS)
    return response


def _is_anonymous(actor: Actor) -> bool:
    return actor == ANONYMOUS
