from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from registry.identity.permissions import Action, teams_where
from registry.models import Skill, Team, Version
from registry.models.fields import DocumentField
from registry.models.identity import new_uid
from worker.models.approval import Approval
from worker.models.run import Run
from worker.models.schedule import Schedule

if TYPE_CHECKING:
    from registry.identity.actors import Actor


class NotificationKind(models.TextChoices):
    """The kind of event in a notification. FIRST_FAILURE is the skill's first failed run in the team, or its
    first one after a success.
    """

    RUN_FAILED = "run_failed", _("Failed run")
    FIRST_FAILURE = "first_failure", _("First failure, or first after a success")
    RECOVERED = "recovered", _("Success after a failure")
    APPROVAL = "approval_waiting", _("Run waiting for approval")
    SCHEDULE_MISSED = "schedule_missed", _("Missed scheduled runs")
    SCHEDULE_PAUSED = "schedule_paused", _("Schedule paused automatically")
    VERSION_HELD = "version_held", _("Version held for review")
    REPORT = "report_filed", _("Version reported")


RUN_KINDS = (NotificationKind.RUN_FAILED, NotificationKind.FIRST_FAILURE, NotificationKind.RECOVERED)
SCHEDULE_KINDS = (NotificationKind.SCHEDULE_MISSED, NotificationKind.SCHEDULE_PAUSED)
REVIEW_KINDS = (NotificationKind.VERSION_HELD, NotificationKind.REPORT)


class NotificationEventQuerySet(models.QuerySet["NotificationEvent"]):
    def visible_to(self, actor: Actor) -> NotificationEventQuerySet:
        """Events about runs, schedules and versions that the actor can see now."""
        if actor.user is None and not actor.is_administrator:
            return self.none()
        return self.filter(event_filter(actor))


def event_filter(actor: Actor, prefix: str = "") -> Q:
    """The filter for events that the actor can see; ``prefix`` is the path to the event, such as ``event__``.

    Only reviewers of the skill's team, the publisher as a member of it, and administrators see events about
    versions. Each part of the filter looks up one row by its key.
    """
    runs = Run.objects.visible_to(actor).filter(pk=OuterRef(f"{prefix}run_id"))
    approvals = Approval.objects.visible_to(actor).filter(run=OuterRef(f"{prefix}run_id"))
    schedules = Schedule.objects.visible_to(actor).filter(pk=OuterRef(f"{prefix}schedule_id"))
    versions = Version.objects.filter(pk=OuterRef(f"{prefix}version_id"), skill__purged_at=None)
    if not actor.is_administrator:
        reviewed = Q(skill__team_id__in=teams_where(actor, Action.REVIEW))
        own = Q(published_by=actor.user, skill__team_id__in=actor.team_ids)
        versions = versions.filter(reviewed | own)

    def of_kind(*kinds: NotificationKind) -> Q:
        return Q(**{f"{prefix}kind__in": kinds})

    return (
        of_kind(*RUN_KINDS) & Q(Exists(runs))
        | of_kind(NotificationKind.APPROVAL) & Q(Exists(approvals))
        | of_kind(*SCHEDULE_KINDS) & Q(Exists(schedules))
        | of_kind(*REVIEW_KINDS) & Q(Exists(versions))
    )


class NotificationEvent(models.Model):
    """An event about which people are notified. It is stored in the transaction that causes it and
    distributed later. Written only by ``worker.delivery``.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    kind = models.CharField(max_length=16, choices=NotificationKind.choices)
    at = models.DateTimeField()
    skill = models.ForeignKey(Skill, models.CASCADE, null=True, related_name="+")
    team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="+")  # team of the run or schedule
    # There is no constraint, so deleting runs need not query this table, and ending a run need not check the
    # insert. Events of deleted runs are not visible.
    run = models.ForeignKey(Run, models.CASCADE, null=True, related_name="+", db_constraint=False)
    version = models.ForeignKey(Version, models.CASCADE, null=True, related_name="+")
    schedule = models.ForeignKey(Schedule, models.CASCADE, null=True, related_name="+")
    details = DocumentField(default=dict)  # small values for the text, such as a count
    expanded_at = models.DateTimeField(null=True)  # when the event was distributed to its recipients
    # Number of failed attempts to distribute the event.
    failures = models.PositiveSmallIntegerField(db_default=0)

    objects = NotificationEventQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["id"], name="notification_pending", condition=Q(expanded_at=None)),
            models.Index(fields=["at"], name="notification_at"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.uid}"


class FailureStreak(models.Model):
    """A skill whose last run for a team failed; the row is deleted after the next success."""

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="+")
    team_key = models.BigIntegerField()  # 0 for runs without a team
    since = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["skill", "team_key"], name="one_failure_streak")]

    def __str__(self) -> str:
        return f"{self.skill_id} {self.team_key}"


class NotificationQuerySet(models.QuerySet["Notification"]):
    def visible_to(self, actor: Actor) -> NotificationQuerySet:
        """The actor's notifications about objects that the actor can still see."""
        if actor.user is None:
            return self.none()
        return self.filter(event_filter(actor, "event__"), user=actor.user)


class Notification(models.Model):
    """An event in the inbox of a person."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    event = models.ForeignKey(NotificationEvent, models.CASCADE, related_name="notifications")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="notifications")
    created_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True)

    objects = NotificationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["event", "user"], name="one_notification_per_event_and_user")
        ]
        indexes = [
            models.Index(fields=["user", "-id"], name="notification_user"),
            models.Index(fields=["user"], name="notification_unread", condition=Q(read_at=None)),
        ]

    def __str__(self) -> str:
        return self.uid
