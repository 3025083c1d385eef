from django.conf import settings
from django.db import models

from registry.models.skill import Skill
from registry.models.team import Team
from registry.models.version import Version


class Channel(models.Model):
    """A channel that a maintainer set. There is no row for ``latest``, which is computed."""

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="channels")
    name = models.CharField(max_length=32)  # "stable", "beta"
    version = models.ForeignKey(Version, models.CASCADE, related_name="channels")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["skill", "name"], name="one_channel_per_name")]


class Redirect(models.Model):
    """A former address of a skill, which redirects to the skill. No other skill can use this address."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="+")
    slug = models.CharField(max_length=64)
    to = models.ForeignKey(Skill, models.CASCADE, related_name="redirects")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "slug"], name="one_redirect_per_slug")]


class Tombstone(models.Model):
    """The number and digest of a purged version. Requests for the number get 410. The skill can't reuse the
    number, and the team can't publish the content again.
    """

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="tombstones")
    number = models.CharField(max_length=64)
    digest = models.CharField(max_length=71, db_index=True)
    reason = models.CharField(max_length=500)
    purged_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    purged_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["skill", "number"], name="one_tombstone")]
