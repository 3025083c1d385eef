from __future__ import annotations

from django.db import models

from registry.models import Team


class TeamLimits(models.Model):
    """What an administrator lets a team use; null is as the site's setting says, 0 without end."""

    team = models.OneToOneField(Team, models.CASCADE, related_name="limits")
    concurrent_runs = models.PositiveIntegerField(null=True)
    runs_a_day = models.PositiveIntegerField(null=True)
    cpu_seconds_a_day = models.PositiveIntegerField(null=True)
    kept_bytes = models.PositiveBigIntegerField(null=True)  # artifacts of its runs


class TeamTurn(models.Model):
    """When a team's run was last claimed: of the teams that wait, the one that waits longest is next.

    No foreign key: a claim would fail with the team that goes meanwhile, and runs of no team wait, too.
    """

    team = models.PositiveBigIntegerField(primary_key=True)  # its key; 0: runs of no team
    served_at = models.DateTimeField()


class TeamDay(models.Model):
    """What a team used on one day (UTC)."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="+")
    day = models.DateField()
    runs = models.PositiveIntegerField(default=0)
    cpu_ms = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "day"], name="one_row_a_team_and_day")]
