from django.db import models

from registry.core.leases import LeasedJob
from registry.models import Team


class RetentionPolicy(models.Model):
    """How long runs are kept: of the site, or of a team. ``worker.retention.policies`` is the only writer.

    Null means: keep. A run is removed as soon as the site's or its team's policy says so.
    """

    is_site = models.BooleanField(null=True, unique=True)  # True for the site's row, otherwise null
    team = models.OneToOneField(Team, models.CASCADE, null=True, related_name="retention")
    succeeded_days = models.PositiveIntegerField(null=True)
    failed_days = models.PositiveIntegerField(null=True)  # failed, timed out, lost
    other_days = models.PositiveIntegerField(null=True)  # cancelled, refused
    artifact_days = models.PositiveIntegerField(null=True)
    log_days = models.PositiveIntegerField(null=True)
    artifact_bytes = models.PositiveBigIntegerField(null=True)  # of all runs of a team; older ones go first
    keep_last = models.PositiveIntegerField(null=True)  # newest runs of each skill that a team keeps


class RetentionPass(LeasedJob):
    """The one row of the pass through all runs: how far it is, and what it removed."""

    attempt = models.PositiveIntegerField(default=0)  # counts for years
    due_at = models.DateTimeField()  # of the next pass
    cursor = models.BigIntegerField(default=0)  # the primary key of the last run that was looked at
    runs = models.PositiveIntegerField(default=0)  # that the present or last pass removed
    artifacts = models.PositiveIntegerField(default=0)  # runs whose artifacts were removed before the row
    logs = models.PositiveIntegerField(default=0)  # runs whose log was removed before the row
    bytes = models.PositiveBigIntegerField(default=0)  # artifacts and logs
