from django.db import models
from django.db.models import F, Q

from registry.models.team import Team


class Subscription(models.Model):
    """Recommends the skills of ``publisher`` to the agents of ``team``. Written only by
    ``registry.subscriptions``.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="subscriptions")
    publisher = models.ForeignKey(Team, models.CASCADE, related_name="subscribers")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "publisher"], name="one_subscription_per_publisher"),
            models.CheckConstraint(condition=~Q(team=F("publisher")), name="no_self_subscription"),
        ]
