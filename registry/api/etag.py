"""ETags of API responses: If-None-Match leads to a 304 response, and If-Match guards changes."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.http import parse_etags
from rest_framework.request import Request

from registry.api.authentication import request_actor
from registry.api.errors import PRECONDITION_FAILED
from registry.identity.actors import ANONYMOUS, Actor
from registry.models import Skill, Visibility

_YEAR_S = 31_536_000
Document = Mapping[str, Any] | Sequence[Any]
Response = TypeVar("Response", bound=HttpResponseBase)


def document_response(request: Request, document: Document, *, status: int = 200) -> HttpResponse:
    """A private JSON response with an ETag; 304 if a GET or HEAD has this ETag in If-None-Match."""
    data = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    return _response(request, data, kind="application/json", status=status)


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
    return etag_of(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())


def not_modified(request: Request, etag: str) -> HttpResponse | None:
    """A 304 response if If-None-Match has this ETag or ``*``, otherwise None."""
    known = parse_etags(request.META.get("HTTP_IF_NONE_MATCH", ""))
    if "*" not in known and etag not in (tag.removeprefix("W/") for tag in known):
        return None
    response = HttpResponse(status=304)
    response["ETag"] = etag
    return set_private(response)


def require_match(request: Request, document: Document) -> None:
    """Raises PRECONDITION_FAILED if If-Match is set and has neither ``*`` nor the document's ETag.

    Accepts the ETag of a compressed response, which is weak only because of its encoding.
    """
    header = request.META.get("HTTP_IF_MATCH")
    if header is None or header.strip() == "*":
        return
    if document_etag(document) not in (tag.removeprefix("W/") for tag in parse_etags(header)):
        raise PRECONDITION_FAILED.refusal()


def set_private(response: Response) -> Response:
    """Sets the cache headers of a response that depends on the actor: private and revalidated at every use.
    Returns the response.
    """
    response["Cache-Control"] = "private, no-cache"
    patch_vary_headers(response, ("Authorization", "Cookie", "Accept-Language"))
    return response


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
        patch_vary_headers(response, ("Authorization", "Cookie"))
    return response


def _is_anonymous(actor: Actor) -> bool:
    return actor == ANONYMOUS
