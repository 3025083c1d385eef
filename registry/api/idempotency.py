"""``Idempotency-Key``: a repeated POST takes effect once.

The change and its stored response are one transaction, so a crash leaves both or neither. Another request
takes over the claim of a dead process after ``CLAIM_TIMEOUT``. Refusals are not stored, because they change
nothing.
"""

import hashlib
import json
import re
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from registry.api.authentication import request_actor
from registry.api.errors import IDEMPOTENCY_KEY_INVALID, IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_UNDER_WAY
from registry.api.schema import Shape, read_body
from registry.identity.actors import Actor
from registry.models import IdempotencyKey

E = TypeVar("E")
P = ParamSpec("P")
KEY_HEADER = "Idempotency-Key"
KEY_LIFETIME = timedelta(hours=24)
CLAIM_TIMEOUT = timedelta(seconds=90)  # an older unfinished claim belongs to a dead process
_KEY = re.compile(r"[\x21-\x7e]{1,200}")
_HEADERS = ("Location", "ETag", "Cache-Control")


def idempotent(
    shape: type[Shape] | None = None,
) -> Callable[
    [Callable[Concatenate[E, Request, P], HttpResponse]], Callable[Concatenate[E, Request, P], HttpResponse]
]:
    """Decorator: the endpoint method runs once per ``Idempotency-Key``; repeated requests get the stored
    response.

    Two requests count as the same if their JSON bodies are equal, or with ``shape`` if their validated values
    are.
    """

    def decorate(
        method: Callable[Concatenate[E, Request, P], HttpResponse],
    ) -> Callable[Concatenate[E, Request, P], HttpResponse]:
        @wraps(method)
        def wrapper(self: E, request: Request, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            def act() -> HttpResponse:
                return method(self, request, *args, **kwargs)

            if KEY_HEADER not in request.headers:
                return act()
            content = read_body(shape, request.data) if shape else request.data
            return run_once(request, content, act)

        return wrapper

    return decorate


def run_once(request: Request, content: Any, act: Callable[[], HttpResponse]) -> HttpResponse:
    """The response of ``act``, or the stored response of the same request. ``content`` identifies the body:
    the same content with the same key is the same request.

    Use this in methods whose access checks must also run for a repeated request, or whose body is not JSON;
    otherwise use ``idempotent``.
    """
    key = request.headers.get(KEY_HEADER)
    if key is None:
        return act()
    if not _KEY.fullmatch(key):
        raise IDEMPOTENCY_KEY_INVALID.refusal()
    digest = _digest(request, content)
    claim = _claim(_holder(request_actor(request)), key, digest)
    if claim.status is not None:
        return _stored_response(claim)
    try:
        with transaction.atomic():
            response = act()
            _store(claim, response)
    except BaseException:
        _current_claim(claim).delete()
        raise
    return response


def _digest(request: Request, content: Any) -> str:
    text = json.dumps([request.method, request.get_full_path(), content], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _holder(actor: Actor) -> str:
    """The owner of a key. Each token has its own keys, so a narrow token can't read responses to another."""
    return f"{actor.caller}:{actor.token.uid}" if actor.token else actor.caller


def _claim(caller: str, key: str, digest: str) -> IdempotencyKey:
    """The row of this key: newly claimed, or with the stored response of an earlier request.

    Raises IDEMPOTENCY_KEY_REUSED for another body and IDEMPOTENCY_UNDER_WAY for an unfinished request.
    """
    now = timezone.now()
    rows = IdempotencyKey.objects.filter(caller=caller, key=key)
    IdempotencyKey.objects.filter(created_at__lt=now - KEY_LIFETIME).delete()
    claim, created = IdempotencyKey.objects.get_or_create(
        caller=caller, key=key, defaults={"request_digest": digest}
    )
    if created:
        return claim
    if claim.request_digest != digest:
        raise IDEMPOTENCY_KEY_REUSED.refusal()
    if claim.status is None:
        abandoned = rows.filter(status=None, created_at__lt=now - CLAIM_TIMEOUT)
        if not abandoned.update(created_at=now):
            raise IDEMPOTENCY_UNDER_WAY.refusal()
        claim.created_at = now
    return claim


def _current_claim(claim: IdempotencyKey) -> QuerySet[IdempotencyKey]:
    """The row of the claim; empty if another request has taken it over, which changes ``created_at``."""
    return IdempotencyKey.objects.filter(pk=claim.pk, status=None, created_at=claim.created_at)


def _store(claim: IdempotencyKey, response: HttpResponse) -> None:
    stored = _current_claim(claim).update(
        status=response.status_code,
        body=response.content,
        content_type=response["Content-Type"],
        headers={name: response[name] for name in _HEADERS if name in response},
    )
    if not stored:
        raise IDEMPOTENCY_UNDER_WAY.refusal()


def _stored_response(claim: IdempotencyKey) -> HttpResponse:
    response = HttpResponse(
        bytes(claim.body or b""), content_type=claim.content_type, status=claim.status or 200
    )
    for name, value in claim.headers.items():
        response[name] = value
    response["Idempotency-Replayed"] = "true"
    return response
