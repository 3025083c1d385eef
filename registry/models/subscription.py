from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from registry.models.team import Team


class Subscription(models.Model):
    """A team's agents are offered what another team shows; ``registry.subscribing`` is its only writer."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="subscriptions")
    publisher = models.ForeignKey(Team, models.CASCADE, related_name="subscribers")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "publisher"], name="one_subscription_a_publisher"),
            models.CheckConstraint(condition=~Q(team=F("publisher")), name="none_subscribes_to_itself"),
        ]
