from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q

from registry.models.fields import DocumentField
from registry.models.identity import new_uid
from registry.models.skill import Skill, Visibility, open_scopes
from registry.models.team import Team
from registry.models.version import Version

if TYPE_CHECKING:
    from registry.identity.actors import Actor


class CollectionQuerySet(models.QuerySet["Collection"]):
    def visible_to(self, actor: Actor) -> CollectionQuerySet:
        if actor.is_administrator:
            return self
        return self.filter(Q(visibility__in=open_scopes(actor)) | Q(team_id__in=actor.team_ids))


class Collection(models.Model):
    """A named list of skills. Written only by ``registry.collections``."""

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="collections")
    slug = models.CharField(max_length=64)
    title = models.CharField(max_length=120)
    description = models.CharField(max_length=1000, blank=True)
    visibility = models.CharField(max_length=8, choices=Visibility.choices, default=Visibility.PRIVATE)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = CollectionQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "slug"], name="one_collection_per_slug")]

    def __str__(self) -> str:
        return f"{self.team.slug}/{self.slug}"


class CollectionItem(models.Model):
    """A skill of a collection: always in the version ``pin``, or in the version of the channel, which is ""
    for the latest version.
    """

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="items")
    place = models.PositiveIntegerField()
    skill = models.ForeignKey(Skill, models.CASCADE, related_name="+")
    pin = models.ForeignKey(Version, models.CASCADE, null=True, related_name="+")
    channel = models.CharField(max_length=32, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["collection", "skill"], name="one_item_per_skill"),
            models.CheckConstraint(condition=Q(pin=None) | Q(channel=""), name="pin_or_channel"),
        ]


class CollectionState(models.Model):
    """The versions of a collection since ``at``, in order. They are the commits of its git repository."""

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="states")
    at = models.DateTimeField()
    versions = DocumentField(default=list)  # ids
