from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from registry.models import Role, Team
from registry.models.fields import BytewiseCharField, DocumentField
from registry.models.identity import new_uid
from worker.models.run import Run

if TYPE_CHECKING:
    from registry.identity.actors import Actor

_REVIEWING = (Role.MAINTAINER, Role.OWNER)


class OwnerType(models.TextChoices):
    """The kind of a memory's owner; households and groups are both teams."""

    USER = "user", _("Person")
    HOUSEHOLD = "household", _("Team (“household” in the API)")
    TASK = "task", _("Run")
    GROUP = "group", _("Team (“group” in the API)")


class MemoryType(models.TextChoices):
    PREFERENCE = "preference", _("Preference")
    FACT = "fact", _("Fact")
    EVENT = "event", _("Event")
    SUMMARY = "summary", _("Summary")


class WriteState(models.TextChoices):
    """The state of a proposal. Readers of the run always see PROPOSED if the caller does not belong to the
    owner.
    """

    PROPOSED = "proposed", _("Proposed")
    WAITING = "waiting", _("Waiting for review")
    COMMITTED = "committed", _("Remembered")
    MERGED = "merged", _("Already known")
    DECLINED = "declined", _("Declined")
    REFUSED = "refused", _("Refused")


class Remembered(models.Model):
    """The content of a memory or proposal, and its owner: a person, a team or a run."""

    owner_type = models.CharField(max_length=9, choices=OwnerType.choices)
    owner_user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="+")
    owner_team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="+")
    owner_run = models.ForeignKey(Run, models.CASCADE, null=True, related_name="+")
    type = models.CharField(max_length=10, choices=MemoryType.choices)
    importance = models.PositiveSmallIntegerField()  # 1 to 5
    original_importance = models.FloatField(null=True)  # the proposed value, if it differs
    content = models.TextField()
    metadata = DocumentField(default=dict)

    class Meta:
        abstract = True


def _owned_by(actor: Actor, *, roles: tuple[Role, ...] | None = None) -> Q:
    """Filters by owner: the actor, teams where they have one of ``roles`` (None: any), and readable runs."""
    teams = [team for team, role in actor.roles.items() if roles is None or role in roles]
    readable = Run.objects.readable_by(actor).filter(pk=OuterRef("owner_run"))
    owned = Q(owner_team_id__in=teams) | Q(Exists(readable))
    if not (actor.token and actor.token.team_id):  # a token limited to a team can't read personal memories
        owned |= Q(owner_user=actor.user)
    return owned


class MemoryQuerySet(models.QuerySet["Memory"]):
    def present(self) -> MemoryQuerySet:
        return self.filter(deleted_at=None)

    def visible_to(self, actor: Actor) -> MemoryQuerySet:
        """Memories of the actor, of their teams and of runs that they can read; all for administrators.

        A token for one team can't see personal memories. Includes deleted memories.
        """
        if actor.is_administrator:
            return self
        return self.none() if actor.user is None else self.filter(_owned_by(actor))

    def deletable_by(self, actor: Actor) -> MemoryQuerySet:
        """Memories that the actor may delete: their own, those of teams that they maintain or own, and those
        of readable runs. Administrators may delete all, tokens none.
        """
        if actor.token:
            return self.none()
        if actor.is_administrator:
            return self
        return self.none() if actor.user is None else self.filter(_owned_by(actor, roles=_REVIEWING))


class Memory(Remembered):
    """A memory in the store; ``worker.memory.database`` is the only writer."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    owner_key = BytewiseCharField(max_length=40)  # the owner in one column, such as "user:7"
    content_key = BytewiseCharField(max_length=64)  # hash of the normalized content
    count = models.PositiveIntegerField(default=1)  # number of proposals of this memory
    # Whether a person accepted the memory, which then outlives its run.
    by_person = models.BooleanField(default=False)
    skill_label = models.CharField(max_length=130, blank=True)
    version_number = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    # When the memory was deleted; its content is erased later unless it is restored.
    deleted_at = models.DateTimeField(null=True)
    deleted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    objects = MemoryQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner_key", "type", "content_key"],
                condition=Q(deleted_at=None),
                name="one_memory_per_content",
            )
        ]
        indexes = [models.Index(fields=["deleted_at"], name="memory_deleted", condition=~Q(deleted_at=None))]


class MemoryTerm(models.Model):
    """A word or a pair of characters in the search index of a memory."""

    memory = models.ForeignKey(Memory, models.CASCADE, related_name="terms")
    text = BytewiseCharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["text", "memory"], name="one_term_per_memory")]


class MemoryWriteQuerySet(models.QuerySet["MemoryWrite"]):
    def waiting(self) -> MemoryWriteQuerySet:
        return self.filter(state=WriteState.WAITING)

    def decidable_by(self, actor: Actor) -> MemoryWriteQuerySet:
        """Proposals that the actor may decide: for themselves, for teams that they maintain or own, and for
        runs that they started.

        Administrators may also decide those for all teams. Tokens may decide none.
        """
        if actor.token or actor.user is None:
            return self.none()
        maintained = [team for team, role in actor.roles.items() if role in _REVIEWING]
        teams = Q(owner_team__isnull=False) if actor.is_administrator else Q(owner_team_id__in=maintained)
        return self.filter(teams | Q(owner_user=actor.user) | Q(owner_run__caller=actor.user))


class MemoryWrite(Remembered):
    """A memory that a run proposes, and its state; the content is kept only while the proposal waits."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="memory_writes")
    attempt = models.PositiveSmallIntegerField()
    seq = models.PositiveSmallIntegerField()  # index of the proposal in the run's answer
    is_foreign = models.BooleanField(default=False)  # whether the caller does not belong to the owner
    state = models.CharField(max_length=9, choices=WriteState.choices)
    code = models.CharField(max_length=64, blank=True)  # why the proposal waits or was refused
    memory = models.ForeignKey(Memory, models.SET_NULL, null=True, related_name="writes")
    created_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    objects = MemoryWriteQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "attempt", "seq"], name="one_memory_write_per_seq")
        ]
        indexes = [
            models.Index(fields=["created_at"], name="memory_waiting", condition=Q(state="waiting")),
        ]

    def shown_state(self) -> str:
        """The state for readers of the run: always PROPOSED if the caller does not belong to the owner."""
        return WriteState.PROPOSED.value if self.is_foreign else self.state

    def expires_at(self) -> datetime:
        return self.created_at + timedelta(days=settings.SKILLQUAY_MEMORY_REVIEW_DAYS)
