from django.db import models

from registry.models import Team


class TeamLimits(models.Model):
    """The limits of a team, set by administrators; null means the site's default, 0 means no limit."""

    team = models.OneToOneField(Team, models.CASCADE, related_name="limits")
    concurrent_runs = models.PositiveIntegerField(null=True)
    runs_per_day = models.PositiveIntegerField(null=True)
    cpu_seconds_per_day = models.PositiveIntegerField(null=True)
    stored_bytes = models.PositiveBigIntegerField(null=True)  # artifacts of its runs


class TeamQueueState(models.Model):
    """When a run of the team was last claimed, for the fair order between teams.

    There is no foreign key, because deleting a team must not make a claim fail, and runs can have no team.
    """

    team = models.PositiveBigIntegerField(primary_key=True)  # its key; 0: runs without a team
    served_at = models.DateTimeField()


class TeamDailyUsage(models.Model):
    """The usage of a team on one day (UTC)."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="+")
    day = models.DateField()
    runs = models.PositiveIntegerField(default=0)
    cpu_ms = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "day"], name="one_row_per_team_and_day")]
