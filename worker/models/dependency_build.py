from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.utils.translation import gettext_lazy as _

from registry.core.leases import LeasedJob
from registry.models import Version
from registry.models.fields import DocumentField
from registry.models.identity import new_uid

if TYPE_CHECKING:
    from registry.identity.actors import Actor


class DependencyKind(models.TextChoices):
    PYTHON = "python", _("Python")
    NODE = "node", _("Node")
    DENO = "deno", _("Deno")


class DependencyBuildState(models.TextChoices):
    WAITING = "waiting", _("Waiting")
    RUNNING = "running", _("Running")
    READY = "ready", _("Ready")
    FAILED = "failed", _("Failed")
    UNUSED = "unused", _("Unused")  # the archive was removed; the next run rebuilds it from the lock


class DependencyBuildQuerySet(models.QuerySet["DependencyBuild"]):
    def visible_to(self, actor: Actor) -> DependencyBuildQuerySet:
        """Builds of versions that are visible to the actor."""
        return self.filter(versions__in=Version.objects.visible_to(actor)).distinct()


class DependencyBuild(LeasedJob):
    """The dependencies of one or more versions, built once per platform by ``worker.dependencies``.

    The result is a stored archive, which each machine unpacks once.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    key = models.CharField(max_length=64, unique=True)  # hash of kind, platform and spec
    kind = models.CharField(max_length=8, choices=DependencyKind.choices)
    # Interpreter and machine, such as "cpython-3.11 linux-x86_64".
    platform = models.CharField(max_length=100)
    spec = models.TextField()  # JSON: requirements, package.json and its lock, or digests of scripts
    state = models.CharField(
        max_length=8, choices=DependencyBuildState.choices, default=DependencyBuildState.WAITING
    )
    # Why it failed, in the format of ``version_rows.serialize_problem``.
    problem = DocumentField(null=True)
    log = models.TextField(blank=True)  # the end of the installer's output
    lock = models.TextField(blank=True)  # exact versions; kept when the archive is removed
    packages = DocumentField(default=list)  # [{name, version, hash}]
    digest = models.CharField(max_length=71, blank=True)  # digest of the archive
    size = models.PositiveBigIntegerField(default=0)  # bytes of the archive
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)
    versions = models.ManyToManyField(Version, related_name="dependency_builds")

    objects = DependencyBuildQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.kind} {self.key[:12]}"
