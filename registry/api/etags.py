"""Answers with validators: an ETag on every GET, 304 for what the client has, If-Match on changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.http import parse_etags
from rest_framework.request import Request

from registry.actors import ANONYMOUS, Actor
from registry.api.authentication import actor
from registry.models import Skill, Visibility
from registry.packages.problems import refuse

_YEAR_S = 31_536_000
Document = Mapping[str, Any] | Sequence[Any]
Response = TypeVar("Response", bound=HttpResponseBase)


def document_response(request: Request, document: Document, *, status: int = 200) -> HttpResponse:
    """A JSON document; 304 when a reader already has these bytes."""
    data = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    return _response(request, data, kind="application/json", status=status)


def text_response(request: Request, text: str, *, kind: str) -> HttpResponse:
    """Text that is no document; 304 likewise."""
    return _response(request, text.encode(), kind=f"{kind}; charset=utf-8", status=200)


def _response(request: Request, data: bytes, *, kind: str, status: int) -> HttpResponse:
    etag = etag_of(data)
    if request.method in ("GET", "HEAD") and (unchanged := not_modified(request, etag)):
        return unchanged
    response = HttpResponse(data, content_type=kind, status=status)
    response["ETag"] = etag
    return private(response)


def etag_of(data: bytes) -> str:
    return f'"{hashlib.sha256(data).hexdigest()[:32]}"'


def document_etag(document: Document) -> str:
    """The ETag that ``document_response`` gives this document."""
    return etag_of(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())


def not_modified(request: Request, etag: str) -> HttpResponse | None:
    """304 where If-None-Match names this ETag."""
    known = parse_etags(request.META.get("HTTP_IF_NONE_MATCH", ""))
    if "*" not in known and etag not in (tag.removeprefix("W/") for tag in known):
        return None
    response = HttpResponse(status=304)
    response["ETag"] = etag
    return private(response)


def require_match(request: Request, document: Document) -> None:
    """Refuses a change of something that is no longer what the caller read."""
    header = request.META.get("HTTP_IF_MATCH")
    if header is None or header.strip() == "*":
        return
    if document_etag(document) not in parse_etags(header):
        raise refuse("PRECONDITION_FAILED")


def private(response: Response) -> Response:
    """What depends on who asks: kept by nobody but them, and asked again each time."""
    response["Cache-Control"] = "private, no-cache"
    patch_vary_headers(response, ("Authorization", "Cookie", "Accept-Language"))
    return response


def forever(response: HttpResponseBase, request: Request, skill: Skill) -> HttpResponseBase:
    """Bytes that never change: for everybody where they are public and no credential was read.

    What a canonical name means is asked for again, whatever version stands behind it.
    """
    if skill.found_as:
        return private(response)
    public = skill.seen_as == Visibility.PUBLIC and _is_stranger(actor(request))
    response["Cache-Control"] = f"{'public' if public else 'private'}, max-age={_YEAR_S}, immutable"
    if not public:
        patch_vary_headers(response, ("Authorization", "Cookie"))
    return response


def _is_stranger(who: Actor) -> bool:
    return who == ANONYMOUS
