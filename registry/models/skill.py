from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from registry.models.identity import new_uid
from registry.models.team import Team

if TYPE_CHECKING:
    from registry.actors import Actor


class Visibility(models.TextChoices):
    PRIVATE = "private", _("Private")
    SITE = "site", _("Site")
    PUBLIC = "public", _("Public")


class SkillQuerySet(models.QuerySet["Skill"]):
    def visible_to(self, actor: Actor) -> SkillQuerySet:
        """The skills whose existence this actor may know of."""
        if actor.is_administrator:
            return self
        seen = Q(visibility=Visibility.PUBLIC)
        if actor.is_signed_in:
            seen |= (Q(visibility=Visibility.SITE) & ~Q(type="internal")) | Q(team_id__in=actor.team_ids)
        return self.filter(seen & (~Q(type="internal") | Q(team_id__in=actor.team_ids)))


class Skill(models.Model):
    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    team = models.ForeignKey(Team, models.PROTECT, related_name="skills")
    slug = models.CharField(max_length=64)
    visibility = models.CharField(max_length=8, choices=Visibility.choices, default=Visibility.PRIVATE)
    source = models.CharField(max_length=16, default="upload")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    # What the catalog shows, copied from the latest version by publishing, its only writer.
    latest = models.ForeignKey("registry.Version", models.SET_NULL, null=True, related_name="+")
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    type = models.CharField(max_length=16, blank=True)
    domain = models.CharField(max_length=120, blank=True)
    category = models.CharField(max_length=120, blank=True)
    tags = models.JSONField(default=list)

    # Written by registry.usage only.
    usage_count = models.PositiveIntegerField(default=0)
    last_used_at = models.DateTimeField(null=True, blank=True)
    hot_key = models.FloatField(default=0.0)

    objects = SkillQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "slug"], name="one_slug_a_team")]
        indexes = [
            models.Index(fields=["-hot_key", "id"], name="skill_hot"),
            models.Index(fields=["-usage_count", "id"], name="skill_count"),
        ]

    def __str__(self) -> str:
        return f"{self.team.slug}/{self.slug}"
