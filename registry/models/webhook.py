from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models

from registry.models.identity import new_uid
from registry.models.team import Team

if TYPE_CHECKING:
    from registry.identity.actors import Actor


class WebhookEndpointQuerySet(models.QuerySet["WebhookEndpoint"]):
    def visible_to(self, actor: Actor) -> WebhookEndpointQuerySet:
        return self if actor.is_administrator else self.filter(team_id__in=actor.team_ids)


class WebhookEndpoint(models.Model):
    """A URL to which another system sends signed events. The signing secrets are stored encrypted."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="webhooks")
    name = models.CharField(max_length=120)
    prefix = models.CharField(max_length=100, blank=True)  # added in front of event types
    secret = models.TextField()  # encrypted, see registry.core.sealing
    previous_secret = models.TextField(blank=True)
    previous_until = models.DateTimeField(null=True)  # end of the previous secret's validity
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    rotated_at = models.DateTimeField(null=True)

    objects = WebhookEndpointQuerySet.as_manager()
