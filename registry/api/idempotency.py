"""``Idempotency-Key``: a repeated POST takes effect once.

The change and its stored response are saved in one transaction, which also holds the key's lock. A crash
therefore saves both or neither, and frees the key at once. Refusals change nothing and are not stored.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.db import transaction
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from registry.api.authentication import request_actor
from registry.api.errors import IDEMPOTENCY_KEY_INVALID, IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_UNDER_WAY
from registry.api.schema import Shape, read_body
from registry.core.sql import try_lock
from registry.identity.actors import Actor
from registry.models import IdempotencyKey

E = TypeVar("E")
P = ParamSpec("P")
KEY_HEADER = "Idempotency-Key"
KEY_LIFETIME = timedelta(hours=24)
_KEY = re.compile(r"[\x21-\x7e]{1,200}")
_HEADERS = ("Location", "ETag", "Cache-Control")
_in_progress: dict[tuple[str, str], object] = {}  # requests of this process, by caller and key


def idempotent(
    shape: type[Shape] | None = None,
) -> Callable[
    [Callable[Concatenate[E, Request, P], HttpResponse]], Callable[Concatenate[E, Request, P], HttpResponse]
]:
    """Decorator that calls a POST method through ``run_once``, for requests with a JSON body.

    With ``shape``, the body is validated first, and its validated values identify the request. Requests
    without the header ``Idempotency-Key`` run normally.
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
    """The response of ``act``, or the stored response if the caller used the request's key in the last 24
    hours. Without a key, just calls ``act``. ``content`` identifies the body; ``json.dumps`` must accept it.

    Raises IDEMPOTENCY_KEY_INVALID for a malformed key; IDEMPOTENCY_KEY_REUSED if the key was used with
    another method, path or content; IDEMPOTENCY_UNDER_WAY while the first request runs.

    Call this directly if access checks must also run for repeated requests, or if the body is not JSON;
    otherwise use ``idempotent``.
    """
    key = request.headers.get(KEY_HEADER)
    if key is None:
        return act()
    if not _KEY.fullmatch(key):
        raise IDEMPOTENCY_KEY_INVALID.refusal()
    caller, digest = _holder(request_actor(request)), _digest(request, content)
    with _sole_request(caller, key):
        IdempotencyKey.objects.filter(created_at__lt=timezone.now() - KEY_LIFETIME).delete()
        with transaction.atomic():
            if not try_lock(f"idempotency {caller} {key}"):
                raise IDEMPOTENCY_UNDER_WAY.refusal()
            stored = IdempotencyKey.objects.filter(caller=caller, key=key).first()
            if stored is None:
                response = act()
                _store(IdempotencyKey(caller=caller, key=key, request_digest=digest), response)
                return response
    if stored.request_digest != digest:
        raise IDEMPOTENCY_KEY_REUSED.refusal()
    return _stored_response(stored)


@contextmanager
def _sole_request(caller: str, key: str) -> Iterator[None]:
    """Context manager that raises IDEMPOTENCY_UNDER_WAY if this process already handles a request with the
    key. On SQLite, the second request would otherwise wait and block a thread.
    """
    mark = object()
    if _in_progress.setdefault((caller, key), mark) is not mark:
        raise IDEMPOTENCY_UNDER_WAY.refusal()
    try:
        yield
    finally:
        del _in_progress[caller, key]


def _digest(request: Request, content: Any) -> str:
    text = json.dumps([request.method, request.get_full_path(), content], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _holder(actor: Actor) -> str:
    """The holder of a key: the token if there is one, otherwise the caller. A token therefore can't read
    responses to other tokens.
    """
    return f"{actor.caller}:{actor.token.uid}" if actor.token else actor.caller


def _store(row: IdempotencyKey, response: HttpResponse) -> None:
    row.status, row.body, row.content_type = response.status_code, response.content, response["Content-Type"]
    row.headers = {name: response[name] for name in _HEADERS if name in response}
    row.save(force_insert=True)


def _stored_response(row: IdempotencyKey) -> HttpResponse:
    response = HttpResponse(bytes(row.body), content_type=row.content_type, status=row.status)
    for name, value in row.headers.items():
        response[name] = value
    response["Idempotency-Replayed"] = "true"
    return response
