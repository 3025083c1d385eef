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
    from registry.actors import Actor


class CanonicalQuerySet(models.QuerySet["Canonical"]):
    def answerable(self) -> CanonicalQuerySet:
        """Those whose version is still there for everybody."""
        return self._of(Version.objects.all())

    def offered_to(self, actor: Actor) -> CanonicalQuerySet:
        """Those of skills that the actor may see, whose accepted version says that it is for agents."""
        seen = Skill.objects.visible_to(actor).filter(latest__isnull=False, pk=models.OuterRef("skill"))
        offered = self._of(Version.objects.filter(reported_at=None))
        return offered.filter(models.Exists(seen), for_agents=True)

    def _of(self, versions: models.QuerySet[Version]) -> CanonicalQuerySet:
        """Of few names each version is looked up; with a join databases may read every version there is."""
        held = models.Q(held_at__isnull=False, released_at=None)
        there = versions.filter(~held, pk=models.OuterRef("version"), yanked_at=None)
        return self.filter(models.Exists(there))


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

    # Of the pinned version; written by registry.canonical.indexed only.
    name = models.CharField(max_length=200, blank=True)
    name_key = models.CharField(max_length=200, blank=True)
    for_agents = models.BooleanField(default=True)  # False: disable-model-invocation
    indexed_as = models.PositiveSmallIntegerField(default=0)  # by which rules, see registry.indexing.RULES

    objects = CanonicalQuerySet.as_manager()

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

    @property
    def replaced(self) -> dict[str, str]:
        """The skill and version that it took away, to be pinned again."""
        skill, _, version = self.before.partition("@")
        return (
            {"skill": skill, "version": version}
            if self.before and self.deed != CanonicalDeed.REJECTED
            else {}
        )


class CanonicalUse(models.Model):
    """Who got a skill by its canonical name: whom a change of it affects."""

    slug = models.CharField(max_length=64)
    caller = models.CharField(max_length=64)  # as of Use
    count = models.PositiveIntegerField(default=0)
    last_kind = models.CharField(max_length=8, choices=UseKind.choices)
    last_used_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["slug", "caller"], name="one_canonical_use_a_caller")]


class PinnedPosting(models.Model):
    """A term of a version that a canonical name means: it is found by these, not by the latest's."""

    version = models.ForeignKey(Version, models.CASCADE, related_name="pinned_postings")
    term = models.ForeignKey(Term, models.CASCADE, db_index=False)
    weight = models.SmallIntegerField()  # as of Posting
    field_mask = models.SmallIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["term", "version"], name="one_pinned_posting")]


class PinnedTrigger(models.Model):
    """What, said word by word, asks for a version that a canonical name means."""

    version = models.ForeignKey(Version, models.CASCADE, related_name="pinned_triggers")
    kind = models.CharField(max_length=8, choices=TriggerKind.choices)
    key = BytewiseCharField(max_length=200)  # as of Trigger
    text = models.CharField(max_length=200)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key", "kind", "version"], name="one_pinned_trigger")]
