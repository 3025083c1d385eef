from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from registry.models.fields import DocumentField
from registry.models.identity import new_uid
from registry.models.team import Team

if TYPE_CHECKING:
    from registry.actors import Actor


class SourceKind(models.TextChoices):
    """Where skills come from, and how they are read there."""

    FOLDER = "folder", _("Folder")  # of this machine; the shell's and administrators' alone
    ARCHIVE = "archive", _("Archive")
    ADDRESS = "address", _("Address")  # https, s3, gs
    GIT = "git", _("Git repository")
    MCP = "mcp", _("MCP server")


class SourceQuerySet(models.QuerySet["Source"]):
    def visible_to(self, actor: Actor) -> SourceQuerySet:
        """A source is its team's own: its address may name what strangers must not know of."""
        return self if actor.is_administrator else self.filter(team_id__in=actor.team_ids)


class Source(models.Model):
    """A place outside from which a team's skills are imported, once, on demand or by interval."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="sources")
    kind = models.CharField(max_length=8, choices=SourceKind.choices)
    location = models.CharField(max_length=2000)  # path or address, without credentials
    options = DocumentField(default=dict)  # registry.imports reads them: branch, tags, path, roots …
    visibility = models.CharField(max_length=8, blank=True)  # of the skills that it creates
    interval_s = models.PositiveIntegerField(null=True)  # None: on demand only
    next_at = models.DateTimeField(null=True, db_index=True)
    seen = models.CharField(max_length=100, blank=True)  # the commit, etag or digest that was read last
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


class Import(models.Model):
    """One reading of a source: what was seen there and what became of it, a row a folder."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    source = models.ForeignKey(Source, models.CASCADE, related_name="imports")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    status = models.CharField(max_length=8, choices=ImportStatus.choices, default=ImportStatus.QUEUED)
    problems = DocumentField(default=list)  # why it failed as a whole
    found = models.PositiveIntegerField(default=0)  # candidates; progress is done of found
    done = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True, db_index=True)
    attempt = models.PositiveSmallIntegerField(default=0)  # raised by each claim; an older one writes no more


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
    problems = DocumentField(default=list)  # why it was skipped or refused; warnings of what was published

    class Meta:
        constraints = [models.UniqueConstraint(fields=["report", "path"], name="one_row_a_path")]
