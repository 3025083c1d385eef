"""Signed deliveries of other systems: endpoints with their secrets, and what a signature has to be.

A delivery says its id, its time and HMAC-SHA256 over ``timestamp.id.body`` in the headers that Standard
Webhooks names. An endpoint acts as whoever made it, for its team alone, with no more than the scope to run.
"""

from __future__ import annotations

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

from registry import audit, sealing, texts
from registry.actors import Actor
from registry.events.receiving import ID, Happening, Received, receive
from registry.models import Scope, Team, Token, WebhookEndpoint
from registry.packages.problems import Refused, refuse
from registry.permissions import Action, may, require

MARK = "whsec_"
SKEW_S = 300
OVERLAP_H = 24  # in which the secret before signs, too, unless another time is asked for
LONGEST_OVERLAP_H = 168
_TIMESTAMP = re.compile(r"[0-9]{1,12}")
_MOST_SIGNATURES = 10


@dataclass(frozen=True)
class Envelope:
    """The headers of a delivery, read and not believed yet."""

    id: str
    timestamp: str
    signatures: tuple[bytes, ...]


def endpoints(actor: Actor) -> QuerySet[WebhookEndpoint]:
    rows = WebhookEndpoint.objects.visible_to(actor).select_related("team", "created_by")
    return rows.order_by("team__slug", "name", "pk")


def find(uid: str, actor: Actor) -> WebhookEndpoint:
    found = endpoints(actor).filter(uid=uid).first()
    if found is None:
        raise refuse("NOT_FOUND", what="webhook endpoint", name=uid[:80])
    return found


def create(team: Team, *, name: str, prefix: str = "", actor: Actor) -> tuple[WebhookEndpoint, str]:
    """An endpoint and its secret, which is shown this once."""
    require(actor, Action.EVENTS, team=team)
    secret = _new_secret()
    endpoint = WebhookEndpoint(
        team=team,
        name=texts.plain(name, field="name", most=120),
        prefix=texts.plain(prefix, field="prefix", most=100, may_be_empty=True),
        secret=sealing.seal(secret),
        created_by=actor.user,
    )
    actor_of(endpoint)
    with transaction.atomic():
        endpoint.save()
        audit.record(actor, "webhook.create", endpoint.uid, team=team, name=endpoint.name)
    return endpoint, secret


def rotate(endpoint: WebhookEndpoint, actor: Actor, *, overlap_h: int = OVERLAP_H) -> str:
    """A new secret; the one before goes on signing for so many hours, 0 where others may know it."""
    require(actor, Action.EVENTS, team=endpoint.team)
    if not 0 <= overlap_h <= LONGEST_OVERLAP_H:
        raise refuse("WEBHOOK_OVERLAP_INVALID", path="overlap_hours", most=LONGEST_OVERLAP_H)
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
    """Deliveries find nothing there from now on; the events that came stay."""
    require(actor, Action.EVENTS, team=endpoint.team)
    with transaction.atomic():
        audit.record(actor, "webhook.delete", endpoint.uid, team=endpoint.team, name=endpoint.name)
        endpoint.delete()


def endpoint_at(uid: str) -> WebhookEndpoint:
    """The endpoint of an address, for whoever knows it; what it says is believed when it is signed."""
    rows = WebhookEndpoint.objects.select_related("team", "created_by")
    endpoint = rows.filter(uid=uid).first()
    if endpoint is None:
        raise refuse("NOT_FOUND", what="webhook endpoint", name=uid[:80])
    return endpoint


def open_envelope(headers: Mapping[str, str]) -> Envelope:
    """Refuses headers that are missing or unreadable, and a time that is too far from now."""
    id_, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not ID.fullmatch(id_):
        raise refuse("WEBHOOK_HEADERS_INVALID", header="webhook-id")
    if not _TIMESTAMP.fullmatch(timestamp):
        raise refuse("WEBHOOK_HEADERS_INVALID", header="webhook-timestamp")
    signatures = tuple(_signatures(headers.get("webhook-signature", "")))
    if not signatures:
        raise refuse("WEBHOOK_HEADERS_INVALID", header="webhook-signature")
    if abs(time.time() - int(timestamp)) > SKEW_S:
        raise refuse("WEBHOOK_STALE", seconds=SKEW_S)
    return Envelope(id_, timestamp, signatures)


def check_signature(endpoint: WebhookEndpoint, envelope: Envelope, body: bytes) -> None:
    """Each signature against each secret that is valid now, in a time that tells nothing."""
    signed = f"{envelope.timestamp}.{envelope.id}.".encode() + body
    known = [hmac.new(secret, signed, hashlib.sha256).digest() for secret in _valid_secrets(endpoint)]
    fits = [hmac.compare_digest(one, other) for one in known for other in envelope.signatures]
    if not any(fits):
        raise refuse("WEBHOOK_SIGNATURE_INVALID")


def deliver(endpoint: WebhookEndpoint, envelope: Envelope, document: Any) -> Received:
    """The event of a signed body: its ``type`` after the prefix, its ``data`` or else all of it."""
    if not isinstance(document, dict):
        raise refuse("EVENT_PAYLOAD_INVALID", reason="it is no object")
    type_ = document.get("type")
    if not isinstance(type_, str):
        raise refuse("FIELD_REQUIRED", path="type", field="type")
    payload = document.get("data", document)
    told = Happening(endpoint.prefix + type_, payload, envelope.id)
    return receive(told, actor_of(endpoint), team=endpoint.team, webhook=endpoint)


def actor_of(endpoint: WebhookEndpoint) -> Actor:
    """Its maker, as by a token for this team alone that may run: a lost role or account ends it."""
    user = endpoint.created_by
    if user is None or not user.is_active:
        raise refuse("WEBHOOK_NOBODY")
    name = f"webhook {endpoint.name}"[:120]
    token = Token(uid=endpoint.uid, owner=user, team=endpoint.team, name=name, scopes=[Scope.RUN])
    actor = Actor(user=user, token=token, scopes=frozenset({Scope.RUN.value}))
    if not may(actor, Action.RUN, team=endpoint.team):
        raise refuse("WEBHOOK_NOBODY")
    return actor


def actor_behind(run_uid: str) -> Actor:
    """Of the endpoint whose delivery asked for a run; refused where it is there no more."""
    rows = WebhookEndpoint.objects.select_related("team", "created_by")
    endpoint = rows.filter(events__matches__run_uid=run_uid).first()
    if endpoint is None:
        raise refuse("WEBHOOK_GONE")
    return actor_of(endpoint)


def _new_secret() -> str:
    return MARK + secrets.token_urlsafe(32)


def _valid_secrets(endpoint: WebhookEndpoint) -> Iterator[bytes]:
    yield sealing.unseal(endpoint.secret).encode()
    if endpoint.previous_until and endpoint.previous_until > timezone.now():
        try:
            yield sealing.unseal(endpoint.previous_secret).encode()
        except Refused:
            return  # written under a former key of the site: it signs nothing any more


def _signatures(header: str) -> Iterator[bytes]:
    """The signatures of version 1; those of other versions are not ours to judge."""
    for part in header.split()[:_MOST_SIGNATURES]:
        version, _, text = part.partition(",")
        if version == "v1" and text:
            try:
                yield base64.b64decode(text, validate=True)
            except (binascii.Error, ValueError):
                continue
