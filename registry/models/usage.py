from django.db import models
from django.utils.translation import gettext_lazy as _

from registry.models.skill import Skill


class UseKind(models.TextChoices):
    LOAD = "load", _("Loaded")
    INSTALL = "install", _("Installed")
    RUN = "run", _("Run")
    ACTIVATION = "activation", _("Activated")


class Use(models.Model):
    """The uses of a skill by one caller. A use within 60 s of ``last_counted_at`` does not count."""

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="uses")
    caller = models.CharField(max_length=64)
    last_kind = models.CharField(max_length=10, choices=UseKind.choices)
    count = models.PositiveIntegerField(default=0)
    last_counted_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["skill", "caller"], name="one_use_row_per_caller")]


class UseDay(models.Model):
    """The number of uses of a skill by version, kind and day (UTC). Uses without a known version have an
    empty ``version``.
    """

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="use_days")
    version = models.CharField(max_length=64, blank=True)  # the version's number
    kind = models.CharField(max_length=10, choices=UseKind.choices)
    day = models.DateField()
    count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["skill", "day", "kind", "version"], name="one_use_count_per_day")
        ]
