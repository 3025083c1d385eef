"""Webhook endpoints and the verification of their signed deliveries.

A delivery has an id, a time and an HMAC-SHA256 of ``timestamp.id.body``, in the headers of Standard Webhooks.
An endpoint acts in the name of the user who created it, for its team only and with the run scope only.
"""

import base64
import binascii
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from registry.core import sealing
from registry.core import text as texts
from registry.core.errors import FIELD_REQUIRED, NOT_FOUND
from registry.events import errors
from registry.events.receive import EVENT_ID, IncomingEvent, ReceivedEvent, receive
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, may, require, require_unarchived
from registry.models import Event, Scope, Team, Token, WebhookEndpoint
from registry.packages.problems import Refusal

SECRET_PREFIX = "whsec_"
MAX_SKEW_S = 300
DEFAULT_OVERLAP_H = 24  # default time for which the previous secret stays valid
MAX_OVERLAP_H = 168
_TIMESTAMP = re.compile(r"[0-9]{1,12}")
_MAX_SIGNATURES = 10


@dataclass(frozen=True)
class Envelope:
    """The parsed headers of a delivery. The signatures are not verified yet."""

    id: str
    timestamp: str
    signatures: tuple[bytes, ...]


def endpoints(actor: Actor) -> QuerySet[WebhookEndpoint]:
    rows = WebhookEndpoint.objects.visible_to(actor).select_related("team", "created_by")
    return rows.order_by("team__slug", "name", "pk")


def find_endpoint(uid: str, actor: Actor) -> WebhookEndpoint:
    found = endpoints(actor).filter(uid=uid).first()
    if found is None:
        raise NOT_FOUND.refusal(what="webhook", name=uid[:80])
    return found


def create(team: Team, *, name: str, prefix: str = "", actor: Actor) -> tuple[WebhookEndpoint, str]:
    """Creates an endpoint and returns it with its secret, which can't be read again.

    Raises the refusals of ``require``, TEXT_INVALID for name or prefix, and WEBHOOK_OWNER_MISSING unless the
    actor has a user that may run skills for the team.
    """
    require(actor, Action.EVENTS, team=team)
    secret = _new_secret()
    endpoint = WebhookEndpoint(
        team=team,
        name=texts.validated(name, field="name", max_length=120),
        prefix=texts.validated(prefix, field="prefix", max_length=100, allow_blank=True),
        secret=sealing.seal(secret),
        created_by=actor.user,
    )
    endpoint_actor(endpoint)
    with transaction.atomic():
        endpoint.save()
        audit.record(actor, "webhook.create", endpoint.uid, team=team, name=endpoint.name)
    return endpoint, secret


def rotate(endpoint: WebhookEndpoint, actor: Actor, *, overlap_h: int = DEFAULT_OVERLAP_H) -> str:
    """Replaces the secret and returns the new one. The old one stays valid for ``overlap_h`` hours. Raises
    the refusals of ``require``, and WEBHOOK_OVERLAP_INVALID for a number outside 0 to ``MAX_OVERLAP_H``.
    """
    require(actor, Action.EVENTS, team=endpoint.team)
    if not 0 <= overlap_h <= MAX_OVERLAP_H:
        raise errors.WEBHOOK_OVERLAP_INVALID.refusal(most=MAX_OVERLAP_H).at("overlap_hours")
    secret, now = _new_secret(), timezone.now()
    with transaction.atomic():
        row = WebhookEndpoint.objects.select_for_update().get(pk=endpoint.pk)
        row.previous_secret = row.secret if overlap_h else ""
        row.previous_until = now + timedelta(hours=overlap_h) if overlap_h else None
        row.secret, row.rotated_at = sealing.seal(secret), now
        row.save()
        audit.record(actor, "webhook.rotate", row.uid, team=endpoint.team, overlap_hours=overlap_h)
    endpoint.refresh_from_db()
    return secret


def remove(endpoint: WebhookEndpoint, actor: Actor) -> None:
    """Deletes the endpoint; later deliveries get 404. Its events stay. Raises the refusals of ``require``."""
    require(actor, Action.EVENTS, team=endpoint.team)
    with transaction.atomic():
        audit.record(actor, "webhook.delete", endpoint.uid, team=endpoint.team, name=endpoint.name)
        endpoint.delete()


def delivery_endpoint(uid: str) -> WebhookEndpoint:
    """The endpoint with this uid. Access is not checked here, because the delivery's signature is the
    credential. Raises NOT_FOUND if there is none.
    """
    rows = WebhookEndpoint.objects.select_related("team", "created_by")
    endpoint = rows.filter(uid=uid).first()
    if endpoint is None:
        raise NOT_FOUND.refusal(what="webhook", name=uid[:80])
    return endpoint


