from django.db import models

from registry.models import Team


class TeamLimits(models.Model):
    """The limits of a team, set by administrators; null means the site's default, 0 means no limit."""

    team = models.OneToOneField(Team, models.CASCADE, related_name="limits")
    concurrent_runs = models.PositiveIntegerField(null=True)
    runs_per_day = models.PositiveIntegerField(null=True)
    cpu_seconds_per_day = models.PositiveIntegerField(null=True)
    stored_bytes = models.PositiveBigIntegerField(null=True)  # limit of the artifacts of its runs


class TeamQueueState(models.Model):
    """The time of the last claim of a team's run, for the fair order between teams.

    There is no foreign key, because some runs have no team and deleting a team must not make a claim fail.
    """

    # Primary key of the team; 0 for runs without a team.
    team = models.PositiveBigIntegerField(primary_key=True)
    served_at = models.DateTimeField()


class TeamDailyUsage(models.Model):
    """The usage of a team on one day (UTC)."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="+")
    day = models.DateField()
    runs = models.PositiveIntegerField(default=0)
    cpu_ms = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "day"], name="one_row_per_team_and_day")]
