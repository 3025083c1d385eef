from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from registry.identity.permissions import Action, in_scope
from registry.models import Role, Skill
from registry.models.identity import new_uid

if TYPE_CHECKING:
    from registry.identity.actors import Actor

_MAINTAINING = (Role.MAINTAINER, Role.OWNER)


class ErrorGroupState(models.TextChoices):
    OPEN = "open", _("Open")
    RESOLVED = "resolved", _("Resolved")
    REGRESSED = "regressed", _("Regressed")


class ErrorGroupQuerySet(models.QuerySet["ErrorGroup"]):
    def visible_to(self, actor: Actor) -> ErrorGroupQuerySet:
        """Groups with a run that the actor can see, by the rule of ``FailureCountQuerySet.visible_to``."""
        if actor.is_administrator:
            return self
        if actor.user is None:
            return self.none()
        own = FailureCount.objects.of_caller_or_team(actor).filter(group=OuterRef("pk"))
        return self.filter(Q(skill__team_id__in=actor.team_ids) | Exists(own))


class ErrorGroup(models.Model):
    """Failed runs of a skill with the same cause. Written only by ``worker.failures``.

    ``type``, ``message`` and ``file`` come from the runs' content. Show them only to actors who can read one
    of the runs.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    key = models.CharField(max_length=32, unique=True)  # computed by worker.failures.grouping
    skill = models.ForeignKey(Skill, models.CASCADE, related_name="error_groups", db_index=False)
    failure_code = models.CharField(max_length=64)
    type = models.CharField(max_length=200, blank=True)
    message = models.CharField(max_length=300, blank=True)  # normalized message
    file = models.CharField(max_length=300, blank=True)

    count = models.PositiveIntegerField()
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()

    state = models.CharField(max_length=9, choices=ErrorGroupState.choices, default=ErrorGroupState.OPEN)
    resolved_in = models.CharField(max_length=64, blank=True)  # version number; kept when the group regresses
    resolved_at = models.DateTimeField(null=True)
    resolved_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    regressed_at = models.DateTimeField(null=True)
    assigned_to = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    objects = ErrorGroupQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["-last_seen", "-uid"], name="error_group_newest"),
            models.Index(fields=["skill", "-last_seen", "-uid"], name="error_group_skill"),
        ]

    def __str__(self) -> str:
        return self.uid


class FailureCountQuerySet(models.QuerySet["FailureCount"]):
    def visible_to(self, actor: Actor) -> FailureCountQuerySet:
        """The counts of runs that the actor can see, by the same rule as ``RunQuerySet.visible_to``."""
        if actor.is_administrator:
            return self
        if actor.user is None:
            return self.none()
        return self.filter(_own_or_team(actor) | Q(group__skill__team_id__in=actor.team_ids))

    def of_caller_or_team(self, actor: Actor) -> FailureCountQuerySet:
        """The counts of runs that the actor started or that belong to one of their teams."""
        return self.none() if actor.user is None else self.filter(_own_or_team(actor))

    def readable_by(self, actor: Actor) -> FailureCountQuerySet:
        """The counts of runs whose content the actor can read, as in ``RunQuerySet.readable_by``."""
        others = in_scope(actor, Action.READ_RUNS)
        if actor.is_administrator and others:
            return self
        if actor.user is None:
            return self.none()
        maintained = [team for team, role in actor.roles.items() if others and role in _MAINTAINING]
        shared = actor.shared_run_team_ids if others else ()
        return self.filter(_started_by(actor) | Q(team_key__in=[*maintained, *shared]))


def _own_or_team(actor: Actor) -> Q:
    return _started_by(actor) | Q(team_key__in=actor.team_ids)


def _started_by(actor: Actor) -> Q:
    assert actor.user
    own = Q(caller_key=actor.user.pk)
    return own & Q(team_key=actor.token.team_id) if actor.token and actor.token.team_id else own


class FailureCount(models.Model):
    """The number of failures in a group by version, team and caller. Written only by ``worker.failures``.

    ``team_key`` and ``caller_key`` are primary keys of the run's team and caller; 0 means none, because a
    unique constraint ignores rows with null.
    """

    group = models.ForeignKey(ErrorGroup, models.CASCADE, related_name="counts", db_index=False)
    version_number = models.CharField(max_length=64)
    team_key = models.BigIntegerField()
    caller_key = models.BigIntegerField()
    count = models.PositiveIntegerField()
    removed = models.PositiveIntegerField(default=0)  # the part of ``count`` whose runs retention removed
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()

    objects = FailureCountQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["group", "version_number", "team_key", "caller_key"], name="one_failure_count"
            )
        ]
        indexes = [
            models.Index(fields=["group", "version_number", "count"], name="failure_count_group"),
            models.Index(fields=["caller_key", "-last_seen"], name="failure_count_caller"),
            models.Index(fields=["team_key", "-last_seen"], name="failure_count_team"),
        ]
