"""Creates, changes and deletes subscriptions of people and teams to notifications."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import QuerySet

from registry.core import sealing
from registry.core import text as texts
from registry.core.errors import NOT_FOUND
from registry.http_client.fetch import redact_url
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require, require_scope
from registry.models import Skill, Team
from registry.packages.problems import Refusal
from worker.delivery import errors
from worker.models import DeliveryChannel, Digest, NotificationKind, NotificationSubscription

MAX_SUBSCRIPTIONS = 30  # limit per person or team
MIN_SECRET = 16
_MAX_ADDRESS = 1_000
WITH_SECRET = (DeliveryChannel.WEBHOOK, DeliveryChannel.FEISHU, DeliveryChannel.DINGTALK)


@dataclass(frozen=True)
class SubscriptionOptions:
    """The settings of a subscription. In a change, None keeps the current address or secret."""

    channel: str
    kinds: Collection[str]
    skill: Skill | None = None
    address: str | None = ""
    secret: str | None = ""
    digest: str = Digest.NONE
    muted_until: datetime | None = None


def subscriptions(actor: Actor, team: Team | None = None) -> QuerySet[NotificationSubscription]:
    """The subscriptions that the actor can see; with a team, only the team's."""
    rows = NotificationSubscription.objects.visible_to(actor)
    rows = rows.select_related("user", "team", "skill__team", "created_by")
    return (rows.filter(team=team) if team else rows).order_by("pk")


def find(uid: str, actor: Actor) -> NotificationSubscription:
    found = subscriptions(actor).filter(uid=uid).first()
    if found is None:
        raise NOT_FOUND.refusal(what="subscription", name=uid[:80])
    return found


def create(options: SubscriptionOptions, actor: Actor, team: Team | None = None) -> NotificationSubscription:
    """Subscribes the team, or the actor if no team is given, with an audit entry; returns the subscription.

    Requires a session and, for a team, permission to change its settings. Raises SUBSCRIPTIONS_TOO_MANY above
    ``MAX_SUBSCRIPTIONS``, SUBSCRIPTION_INBOX_EXISTS for a second inbox subscription for the same skill, and
    other refusals for invalid options.
    """
    _require_change(actor, team)
    row = NotificationSubscription(
        user=None if team else actor.user, team=team, channel=options.channel, created_by=actor.user
    )
    with transaction.atomic():
        _apply(row, options)
        others = NotificationSubscription.objects.filter(user=row.user, team=team)
        if others.count() >= MAX_SUBSCRIPTIONS:
            raise errors.SUBSCRIPTIONS_TOO_MANY.refusal(most=MAX_SUBSCRIPTIONS)
        if (
            row.channel == DeliveryChannel.INBOX
            and others.filter(channel=row.channel, skill=row.skill).exists()
        ):
            raise errors.SUBSCRIPTION_INBOX_EXISTS.refusal().at("channel")
        row.save()
        _audit(actor, "create", row)
    return row


def change(row: NotificationSubscription, options: SubscriptionOptions, actor: Actor) -> None:
    """Replaces the settings, except for channel and skill, and forgets earlier failures. Raises the refusals
    of ``create`` for invalid options.
    """
    _require_change(actor, row.team)
    with transaction.atomic():
        _apply(row, options)
        row.retry_at, row.failures = None, 0
        fields = ("kinds", "address", "secret", "digest", "muted_until", "retry_at", "failures")
        row.save(update_fields=fields)
        _audit(actor, "edit", row)


def mute(row: NotificationSubscription, until: datetime | None, actor: Actor) -> None:
    """Stops notifications until the given time; None unmutes. Events in the meantime are not sent later."""
    _require_change(actor, row.team)
    row.muted_until = until
    row.save(update_fields=["muted_until"])


def delete(row: NotificationSubscription, actor: Actor) -> None:
    """Deletes the subscription, with its deliveries."""
    _require_change(actor, row.team)
    with transaction.atomic():
        _audit(actor, "delete", row)
        row.delete()


