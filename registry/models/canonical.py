from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from registry.models.identity import new_uid
from registry.models.skill import Skill
from registry.models.source import Source
from registry.models.usage import UseKind
from registry.models.version import Version


class Canonical(models.Model):
    """The skill of a slug that is answered to everybody, in one version; ``registry.canonical`` writes it.

    Without a version it is a mirror of which nothing is accepted yet.
    """

    slug = models.CharField(max_length=64, unique=True)  # asked for as _canonical_<slug>
    skill = models.ForeignKey(Skill, models.CASCADE, null=True, related_name="canonicals")
    version = models.ForeignKey(Version, models.SET_NULL, null=True, related_name="canonicals")
    number = models.CharField(
        max_length=64, blank=True
    )  # stays when the version is purged, as the digest does
    digest = models.CharField(max_length=71, blank=True)
    follows = models.CharField(
        max_length=32, blank=True
    )  # whose versions are proposed: latest, a channel; "" none
    rejected = models.CharField(max_length=71, blank=True)  # the digest that is not proposed again
    mirror = models.ForeignKey(Source, models.SET_NULL, null=True, related_name="canonicals")
    since = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"_canonical_{self.slug}"


class CanonicalDeed(models.TextChoices):
    SET = "set", _("Set")
    MIRRORED = "mirrored", _("Mirrored")
    ACCEPTED = "accepted", _("Accepted")
    REJECTED = "rejected", _("Rejected")
    UNSET = "unset", _("Taken back")


class CanonicalChange(models.Model):
    """Who changed what a canonical name answers, when, from what to what, and why; append-only."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    slug = models.CharField(max_length=64, db_index=True)
    at = models.DateTimeField(auto_now_add=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    deed = models.CharField(max_length=8, choices=CanonicalDeed.choices)
    before = models.CharField(max_length=200, blank=True)  # team/slug@version
    before_digest = models.CharField(max_length=71, blank=True)
    after = models.CharField(max_length=200, blank=True)
    after_digest = models.CharField(max_length=71, blank=True)
    reason = models.CharField(max_length=500)


class CanonicalUse(models.Model):
    """Who got a skill by its canonical name: whom a change of it affects."""

    slug = models.CharField(max_length=64)
    caller = models.CharField(max_length=64)  # as of Use
    count = models.PositiveIntegerField(default=0)
    last_kind = models.CharField(max_length=8, choices=UseKind.choices)
    last_used_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["slug", "caller"], name="one_canonical_use_a_caller")]
