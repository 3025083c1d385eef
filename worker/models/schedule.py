from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from registry.core.leases import LeasedJob
from registry.identity.permissions import Action, in_scope
from registry.models import Role, Skill, Team, Token
from registry.models.fields import DocumentField
from registry.models.identity import new_uid
from worker.models.run import Run

if TYPE_CHECKING:
    from registry.identity.actors import Actor

LATE_AFTER = timedelta(minutes=2)  # a run that starts later than this counts as late
_MAINTAINING = (Role.MAINTAINER, Role.OWNER)


class ScheduleKind(models.TextChoices):
    CRON = "cron", _("Cron expression")
    INTERVAL = "interval", _("Interval")
    ONCE = "once", _("Once")


class ScheduleState(models.TextChoices):
    ACTIVE = "active", _("Active")
    PAUSED = "paused", _("Paused")
    FINISHED = "finished", _("Finished")


class OverlapPolicy(models.TextChoices):
    """The action if a run is due before an earlier run of the schedule has ended."""

    SKIP = "skip", _("Skip the new run")
    QUEUE = "queue", _("Wait for the earlier run")
    CANCEL = "cancel", _("Cancel the earlier run")
    PARALLEL = "parallel", _("Run both")


class CatchUpPolicy(models.TextChoices):
    """Selects the missed runs that start when the site is up again."""

    NONE = "none", _("None")
    LAST = "last", _("Only the last missed run")
    ALL = "all", _("All missed runs, up to the limit")


class ScheduleQuerySet(models.QuerySet["Schedule"]):
    def visible_to(self, actor: Actor) -> ScheduleQuerySet:
        """Schedules that run as the actor or belong to their teams, without deleted ones; all for
        administrators. A token for one team sees only that team's.
        """
        rows = self.filter(deleted_at=None)
        if actor.is_administrator:
            return rows
        if actor.user is None:
            return rows.none()
        own = Q(run_as=actor.user)
        if actor.token and actor.token.team_id:
            own &= Q(team_id=actor.token.team_id)
        return rows.filter(own | Q(team_id__in=actor.team_ids))

    def readable_by(self, actor: Actor) -> ScheduleQuerySet:
        """Schedules whose inputs the actor can read: those that they created, that run as them, or of teams
        that they maintain or own.

        Administrators can read all. A token without the scope to read runs gets no access by role.
        """
        rows = self.visible_to(actor)
        others = in_scope(actor, Action.READ_RUNS)
        if actor.is_administrator and others:
            return rows
        maintained = [team for team, role in actor.roles.items() if others and role in _MAINTAINING]
        return rows.filter(Q(run_as=actor.user) | Q(created_by=actor.user) | Q(team_id__in=maintained))

    def of_skills_containing(self, text: str, actor: Actor) -> ScheduleQuerySet:
        """Schedules of skills whose name contains the text: the name in the schedule, or the present one if
        the skill's address works for the actor.
        """
        skills = Skill.objects.resolvable_by(actor).name_contains(text).values("pk")
        return self.filter(Q(skill_label__icontains=text) | Q(skill__in=skills))

    def due(self) -> ScheduleQuerySet:
        return self.filter(state=ScheduleState.ACTIVE, deleted_at=None)


