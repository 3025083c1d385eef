from django.db import models

from registry.core.leases import LeasedJob
from registry.models import Team


class RetentionPolicy(models.Model):
    """The retention periods for runs of the site or of a team. Written only by ``worker.retention.policies``.

    Null means no limit. A run is removed when the policy of the site or of its team no longer keeps it.
    """

    is_site = models.BooleanField(null=True, unique=True)  # True for the site's row, otherwise null
    team = models.OneToOneField(Team, models.CASCADE, null=True, related_name="retention")
    succeeded_days = models.PositiveIntegerField(null=True)
    failed_days = models.PositiveIntegerField(null=True)  # for failed, timed-out and lost runs
    other_days = models.PositiveIntegerField(null=True)  # for cancelled and refused runs
    artifact_days = models.PositiveIntegerField(null=True)
    log_days = models.PositiveIntegerField(null=True)
    # Total of a team's runs; the oldest ones are removed first.
    artifact_bytes = models.PositiveBigIntegerField(null=True)
    # Number of newest runs of each skill that a team keeps.
    keep_last = models.PositiveIntegerField(null=True)


class RetentionPass(LeasedJob):
    """The retention pass through all runs, in one row: its position and the amounts that it removed."""

    attempt = models.PositiveIntegerField(default=0)  # large enough for the counts of years
    due_at = models.DateTimeField()  # start of the next pass
    cursor = models.BigIntegerField(default=0)  # primary key of the last examined run
    runs = models.PositiveIntegerField(default=0)  # runs that the current or last pass removed
    artifacts = models.PositiveIntegerField(default=0)  # runs whose artifacts were removed before the row
    logs = models.PositiveIntegerField(default=0)  # runs whose log was removed before the row
    bytes = models.PositiveBigIntegerField(default=0)  # bytes of artifacts and logs
