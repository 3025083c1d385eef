from django.db import models
from django.utils.translation import gettext_lazy as _

from registry.models.skill import Skill
from registry.models.team import Team


class ActivationTrigger(models.TextChoices):
    TYPED = "typed", _("Slash command typed by a person")
    CHOSEN = "chosen", _("Chosen by the model")
    NESTED = "nested", _("Called by another skill")


class ActivationDay(models.Model):
    """The reported activations of a skill by trigger and day (UTC). Unlike uses, each one counts."""

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="activation_days")
    trigger = models.CharField(max_length=6, choices=ActivationTrigger.choices)
    day = models.DateField()
    count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["skill", "day", "trigger"], name="one_activation_count_per_day")
        ]


class UnknownActivation(models.Model):
    """The number of activations that a team's agents reported under a name that matches no skill they can
    see. ``name`` is empty for activations without a name.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="unknown_activations")
    name = models.CharField(max_length=128, blank=True)
    count = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="one_unknown_activation_per_name")
        ]