def shown_address(row: NotificationSubscription) -> str:
    """The address without secret parts: for chat webhooks only the host, otherwise without the query. "" if
    the address can't be decrypted.
    """
    if row.channel == DeliveryChannel.EMAIL and row.user:
        return row.user.email
    try:
        address = sealing.unseal(row.address) if row.address else ""
    except Refusal:
        return ""
    if not address or row.channel == DeliveryChannel.EMAIL:
        return address
    parts = urlsplit(redact_url(address))
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path if row.channel == DeliveryChannel.WEBHOOK else '/…'}"


def has_address(row: NotificationSubscription) -> bool:
    """Whether the subscription stores an address: not for inboxes and for the e-mail of a person."""
    is_own_email = row.channel == DeliveryChannel.EMAIL and row.team is None
    return row.channel != DeliveryChannel.INBOX and not is_own_email


def _require_change(actor: Actor, team: Team | None) -> None:
    require_scope(actor, Action.EVENTS)  # tokens must not choose the target of notifications
    if team:
        require(actor, Action.SETTINGS, team=team)


def _apply(row: NotificationSubscription, options: SubscriptionOptions) -> None:
    if row.channel not in DeliveryChannel.values:
        known = tuple(DeliveryChannel.values)
        raise errors.SUBSCRIPTION_KIND_UNKNOWN.refusal(value=row.channel[:80], known=known).at("channel")
    unknown = [kind for kind in options.kinds if kind not in NotificationKind.values]
    if unknown:
        known = tuple(NotificationKind.values)
        raise errors.SUBSCRIPTION_KIND_UNKNOWN.refusal(value=unknown[0][:80], known=known).at("kinds")
    if not options.kinds:
        raise errors.SUBSCRIPTION_KINDS_MISSING.refusal().at("kinds")
    row.kinds = [kind for kind in NotificationKind.values if kind in options.kinds]
    row.skill = options.skill if row.pk is None else row.skill
    if options.address is not None:
        row.address = _sealed_address(row, options.address)
    if options.secret is not None:
        row.secret = _sealed_secret(row.channel, options.secret)
    row.digest = Digest.NONE if row.channel == DeliveryChannel.INBOX else options.digest
    row.muted_until = options.muted_until


def _sealed_address(row: NotificationSubscription, address: str) -> str:
    address = texts.validated(address, field="address", max_length=_MAX_ADDRESS, allow_blank=True)
    is_email = row.channel == DeliveryChannel.EMAIL
    if is_email and not settings.EMAIL_HOST:
        raise errors.MAIL_NOT_CONFIGURED.refusal().at("channel")
    if is_email and row.user and not row.user.email:
        raise errors.SUBSCRIPTION_EMAIL_MISSING.refusal().at("channel")
    if not has_address(row):
        if address:
            raise errors.SUBSCRIPTION_ADDRESS_NOT_USED.refusal(channel=row.channel).at("address")
        return ""
    if not (_is_email(address) if is_email else _is_url(address)):
        raise errors.SUBSCRIPTION_ADDRESS_INVALID.refusal(channel=row.channel).at("address")
    return sealing.seal(address)


def _sealed_secret(channel: str, secret: str) -> str:
    secret = texts.validated(secret, field="secret", max_length=500, allow_blank=True)
    needed = channel == DeliveryChannel.WEBHOOK and len(secret) < MIN_SECRET
    if needed or (secret and channel not in WITH_SECRET):
        raise errors.SUBSCRIPTION_SECRET_INVALID.refusal(least=MIN_SECRET).at("secret")
    return sealing.seal(secret) if secret else ""


def _is_url(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return (
        parts.scheme in ("http", "https")
        and bool(parts.hostname)
        and address.isascii()
        and " " not in address
    )


def _is_email(address: str) -> bool:
    try:
        validate_email(address)
    except ValidationError:
        return False
    return True


def _audit(actor: Actor, verb: str, row: NotificationSubscription) -> None:
    audit.record(actor, f"notification.{verb}", row.uid, team=row.team, channel=row.channel)