def read_envelope(headers: Mapping[str, str]) -> Envelope:
    """The parsed headers of a delivery. Raises WEBHOOK_HEADERS_INVALID if one is missing or invalid, and
    WEBHOOK_STALE if the time is off by more than ``MAX_SKEW_S``.
    """
    id_, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not EVENT_ID.fullmatch(id_):
        raise errors.WEBHOOK_HEADERS_INVALID.refusal(header="webhook-id")
    if not _TIMESTAMP.fullmatch(timestamp):
        raise errors.WEBHOOK_HEADERS_INVALID.refusal(header="webhook-timestamp")
    signatures = tuple(_signatures(headers.get("webhook-signature", "")))
    if not signatures:
        raise errors.WEBHOOK_HEADERS_INVALID.refusal(header="webhook-signature")
    if abs(time.time() - int(timestamp)) > MAX_SKEW_S:
        raise errors.WEBHOOK_STALE.refusal(seconds=MAX_SKEW_S)
    return Envelope(id_, timestamp, signatures)


def check_signature(endpoint: WebhookEndpoint, envelope: Envelope, body: bytes) -> None:
    """Raises WEBHOOK_SIGNATURE_INVALID unless a signature matches a valid secret; compares in constant time.
    Raises SECRET_UNREADABLE if the current secret can't be decrypted.
    """
    signed = f"{envelope.timestamp}.{envelope.id}.".encode() + body
    known = [hmac.new(secret, signed, hashlib.sha256).digest() for secret in _valid_secrets(endpoint)]
    fits = [hmac.compare_digest(one, other) for one in known for other in envelope.signatures]
    if not any(fits):
        raise errors.WEBHOOK_SIGNATURE_INVALID.refusal()


def deliver(endpoint: WebhookEndpoint, envelope: Envelope, document: Any) -> ReceivedEvent:
    """Receives the event in a verified body. The event type is the endpoint's prefix followed by the body's
    ``type``; the payload is ``data``, or the whole body if it has no ``data``.

    Raises EVENT_PAYLOAD_INVALID if the body is not an object, FIELD_REQUIRED without a type, and the refusals
    of ``endpoint_actor`` and ``receive``.
    """
    if not isinstance(document, dict):
        raise errors.EVENT_PAYLOAD_INVALID.refusal(reason="it is not a JSON object")
    type_ = document.get("type")
    if not isinstance(type_, str):
        raise FIELD_REQUIRED.refusal(field="type").at("type")
    payload = document.get("data", document)
    event = IncomingEvent(endpoint.prefix + type_, payload, envelope.id)
    return receive(event, endpoint_actor(endpoint), team=endpoint.team, webhook=endpoint)


def endpoint_actor(endpoint: WebhookEndpoint) -> Actor:
    """The endpoint's creator as an actor, limited to the endpoint's team and the run scope. Raises
    TEAM_ARCHIVED, or WEBHOOK_OWNER_MISSING if the creator was deleted or deactivated or may not run skills
    for the team.
    """
    require_unarchived(endpoint.team)
    user = endpoint.created_by
    if user is None or not user.is_active:
        raise errors.WEBHOOK_OWNER_MISSING.refusal()
    name = f"webhook {endpoint.name}"[:120]
    token = Token(uid=endpoint.uid, owner=user, team=endpoint.team, name=name, scopes=[Scope.RUN])
    actor = Actor(user=user, token=token, scopes=frozenset({Scope.RUN.value}))
    if not may(actor, Action.RUN, team=endpoint.team):
        raise errors.WEBHOOK_OWNER_MISSING.refusal()
    return actor


def actor_of_run(run_uid: str) -> Actor | None:
    """The actor of the endpoint that started the run; None if no event started it. Raises WEBHOOK_GONE if the
    endpoint was deleted, and the refusals of ``endpoint_actor``.
    """
    rows = Event.objects.select_related("webhook__team", "webhook__created_by")
    event = rows.filter(matches__run_uid=run_uid).first()
    if event is None:
        return None
    if event.webhook is None:
        raise errors.WEBHOOK_GONE.refusal()
    return endpoint_actor(event.webhook)


def reseal() -> int:
    """Encrypts the signing secrets of all webhooks with the site's key; returns the number of webhooks."""
    count = 0
    for key in WebhookEndpoint.objects.order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            row = WebhookEndpoint.objects.select_for_update().filter(pk=key).first()
            if row:
                row.secret = sealing.reseal(row.secret)
                row.previous_secret = row.previous_secret and sealing.reseal(row.previous_secret)
                row.save(update_fields=["secret", "previous_secret"])
                count += 1
    return count


def _new_secret() -> str:
    return SECRET_PREFIX + secrets.token_urlsafe(32)


def _valid_secrets(endpoint: WebhookEndpoint) -> Iterator[bytes]:
    yield sealing.unseal(endpoint.secret).encode()
    if endpoint.previous_until and endpoint.previous_until > timezone.now():
        try:
            yield sealing.unseal(endpoint.previous_secret).encode()
        except Refusal:
            return  # encrypted with a former site key, so no longer valid


def _signatures(header: str) -> Iterator[bytes]:
    """Yields the decoded signatures of version 1 among the first ``_MAX_SIGNATURES``; skips other versions
    and invalid base64.
    """
    for part in header.split()[:_MAX_SIGNATURES]:
        version, _, text = part.partition(",")
        if version == "v1" and text:
            try:
                yield base64.b64decode(text, validate=True)
            except (binascii.Error, ValueError):
                continue
