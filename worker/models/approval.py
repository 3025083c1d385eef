from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from registry.models import Rule
from registry.models.fields import DocumentField
from registry.permissions import Action, in_scope, teams_where
from worker.models.run import Run, Status

if TYPE_CHECKING:
    from registry.actors import Actor


class Choice(models.TextChoices):
    """What became of a run that had to be let; ``worker.approvals`` is the writer."""

    ONCE = "once", _("Allowed once")
    EXACT = "exact", _("Allowed, and this skill from now on")
    PREFIX = "prefix", _("Allowed, and all that begin so from now on")
    DENIED = "denied", _("Denied")
    EXPIRED = "expired", _("Expired")


class ApprovalQuerySet(models.QuerySet["Approval"]):
    def visible_to(self, actor: Actor) -> ApprovalQuerySet:
        """Those of one's own runs and of one's teams'; a skill's authors learn nothing of who asks."""
        if actor.is_administrator:
            return self
        if actor.user is None:
            return self.none()
        own = Q(run__caller=actor.user)
        if actor.token and actor.token.team_id:
            own &= Q(run__team_id=actor.token.team_id)
        return self.filter(own | Q(run__team_id__in=actor.team_ids))

    def decidable_by(self, actor: Actor) -> ApprovalQuerySet:
        """Those that the actor may decide: in person, for teams that they maintain."""
        if actor.is_administrator:
            return self if in_scope(actor, Action.APPROVE) else self.none()
        return self.filter(run__team_id__in=teams_where(actor, Action.APPROVE))

    def waiting(self) -> ApprovalQuerySet:
        return self.filter(run__status=Status.WAITING_APPROVAL)


class Approval(models.Model):
    """What somebody is asked before a run starts, and what they said."""

    run = models.OneToOneField(Run, models.CASCADE, related_name="approval")
    asks = DocumentField(default=dict)  # registry.packages.safety.Asks: everything that the version asks for
    new = DocumentField(default=dict)  # of it what goes beyond an allowance, or beyond what is canonical
    unsafe = DocumentField(default=list)  # the names of the properties that made it ask
    fresh = models.BooleanField(default=False)  # no cached answer will do
    expires_at = models.DateTimeField(db_index=True)
    decided_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    decision = models.CharField(max_length=8, choices=Choice.choices, blank=True)  # "": none, or cancelled
    reason = models.TextField(blank=True)
    rule = models.ForeignKey(Rule, models.SET_NULL, null=True, related_name="+")  # that was made with it

    objects = ApprovalQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.run_id} {self.decision}"
