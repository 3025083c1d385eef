from django.conf import settings
from django.db import models

from registry.models.skill import Skill


class PinnedSkill(models.Model):
    """A skill that a user pinned to their home page."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="pins")
    skill = models.ForeignKey(Skill, models.CASCADE, related_name="pins")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "skill"], name="one_pin_per_skill")]
