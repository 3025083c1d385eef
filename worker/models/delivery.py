from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from registry.identity.permissions import Action, teams_where
from registry.models import Skill, Team
from registry.models.fields import DocumentField
from registry.models.identity import new_uid
from worker.models.notification import NotificationEvent

if TYPE_CHECKING:
    from registry.identity.actors import Actor


class DeliveryChannel(models.TextChoices):
    INBOX = "inbox", _("Inbox")
    EMAIL = "email", _("E-mail")
    WEBHOOK = "webhook", _("Signed webhook")
    SLACK = "slack", "Slack"
    TEAMS = "teams", "Microsoft Teams"
    FEISHU = "feishu", _("Feishu")
    DINGTALK = "dingtalk", _("DingTalk")


MEMORY_CHANNEL = "memory"  # changes of memories, for the system at SKILLQUAY_MEMORY_URL


class Digest(models.TextChoices):
    NONE = "none", _("Each notification immediately")
    HOURLY = "hourly", _("Hourly digest")
    DAILY = "daily", _("Daily digest")


class NotificationSubscriptionQuerySet(models.QuerySet["NotificationSubscription"]):
    def visible_to(self, actor: Actor) -> NotificationSubscriptionQuerySet:
        """The actor's own subscriptions, and those of teams whose settings the actor may change; for
        administrators, those of all teams. Excludes the subscription for memory changes.
        """
        rows = self.exclude(channel=MEMORY_CHANNEL)
        if actor.user is None and not actor.is_administrator:
            return rows.none()
        own = Q(user=actor.user) if actor.user else Q()
        if actor.is_administrator:
            return rows.filter(own | Q(user=None))
        return rows.filter(own | Q(team__in=teams_where(actor, Action.SETTINGS)))


class NotificationSubscription(models.Model):
    """A subscription of a person or team to notifications over a channel. Address and secret are stored
    encrypted.

    The delivery loop writes ``failures``, ``retry_at``, ``served_at`` and ``lease_until``.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="notification_subscriptions"
    )
    team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="notification_subscriptions")
    channel = models.CharField(max_length=8, choices=DeliveryChannel.choices)
    kinds = DocumentField(default=list)  # values of NotificationKind
    skill = models.ForeignKey(Skill, models.CASCADE, null=True, related_name="+")  # null for all skills
    address = models.TextField(blank=True)  # see registry.core.sealing
    secret = models.TextField(blank=True)
    digest = models.CharField(max_length=6, choices=Digest.choices, default=Digest.NONE)
    muted_until = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    failures = models.PositiveIntegerField(default=0)  # failed attempts since the last success
    retry_at = models.DateTimeField(null=True)  # after a failure, no message is sent before this time
    served_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)

    objects = NotificationSubscriptionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["channel"], condition=Q(channel="memory"), name="one_memory_subscription"
            )
        ]

    def __str__(self) -> str:
        return f"{self.channel} {self.uid}"


class DeliveryState(models.TextChoices):
    QUEUED = "queued", _("Queued")
    SENT = "sent", _("Sent")
    FAILED = "failed", _("Failed")
    SKIPPED = "skipped", _("Skipped")


class DeliveryKind(models.TextChoices):
    NOTIFICATION = "notification", _("Notification")
    TEST = "test", _("Test")
    MEMORY = "memory", _("Memory change")


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def visible_to(self, actor: Actor) -> DeliveryQuerySet:
        """Deliveries of subscriptions that the actor can see; for administrators, also memory changes."""
        own = Q(subscription__in=NotificationSubscription.objects.visible_to(actor))
        memory = Q(kind=DeliveryKind.MEMORY) if actor.is_administrator else Q()
        return self.filter(own | memory)


class Delivery(models.Model):
    """A message to one subscription, and its state. Written only by ``worker.delivery``."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    subscription = models.ForeignKey(NotificationSubscription, models.CASCADE, related_name="deliveries")
    event = models.ForeignKey(NotificationEvent, models.CASCADE, null=True, related_name="deliveries")
    kind = models.CharField(max_length=12, choices=DeliveryKind.choices, default=DeliveryKind.NOTIFICATION)
    payload = DocumentField(default=dict)  # the memory's id, for memory changes
    batch = models.CharField(max_length=26, blank=True, db_index=True)  # shared by the deliveries of a digest
    state = models.CharField(max_length=7, choices=DeliveryState.choices, default=DeliveryState.QUEUED)
    attempts = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField()
    last_status = models.PositiveSmallIntegerField(null=True)  # HTTP status of the last response
    error = models.CharField(max_length=300, blank=True)  # reason of the last failed attempt
    excerpt = models.CharField(max_length=500, blank=True)  # start of the body of the last response
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    replay_of = models.ForeignKey("self", models.SET_NULL, null=True, related_name="+")

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["event", "subscription"],
                condition=Q(replay_of=None),
                name="one_delivery_per_event_and_subscription",
            )
        ]
        indexes = [
            models.Index(fields=["subscription", "due_at"], name="delivery_due", condition=Q(state="queued")),
            models.Index(fields=["subscription", "-id"], name="delivery_log"),
            models.Index(fields=["created_at"], name="delivery_created"),
        ]

    def __str__(self) -> str:
        return self.uid

    @property
    def message_id(self) -> str:
        """The id that the receiver gets, which is the same for each attempt."""
        return self.batch or self.uid
