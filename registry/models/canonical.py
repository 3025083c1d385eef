from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from registry.models.fields import BytewiseCharField
from registry.models.identity import new_uid
from registry.models.posting import Term, TriggerKind
from registry.models.skill import Skill
from registry.models.source import Source
from registry.models.usage import UseKind
from registry.models.version import Version

if TYPE_CHECKING:
    from registry.identity.actors import Actor


class CanonicalQuerySet(models.QuerySet["Canonical"]):
    def resolvable(self) -> CanonicalQuerySet:
        """The rows whose pinned version exists and is neither held nor yanked."""
        return self._of(Version.objects.all())

    def discoverable_by(self, actor: Actor) -> CanonicalQuerySet:
        """The rows that the actor may see and agents may use.

        The skill is visible to the actor and has a latest version. The pinned version is for agents and
        neither held, yanked nor reported.
        """
        visible = Skill.objects.visible_to(actor).filter(latest__isnull=False, pk=models.OuterRef("skill"))
        unreported = self._of(Version.objects.filter(reported_at=None))
        return unreported.filter(models.Exists(visible), for_agents=True)

    def _of(self, versions: models.QuerySet[Version]) -> CanonicalQuerySet:
        """The rows whose pinned version is in ``versions`` and neither held nor yanked. Uses a subquery,
        because a join could read all versions.
        """
        held = models.Q(held_at__isnull=False, released_at=None)
        there = versions.filter(~held, pk=models.OuterRef("version"), yanked_at=None)
        return self.filter(models.Exists(there))


class Canonical(models.Model):
    """A canonical name and the version to which administrators pinned it. Written only by
    ``registry.canonical``.

    A row without a digest is a mirror whose content was never accepted. If a row has a digest but no version,
    the version was purged.
    """

    slug = models.CharField(max_length=64, unique=True)  # the name is _canonical_<slug>
    skill = models.ForeignKey(Skill, models.CASCADE, null=True, related_name="canonicals")
    version = models.ForeignKey(Version, models.SET_NULL, null=True, related_name="canonicals")
    number = models.CharField(max_length=64, blank=True)  # number and digest stay after the version is purged
    digest = models.CharField(max_length=71, blank=True)
    # The channel whose versions are proposed; "latest", or "" for none.
    tracked_channel = models.CharField(max_length=32, blank=True)
    # digest of the rejected version, which is not proposed again
    rejected_digest = models.CharField(max_length=71, blank=True)
    mirror = models.ForeignKey(Source, models.SET_NULL, null=True, related_name="canonicals")
    set_at = models.DateTimeField(auto_now_add=True)

    # Copied from the pinned version; written by registry.canonical.pinned_postings only.
    name = models.CharField(max_length=200, blank=True)
    name_key = models.CharField(max_length=200, blank=True)
    for_agents = models.BooleanField(default=True)  # False: disable-model-invocation
    # registry.index.postings.INDEX_VERSION when it was indexed.
    indexed_as = models.PositiveSmallIntegerField(default=0)

    objects = CanonicalQuerySet.as_manager()

    def __str__(self) -> str:
        return f"_canonical_{self.slug}"


class CanonicalChangeKind(models.TextChoices):
    SET = "set", _("Set")
    MIRRORED = "mirrored", _("Mirrored")
    ACCEPTED = "accepted", _("Accepted")
    REJECTED = "rejected", _("Rejected")
    UNSET = "unset", _("Removed")


class CanonicalChange(models.Model):
    """A change of a canonical name, with the pinned version before and after. For a rejected proposal,
    ``after`` is the rejected version. Rows are only added.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    slug = models.CharField(max_length=64, db_index=True)
    at = models.DateTimeField(auto_now_add=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    change = models.CharField(max_length=8, choices=CanonicalChangeKind.choices)
    before = models.CharField(max_length=200, blank=True)  # team/slug@version
    before_digest = models.CharField(max_length=71, blank=True)
    after = models.CharField(max_length=200, blank=True)
    after_digest = models.CharField(max_length=71, blank=True)
    reason = models.CharField(max_length=500)

    @property
    def replaced(self) -> dict[str, str]:
        """The skill and version number pinned before the change, as ``{"skill", "version"}``, for undoing the
        change. Empty if no version was pinned, or if the change is a rejection.
        """
        skill, _, version = self.before.partition("@")
        return (
            {"skill": skill, "version": version}
            if self.before and self.change != CanonicalChangeKind.REJECTED
            else {}
        )


class CanonicalUse(models.Model):
    """The uses of a canonical name by one caller. The preview of a new pinned version lists these callers."""

    slug = models.CharField(max_length=64)
    caller = models.CharField(max_length=64)  # as in Use
    count = models.PositiveIntegerField(default=0)
    last_kind = models.CharField(max_length=10, choices=UseKind.choices)
    last_used_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["slug", "caller"], name="one_canonical_use_per_caller")
        ]


class PinnedPosting(models.Model):
    """A search term of a pinned version. Matching uses it to find canonical skills."""

    version = models.ForeignKey(Version, models.CASCADE, related_name="pinned_postings")
    term = models.ForeignKey(Term, models.CASCADE, db_index=False)
    weight = models.SmallIntegerField()  # as in Posting
    field_mask = models.SmallIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["term", "version"], name="one_pinned_posting")]


class PinnedTrigger(models.Model):
    version = models.ForeignKey(Version, models.CASCADE, related_name="pinned_triggers")
    kind = models.CharField(max_length=8, choices=TriggerKind.choices)
    key = BytewiseCharField(max_length=200)  # as in Trigger
    text = models.CharField(max_length=200)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key", "kind", "version"], name="one_pinned_trigger")]
