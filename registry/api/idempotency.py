"""``Idempotency-Key``: a POST that is sent twice happens once.

The deed and its stored answer are one transaction, so a crash leaves both or neither; a claim that a dead
process left behind is taken over after ``LONGEST``. Refusals are not stored: nothing happened.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from registry.actors import Actor
from registry.api.authentication import actor
from registry.models import IdempotencyKey
from registry.packages.problems import refuse

KEPT = timedelta(hours=24)
LONGEST = timedelta(seconds=90)  # a claim older than this is a dead process's
_KEY = re.compile(r"[\x21-\x7e]{1,200}")
_HEADERS = ("Location", "ETag", "Cache-Control")


def once(request: Request, content: Any, act: Callable[[], HttpResponse]) -> HttpResponse:
    """The answer of ``act``, or the stored one of the same request; ``content`` is what the body means."""
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return act()
    if not _KEY.fullmatch(key):
        raise refuse("IDEMPOTENCY_KEY_INVALID")
    digest = _digest(request, content)
    claim = _claim(_holder(actor(request)), key, digest)
    if claim.status is not None:
        return _stored(claim)
    try:
        with transaction.atomic():
            response = act()
            _store(claim, response)
    except BaseException:
        _held(claim).delete()
        raise
    return response


def _digest(request: Request, content: Any) -> str:
    text = json.dumps([request.method, request.get_full_path(), content], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _holder(who: Actor) -> str:
    """A token's keys are its own: a narrower token must not read a wider one's answers."""
    return f"{who.caller}:{who.token.uid}" if who.token else who.caller


def _claim(caller: str, key: str, digest: str) -> IdempotencyKey:
    """The row under which to act, or the one that was already answered."""
    now = timezone.now()
    mine = IdempotencyKey.objects.filter(caller=caller, key=key)
    IdempotencyKey.objects.filter(created_at__lt=now - KEPT).delete()
    claim, created = IdempotencyKey.objects.get_or_create(
        caller=caller, key=key, defaults={"request_digest": digest}
    )
    if created:
        return claim
    if claim.request_digest != digest:
        raise refuse("IDEMPOTENCY_KEY_REUSED")
    if claim.status is None:
        abandoned = mine.filter(status=None, created_at__lt=now - LONGEST)
        if not abandoned.update(created_at=now):
            raise refuse("IDEMPOTENCY_UNDER_WAY")
        claim.created_at = now
    return claim


def _held(claim: IdempotencyKey) -> QuerySet[IdempotencyKey]:
    """The row while the claim is still ours: one taken over has a later ``created_at``."""
    return IdempotencyKey.objects.filter(pk=claim.pk, status=None, created_at=claim.created_at)


def _store(claim: IdempotencyKey, response: HttpResponse) -> None:
    kept = _held(claim).update(
        status=response.status_code,
        body=response.content,
        content_type=response["Content-Type"],
        headers={name: response[name] for name in _HEADERS if name in response},
    )
    if not kept:
        raise refuse("IDEMPOTENCY_UNDER_WAY")


def _stored(claim: IdempotencyKey) -> HttpResponse:
    response = HttpResponse(
        bytes(claim.body or b""), content_type=claim.content_type, status=claim.status or 200
    )
    for name, value in claim.headers.items():
        response[name] = value
    response["Idempotency-Replayed"] = "true"
    return response
