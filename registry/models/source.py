from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from registry.core.leases import LeasedJob
from registry.models.fields import DocumentField
from registry.models.identity import new_uid
from registry.models.team import Team

if TYPE_CHECKING:
    from registry.identity.actors import Actor


class SourceKind(models.TextChoices):
    """The kinds of sources. Each kind has a module in ``registry.imports.readers``."""

    FOLDER = "folder", _("Folder")  # on this machine; only administrators and the shell may import it
    ARCHIVE = "archive", _("Archive")
    URL = "url", _("Address")  # https, s3, gs
    GIT = "git", _("Git repository")
    MCP = "mcp", _("MCP server")


class SourceQuerySet(models.QuerySet["Source"]):
    def visible_to(self, actor: Actor) -> SourceQuerySet:
        """The sources of the actor's teams; all for administrators. Others get none, because locations can be
        confidential.
        """
        return self if actor.is_administrator else self.filter(team_id__in=actor.team_ids)


class Source(models.Model):
    """A place from which a team imports skills, on demand or at an interval."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="sources")
    kind = models.CharField(max_length=8, choices=SourceKind.choices)
    location = models.CharField(max_length=2000)  # path or address, without credentials
    options = DocumentField(default=dict)  # branch, tags, path, roots …; see registry.imports.readers
    visibility = models.CharField(max_length=8, blank=True)  # visibility of skills that its imports create
    interval_s = models.PositiveIntegerField(null=True)  # None: on demand only
    next_at = models.DateTimeField(null=True, db_index=True)
    # The commit, ETag or digest of the last import.
    last_revision = models.CharField(max_length=100, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SourceQuerySet.as_manager()

    def __str__(self) -> str:
        return self.location


class ImportStatus(models.TextChoices):
    QUEUED = "queued", _("Queued")
    RUNNING = "running", _("Running")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")


class Import(LeasedJob):
    """An import of a source. ``rows`` has the outcome for each folder or file."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    source = models.ForeignKey(Source, models.CASCADE, related_name="imports")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    status = models.CharField(max_length=8, choices=ImportStatus.choices, default=ImportStatus.QUEUED)
    problems = DocumentField(default=list)  # problems that concern the whole import
    read_bytes = models.PositiveBigIntegerField(db_default=0)  # received from the source
    total = models.PositiveIntegerField(default=0)  # candidates; 0 while the source is read
    checked = models.PositiveIntegerField(db_default=0)  # candidates whose files were read and checked
    processed = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)


class ImportOutcome(models.TextChoices):
    PUBLISHED = "published", _("Published")
    UNCHANGED = "unchanged", _("Unchanged")
    SKIPPED = "skipped", _("Skipped")
    REFUSED = "refused", _("Refused")


class ImportRow(models.Model):
    report = models.ForeignKey(Import, models.CASCADE, related_name="rows")
    path = models.CharField(max_length=1000)  # within the source
    outcome = models.CharField(max_length=10, choices=ImportOutcome.choices)
    skill = models.CharField(max_length=130, blank=True)  # team/slug
    version = models.CharField(max_length=64, blank=True)
    digest = models.CharField(max_length=71, blank=True)
    problems = DocumentField(default=list)  # reasons for skipping or refusal; warnings after publishing

    class Meta:
        constraints = [models.UniqueConstraint(fields=["report", "path"], name="one_row_per_path")]
