from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from registry.identity.permissions import Action, in_scope, teams_where
from registry.models import Rule
from registry.models.fields import DocumentField
from worker.models.run import Run, RunStatus

if TYPE_CHECKING:
    from registry.identity.actors import Actor


class ApprovalDecision(models.TextChoices):
    """The decision on a run that needed approval. Written only by ``worker.approvals``."""

    ONCE = "once", _("Approved once")
    EXACT = "exact", _("Approved; always allow this skill")
    PREFIX = "prefix", _("Approved; always allow skills with this prefix")
    DENIED = "denied", _("Denied")
    EXPIRED = "expired", _("Expired")


class ApprovalQuerySet(models.QuerySet["Approval"]):
    def visible_to(self, actor: Actor) -> ApprovalQuerySet:
        """Approvals of runs that the actor started or that belong to their teams; all for administrators.

        A token for one team sees only that team's runs. Runs of the teams' skills that other teams started
        are excluded.
        """
        if actor.is_administrator:
            return self
        if actor.user is None:
            return self.none()
        own = Q(caller=actor.user)
        if actor.token and actor.token.team_id:
            own &= Q(team_id=actor.token.team_id)
        runs = Run.objects.filter(own | Q(team_id__in=actor.team_ids), pk=OuterRef("run"))
        return self.filter(Exists(runs))

    def decidable_by(self, actor: Actor) -> ApprovalQuerySet:
        """Approvals that the actor may decide: those of teams that they maintain or own, and all for
        administrators. Tokens may decide none.

        Looks each run up, because SQLite would otherwise start at all runs of the teams.
        """
        if actor.is_administrator:
            return self if in_scope(actor, Action.APPROVE) else self.none()
        runs = Run.objects.filter(pk=OuterRef("run"), team_id__in=teams_where(actor, Action.APPROVE))
        return self.filter(Exists(runs))

    def waiting(self) -> ApprovalQuerySet:
        return self.filter(decided_at=None, run__status=RunStatus.WAITING_APPROVAL)


class Approval(models.Model):
    """A request to approve a run before it starts, and the decision."""

    run = models.OneToOneField(Run, models.CASCADE, related_name="approval")
    requested_permissions = DocumentField(default=dict)  # all permissions that the version requests, by kind
    # Permissions that no allow rule or canonical version covers.
    added_permissions = DocumentField(default=dict)
    unsafe_properties = DocumentField(default=list)  # names of the properties that require approval
    no_cache = models.BooleanField(default=False)  # whether the run must not be answered from the cache
    expires_at = models.DateTimeField(db_index=True)
    decided_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    # "" if undecided or cancelled.
    decision = models.CharField(max_length=8, choices=ApprovalDecision.choices, blank=True)
    reason = models.TextField(blank=True)
    # The rule that decided the request, or that was created with the decision.
    rule = models.ForeignKey(Rule, models.SET_NULL, null=True, related_name="+")

    objects = ApprovalQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["id"], name="approval_undecided", condition=Q(decided_at=None))]

    def __str__(self) -> str:
        return f"{self.run_id} {self.decision}"
