from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q

from registry.identity.permissions import Action, in_scope
from registry.models import Role, Skill
from registry.models.fields import DocumentField

if TYPE_CHECKING:
    from registry.identity.actors import Actor

_MAINTAINING = (Role.MAINTAINER, Role.OWNER)
TOTAL_KEY = -1


class DailyRunsQuerySet(models.QuerySet["DailyRuns"]):
    def totals(self) -> DailyRunsQuerySet:
        """The counts of all teams and callers together, for actors who see or read all runs of a skill."""
        return self.filter(team_key=TOTAL_KEY)

    def visible_to(self, actor: Actor) -> DailyRunsQuerySet:
        """The counts of runs that the actor can see, by the same rule as ``RunQuerySet.visible_to``. Does not
        include totals.
        """
        rows = self.filter(team_key__gte=0)
        if actor.is_administrator:
            return rows
        if actor.user is None:
            return self.none()
        return rows.filter(
            _started_by(actor) | Q(team_key__in=actor.team_ids) | Q(skill__team_id__in=actor.team_ids)
        )

    def readable_by(self, actor: Actor) -> DailyRunsQuerySet:
        """The counts of runs whose content the actor can read, as in ``RunQuerySet.readable_by``. Does not
        include totals.
        """
        others = in_scope(actor, Action.READ_RUNS)
        if actor.is_administrator and others:
            return self.filter(team_key__gte=0)
        if actor.user is None:
            return self.none()
        if not others:
            return self.filter(_started_by(actor))
        maintained = [team for team, role in actor.roles.items() if role in _MAINTAINING]
        return self.filter(_started_by(actor) | Q(team_key__in=actor.shared_run_team_ids.union(maintained)))


def sees_all_runs(skill: Skill, actor: Actor) -> bool:
    """Whether the actor can see every run of the skill, by the rule of ``RunQuerySet.visible_to``."""
    return actor.is_administrator or (actor.user is not None and skill.team_id in actor.team_ids)


def reads_all_runs(actor: Actor) -> bool:
    """Whether the actor can read every run, by the rule of ``RunQuerySet.readable_by``."""
    return actor.is_administrator and in_scope(actor, Action.READ_RUNS)


def _started_by(actor: Actor) -> Q:
    assert actor.user
    own = Q(caller_key=actor.user.pk)
    return own & Q(team_key=actor.token.team_id) if actor.token and actor.token.team_id else own


class DailyRuns(models.Model):
    """The ended runs of a version that were requested on one day (UTC), by team, caller and outcome.

    ``worker.daily_runs`` is the only writer. The rows stay when retention removes the runs. ``team_key`` and
    ``caller_key`` are primary keys; 0 means none, because a unique constraint ignores rows with null. If both
    are ``TOTAL_KEY``, the row is the total of the day's runs: a skill can have thousands of callers. Totals
    have no status and no failure code; ``outcomes`` has their runs by both.
    """

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="daily_runs", db_index=False)
    day = models.DateField()
    version_number = models.CharField(max_length=64)
    team_key = models.BigIntegerField()
    caller_key = models.BigIntegerField()
    status = models.CharField(max_length=16, blank=True)
    failure_code = models.CharField(max_length=64, blank=True)
    runs = models.PositiveIntegerField(default=0)
    outcomes = DocumentField(default=dict)  # of a total: {status: {failure code: number of runs}}
    # {milliseconds rounded to two significant digits: number of runs}.
    durations = DocumentField(default=dict)
    cpu_ms = models.PositiveBigIntegerField(default=0)  # sum over these runs
    peak_cpu_ms = models.PositiveBigIntegerField(default=0)  # maximum of one run
    peak_memory = models.PositiveBigIntegerField(default=0)  # bytes
    hosts = DocumentField(default=dict)  # {host: [allowed connections, refused connections]}

    objects = DailyRunsQuerySet.as_manager()

    class Meta:
        # Without a condition: SQLite would compile a statement again each time that TOTAL_KEY is bound to it.
        indexes = [
            models.Index(fields=["skill", "team_key", "day"], name="daily_runs_total"),
            models.Index(  # covers the number of a version's runs that a reader can read
                fields=["skill", "version_number", "team_key", "caller_key", "runs"],
                name="daily_runs_readers",
            ),
            models.Index(fields=["skill", "version_number"], name="daily_runs_hosts", condition=~Q(hosts={})),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=[
                    "skill", "day", "version_number", "team_key", "caller_key", "status", "failure_code",
                ],
                name="one_row_of_daily_runs",
            )
        ]  # fmt: skip
