from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models

from registry.models.fields import DocumentField
from registry.models.identity import new_uid
from registry.models.skill import Skill

if TYPE_CHECKING:
    from registry.actors import Actor


_HELD = models.Q(held_at__isnull=False, released_at=None)


class VersionQuerySet(models.QuerySet["Version"]):
    def visible_to(self, actor: Actor) -> VersionQuerySet:
        """The versions of skills that the actor may know of; held ones are shown to their team alone."""
        known = self.filter(skill__in=Skill.objects.known_to(actor))
        if actor.is_administrator:
            return known
        return known.filter(~_HELD | models.Q(skill__team_id__in=actor.team_ids))

    def usable(self) -> VersionQuerySet:
        """Those that may be the latest: neither yanked nor held."""
        return self.unheld().filter(yanked_at=None)

    def unheld(self) -> VersionQuerySet:
        return self.filter(~_HELD)


class Version(models.Model):
    """Immutable once published; ``registry.publishing`` is its only writer."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    skill = models.ForeignKey(Skill, models.CASCADE, related_name="versions")
    number = models.CharField(max_length=64)  # semver
    precedence = models.CharField(max_length=200)  # sorts as semver does
    number_as_written = models.CharField(max_length=64, blank=True)
    digest = models.CharField(max_length=71)  # "sha256:…" of the served archive
    archive_size = models.PositiveIntegerField()  # bytes
    profile = models.CharField(max_length=16)
    manifest = DocumentField()
    body = models.TextField()
    problems = DocumentField(default=list)  # registry.publishing.problems_of reads them
    changelog = models.TextField(blank=True)
    published_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    yanked_at = models.DateTimeField(null=True, blank=True)
    yank_reason = models.CharField(max_length=500, blank=True)
    deprecated_at = models.DateTimeField(null=True, blank=True)
    deprecation = models.CharField(max_length=500, blank=True)  # why, and what to do instead
    successor = models.CharField(max_length=64, blank=True)  # the number that takes its place, of this skill
    wished_channel = models.CharField(max_length=32, blank=True)  # of a held one: set when it is released
    provenance = DocumentField(default=dict)  # where an import read it: address, repository, commit, path

    # Written by registry.scanning only.
    scanned_with = models.CharField(max_length=64, blank=True)  # the digest of the rules
    held_at = models.DateTimeField(null=True, blank=True)  # held and not released: nobody gets it
    released_at = models.DateTimeField(null=True, blank=True)
    released_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    release_reason = models.CharField(max_length=500, blank=True)

    # Written by registry.reporting only: since when open reports keep it out of what others are offered.
    reported_at = models.DateTimeField(null=True, blank=True)

    objects = VersionQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["skill", "number"], name="one_number_a_skill")]
        indexes = [models.Index(fields=["digest"], name="version_digest")]

    def __str__(self) -> str:
        return f"{self.skill}@{self.number}"

    @property
    def is_held(self) -> bool:
        """Whether a scan keeps it from everybody until a maintainer releases it."""
        return self.held_at is not None and self.released_at is None
