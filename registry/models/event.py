from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from registry.models.fields import DocumentField
from registry.models.identity import new_uid
from registry.models.skill import Skill
from registry.models.team import Team
from registry.models.webhook import WebhookEndpoint

if TYPE_CHECKING:
    from registry.identity.actors import Actor


class EventQuerySet(models.QuerySet["Event"]):
    def visible_to(self, actor: Actor) -> EventQuerySet:
        """The events of the actor's teams; all events for administrators."""
        return self if actor.is_administrator else self.filter(team_id__in=actor.team_ids)


class Event(models.Model):
    """An event that another system sent or the site itself created. Written only by ``registry.events``.
    Erasing the sender deletes the event.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="events")
    type = models.CharField(max_length=200)
    payload = DocumentField()
    # The sender, "user:7" or "hook:<uid>"; event ids are unique per origin.
    origin = models.CharField(max_length=64)
    # the sender's id for the event; the uid if the sender gave none
    external_id = models.CharField(max_length=200)
    sender = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    webhook = models.ForeignKey(WebhookEndpoint, models.SET_NULL, null=True, related_name="events")
    received_at = models.DateTimeField(db_index=True)

    objects = EventQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["origin", "external_id"], name="one_event_per_id")]
        indexes = [models.Index(fields=["origin", "received_at"], name="event_rate")]


class EventOutcome(models.TextChoices):
    STARTED = "started", _("Started")
    PROPOSED = "proposed", _("Proposed")
    REFUSED = "refused", _("Refused")


class EventMatchQuerySet(models.QuerySet["EventMatch"]):
    def visible_to(self, actor: Actor) -> EventMatchQuerySet:
        """The matches whose skill the actor may see; an event can have matches that the actor can't see."""
        return self.filter(models.Exists(_visible_skill(actor)))


class EventMatch(models.Model):
    """A skill that declares the type of an event. The outcome is a started run, a proposed run, or a refusal
    with problems.
    """

    event = models.ForeignKey(Event, models.CASCADE, related_name="matches")
    skill = models.ForeignKey(Skill, models.CASCADE, related_name="+")
    version_number = models.CharField(max_length=64)
    rank = models.PositiveSmallIntegerField()
    outcome = models.CharField(max_length=8, choices=EventOutcome.choices)
    run_uid = models.CharField(max_length=26, blank=True)  # no foreign key: runs belong to the worker app
    problems = DocumentField(default=list)

    objects = EventMatchQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["event", "skill"], name="one_match_per_skill")]


class EventMode(models.TextChoices):
    START = "start", _("Start a run")
    PROPOSE = "propose", _("Propose a run")


class EventSubscriptionQuerySet(models.QuerySet["EventSubscription"]):
    def visible_to(self, actor: Actor) -> EventSubscriptionQuerySet:
        own = self if actor.is_administrator else self.filter(team_id__in=actor.team_ids)
        return own.filter(models.Exists(_visible_skill(actor)))


def _visible_skill(actor: Actor) -> models.QuerySet[Skill]:
    """The skill of a row, if the actor may see it."""
    return Skill.objects.visible_to(actor).filter(pk=models.OuterRef("skill"))


class EventSubscription(models.Model):
    """A team's setting for a skill and an event type: events start a run, or only propose one."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="event_subscriptions")
    skill = models.ForeignKey(Skill, models.CASCADE, related_name="event_subscriptions")
    event_type = models.CharField(max_length=200)
    mode = models.CharField(max_length=8, choices=EventMode.choices)
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    set_at = models.DateTimeField(auto_now=True)

    objects = EventSubscriptionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "skill", "event_type"], name="one_mode_per_event_type")
        ]
