from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from registry.core.leases import LeasedJob
from registry.models import Token
from registry.models.fields import DocumentField
from registry.models.identity import new_uid
from worker.models.run import Run

if TYPE_CHECKING:
    from registry.identity.actors import Actor


class RunBatchAction(models.TextChoices):
    CANCEL = "cancel", _("Cancel")
    REPEAT = "repeat", _("Run again")


class RunBatchState(models.TextChoices):
    QUEUED = "queued", _("Queued")
    RUNNING = "running", _("Running")
    DONE = "done", _("Done")
    CANCELLED = "cancelled", _("Cancelled")


class BatchItemState(models.TextChoices):
    """The outcome for one run of a batch; PENDING until it is decided."""

    PENDING = "pending", _("Pending")
    DONE = "done", _("Done")
    SKIPPED = "skipped", _("Skipped")
    FAILED = "failed", _("Failed")


ACTIVE_BATCHES = (RunBatchState.QUEUED, RunBatchState.RUNNING)


class RunBatchQuerySet(models.QuerySet["RunBatch"]):
    def visible_to(self, actor: Actor) -> RunBatchQuerySet:
        """Batches that the actor started; all for administrators.

        A token of one team sees only the batches that were started with it.
        """
        if actor.is_administrator:
            return self
        if actor.user is None:
            return self.none()
        rows = self.filter(user=actor.user)
        return rows.filter(token=actor.token) if actor.token and actor.token.team_id else rows

    def with_counts(self) -> RunBatchQuerySet:
        """Adds the number of items as ``total``, and the number in each state as ``<state>_count``."""
        counts = {
            f"{state}_count": models.Count("items", filter=Q(items__state=state))
            for state in BatchItemState.values
        }
        return self.annotate(total=models.Count("items"), **counts)


class RunBatch(LeasedJob):
    """One action on all runs that matched a filter. ``worker.run_batches`` is the only writer.

    ``version`` is "same", "newest" or a version number; "" unless the action is REPEAT.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    action = models.CharField(max_length=8, choices=RunBatchAction.choices)
    version = models.CharField(max_length=64, blank=True)
    filter = DocumentField()  # as worker.runs.filters reads it
    inputs = DocumentField(default=dict)  # merged into the inputs of each run that is repeated
    state = models.CharField(max_length=9, choices=RunBatchState.choices, default=RunBatchState.QUEUED)
    problem = DocumentField(null=True)  # why the site cancelled the batch: a stored problem
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="run_batches")
    token = models.ForeignKey(Token, models.SET_NULL, null=True, related_name="+")
    token_name = models.CharField(max_length=120, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True)  # runs of the batch that had not started were cancelled

    objects = RunBatchQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["id"], name="run_batch_active", condition=Q(state__in=["queued", "running"])
            ),
            models.Index(fields=["user", "-id"], name="run_batch_user"),
        ]

    def __str__(self) -> str:
        return self.uid


class RunBatchItem(models.Model):
    """One run of a batch, and the outcome. Outlives the run."""

    batch = models.ForeignKey(RunBatch, models.CASCADE, related_name="items")
    run = models.ForeignKey(Run, models.SET_NULL, null=True, related_name="batch_items")
    run_uid = models.CharField(max_length=26)
    skill_label = models.CharField(max_length=130)
    state = models.CharField(max_length=8, choices=BatchItemState.choices, default=BatchItemState.PENDING)
    problem = DocumentField(null=True)  # why it was skipped or failed: a stored problem
    new_run = models.ForeignKey(Run, models.SET_NULL, null=True, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["batch", "run_uid"], name="one_batch_item_per_run")]
        indexes = [
            models.Index(fields=["batch", "id"], name="batch_item_pending", condition=Q(state="pending"))
        ]

    def __str__(self) -> str:
        return f"{self.batch_id} {self.run_uid}"