class Schedule(models.Model):
    """A call of a skill at set times. Written only by ``worker.schedules``.

    The call uses the version ``version_number`` with ``digest``, or follows ``channel``.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    name = models.CharField(max_length=120)
    skill = models.ForeignKey(Skill, models.SET_NULL, null=True, related_name="schedules")
    skill_label = models.CharField(max_length=130)  # team/slug
    # The team that owns the skill.
    skill_team = models.ForeignKey(Team, models.SET_NULL, null=True, related_name="+")
    version_number = models.CharField(max_length=64, blank=True)
    digest = models.CharField(max_length=71, blank=True)
    channel = models.CharField(max_length=64, blank=True)
    # The team that owns the runs.
    team = models.ForeignKey(Team, models.SET_NULL, null=True, related_name="schedules")
    run_as = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="schedules")
    token = models.ForeignKey(Token, models.SET_NULL, null=True, related_name="+")
    token_name = models.CharField(max_length=120, blank=True)  # uid of the token; "" unless the runs use one
    request = DocumentField()  # inputs, arguments, script, action, tool, stdin, debug
    files = DocumentField(default=list)  # worker.files.inputs.InputUse documents of the request's files

    kind = models.CharField(max_length=8, choices=ScheduleKind.choices)
    cron = models.CharField(max_length=100, blank=True)
    every_s = models.PositiveIntegerField(null=True)
    at = models.DateTimeField(null=True)
    time_zone = models.CharField(max_length=64, default="UTC")
    starts_at = models.DateTimeField()  # intervals are counted from this time
    jitter_s = models.PositiveIntegerField(default=0)
    overlap = models.CharField(max_length=8, choices=OverlapPolicy.choices, default=OverlapPolicy.SKIP)
    catch_up = models.CharField(max_length=4, choices=CatchUpPolicy.choices, default=CatchUpPolicy.NONE)
    catch_up_limit = models.PositiveSmallIntegerField(default=10)

    state = models.CharField(max_length=8, choices=ScheduleState.choices, default=ScheduleState.ACTIVE)
    next_at = models.DateTimeField(null=True)  # the next due time, without jitter
    paused_at = models.DateTimeField(null=True)
    paused_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    pause_reason = models.CharField(max_length=500, blank=True)  # set by a person
    pause_problem = DocumentField(null=True)  # set by the site: a stored problem
    # The input schema and permissions that the schedule was saved with; a change pauses it.
    expected = DocumentField(default=dict)
    # Digest, entry and permissions of the last approved run; runs with the same values need no approval.
    approval = DocumentField(default=dict)
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    deleted_at = models.DateTimeField(null=True)

    objects = ScheduleQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["next_at"], name="schedule_due", condition=Q(state="active", deleted_at=None)
            ),
            models.Index(fields=["team", "-id"], name="schedule_team"),
        ]

    def __str__(self) -> str:
        return self.name


class FiringState(models.TextChoices):
    """The outcome of a due time; PENDING until decided."""

    PENDING = "pending", _("Pending")
    STARTED = "started", _("Started")
    SKIPPED = "skipped", _("Skipped")
    MISSED = "missed", _("Missed")
    REFUSED = "refused", _("Refused")


class ScheduleFiring(LeasedJob):
    """A due time of a schedule and its outcome.

    A row without a run can represent ``count`` consecutive due times, from ``due`` to ``last_due``.
    """

    schedule = models.ForeignKey(Schedule, models.CASCADE, related_name="firings")
    due = models.DateTimeField()
    last_due = models.DateTimeField()
    count = models.PositiveIntegerField(default=1)
    fire_at = models.DateTimeField()  # due time with jitter, or next check of a waiting firing
    state = models.CharField(max_length=8, choices=FiringState.choices, default=FiringState.PENDING)
    run = models.ForeignKey(Run, models.SET_NULL, null=True, related_name="firings")
    problem = DocumentField(null=True)  # a stored problem, the reason why there is no run

    class Meta:
        constraints = [models.UniqueConstraint(fields=["schedule", "due"], name="one_firing_per_due_time")]
        indexes = [
            models.Index(fields=["fire_at"], name="firing_pending", condition=Q(state="pending")),
            models.Index(fields=["schedule", "-due"], name="firing_schedule"),
        ]

    def __str__(self) -> str:
        return f"{self.schedule_id} {self.due:%Y-%m-%dT%H:%M:%SZ}"

    @property
    def is_late(self) -> bool:
        """Whether the run started more than ``LATE_AFTER`` after its due time."""
        started = self.state == FiringState.STARTED and self.finished_at is not None
        return started and self.finished_at - self.due > LATE_AFTER  # type: ignore[operator]
