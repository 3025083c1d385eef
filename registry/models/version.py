from __future__ import annotations

from typing import TYPE_CHECKING

from django.apps import apps
from django.conf import settings
from django.db import models
from django.utils.functional import cached_property

from registry.core.sql import Rows, prepared
from registry.models.fields import DocumentField
from registry.models.identity import new_uid
from registry.models.skill import Skill

if TYPE_CHECKING:
    from registry.identity.actors import Actor
    from registry.models.entry_needs import EntryNeeds


_HELD = models.Q(held_at__isnull=False, released_at=None)


class VersionQuerySet(models.QuerySet["Version"]):
    def visible_to(self, actor: Actor) -> VersionQuerySet:
        """The versions of skills that the actor may see, including merged skills. Held versions are included
        only for their team and administrators.
        """
        if actor.is_administrator:
            return self
        known = Skill.objects.resolvable_by(actor).filter(pk=models.OuterRef("skill"))
        return self.filter(models.Exists(known), ~_HELD | models.Q(skill__team_id__in=actor.team_ids))

    def usable(self) -> VersionQuerySet:
        """The versions that are neither yanked nor held."""
        return self.unheld().filter(yanked_at=None)

    def unheld(self) -> VersionQuerySet:
        return self.filter(~_HELD)


@prepared
def _needs_of(version: int) -> models.QuerySet[EntryNeeds]:
    needs: models.QuerySet[EntryNeeds] = apps.get_model("registry", "EntryNeeds").objects.all()
    return needs.filter(version_id=version).order_by("path")


class Version(models.Model):
    """A published version of a skill. Its files never change. Written only by ``registry.versions`` and
    ``registry.review``.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    skill = models.ForeignKey(Skill, models.CASCADE, related_name="versions")
    number = models.CharField(max_length=64)  # semver
    precedence = models.CharField(max_length=200)  # sorts in semver order
    number_as_written = models.CharField(max_length=64, blank=True)
    digest = models.CharField(max_length=71)  # "sha256:…" of the served archive
    archive_size = models.PositiveIntegerField()  # bytes
    profile = models.CharField(max_length=16)
    manifest = DocumentField()
    body = models.TextField()
    problems = DocumentField(default=list)  # read by registry.versions.publishing.version_rows
    changelog = models.TextField(blank=True)
    published_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    yanked_at = models.DateTimeField(null=True, blank=True)
    yank_reason = models.CharField(max_length=500, blank=True)
    deprecated_at = models.DateTimeField(null=True, blank=True)
    deprecation_reason = models.CharField(max_length=500, blank=True)  # reason and remedy
    successor = models.CharField(max_length=64, blank=True)  # the number of the replacement in this skill
    # The channel that will point to a held version when it is released.
    requested_channel = models.CharField(max_length=32, blank=True)
    # where an imported version comes from: URL, repository, commit, path
    provenance = DocumentField(default=dict)
    # What maintainers added next to the package: [{kind, name, added_by (uid of a user), added_at}].
    additions = DocumentField(default=list)

    # Written by registry.versions.publishing and registry.review only.
    scanned_with = models.CharField(max_length=64, blank=True)  # digest of the scan rules
    # a version that is held and not released can't be used
    held_at = models.DateTimeField(null=True, blank=True)
    released_at = models.DateTimeField(null=True, blank=True)
    released_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    release_reason = models.CharField(max_length=500, blank=True)

    # Time since which open reports limit the version to its team; written by registry.review.reports only.
    reported_at = models.DateTimeField(null=True, blank=True)

    objects = VersionQuerySet.as_manager()

    @cached_property
    def ordered_needs(self) -> Rows[EntryNeeds]:
        """The needs of the version's scripts, sorted by path, read once per instance."""
        return _needs_of(self.pk)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["skill", "number"], name="one_number_per_skill")]
        indexes = [
            models.Index(fields=["digest"], name="version_digest"),
            models.Index(fields=["held_at"], condition=_HELD, name="version_held"),
        ]

    def __str__(self) -> str:
        return f"{self.skill}@{self.number}"

    @property
    def is_excluded(self) -> bool:
        """Whether open reports hide the version from other teams."""
        return self.reported_at is not None

    @property
    def is_held(self) -> bool:
        """Whether the version is held and a maintainer has not released it yet."""
        return self.held_at is not None and self.released_at is None
