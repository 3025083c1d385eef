from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.utils.translation import gettext_lazy as _

from registry.models import Version
from registry.models.fields import DocumentField
from registry.models.identity import new_uid

if TYPE_CHECKING:
    from registry.actors import Actor


class PreparationKind(models.TextChoices):
    PYTHON = "python", _("Python")
    NODE = "node", _("Node")
    DENO = "deno", _("Deno")


class PreparationState(models.TextChoices):
    WAITING = "waiting", _("Waiting")
    RUNNING = "running", _("Running")
    READY = "ready", _("Ready")
    FAILED = "failed", _("Failed")
    UNUSED = "unused", _("Unused")  # swept: the next run has it made again, from the lock that was kept


class PreparationQuerySet(models.QuerySet["Preparation"]):
    def visible_to(self, actor: Actor) -> PreparationQuerySet:
        """Those of versions that the actor may know of."""
        return self.filter(versions__in=Version.objects.visible_to(actor)).distinct()


class Preparation(models.Model):
    """The dependencies of one or more versions, made once for a kind of machine; ``worker.dependencies``
    is its only writer. What came of it is a stored archive; each machine unpacks it once."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    key = models.CharField(max_length=64, unique=True)  # of what is asked for and what it is made for
    kind = models.CharField(max_length=8, choices=PreparationKind.choices)
    platform = models.CharField(
        max_length=100
    )  # interpreter and machine, such as "cpython-3.11 linux-x86_64"
    asked = models.TextField()  # JSON: requirements, package.json and its lock, or digests of scripts
    state = models.CharField(max_length=8, choices=PreparationState.choices, default=PreparationState.WAITING)
    problem = DocumentField(null=True)  # why it failed, as registry.publishing.rows writes problems
    log = models.TextField(blank=True)  # what the installer said last
    lock = models.TextField(blank=True)  # what exactly is installed; kept when the archive is swept
    packages = DocumentField(default=list)  # [{name, version, hash}]
    digest = models.CharField(max_length=71, blank=True)  # of the archive
    size = models.PositiveBigIntegerField(default=0)  # bytes of the archive
    attempt = models.PositiveSmallIntegerField(default=0)  # raised by each claim; an older one writes no more
    lease_until = models.DateTimeField(null=True, db_index=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    versions = models.ManyToManyField(Version, related_name="preparations")

    objects = PreparationQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.kind} {self.key[:12]}"
