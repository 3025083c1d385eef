from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from registry.models.fields import DocumentField
from registry.models.identity import new_uid

if TYPE_CHECKING:
    from registry.identity.actors import Actor


class TeamQuerySet(models.QuerySet["Team"]):
    def visible_to(self, actor: Actor) -> TeamQuerySet:
        """The actor's teams, and teams with a skill visible to the actor. Administrators get all teams."""
        if actor.is_administrator:
            return self
        from registry.models.skill import Skill

        shown = Skill.objects.visible_to(actor).filter(team=OuterRef("pk"))
        return self.filter(Q(id__in=actor.team_ids) | Exists(shown))


class MemoryReview(models.TextChoices):
    """The choices of the team setting that decides which proposed memories need a review."""

    NONE = "none", _("None")
    TEAM = "team", _("Team memory")
    ALL = "all", _("Memory of the team and of the run's caller")


class RunReaders(models.TextChoices):
    """The choices of the team setting that decides which members can read the content of the team's runs."""

    CALLER = "caller", _("The caller and maintainers")
    TEAM = "team", _("The whole team")


class Team(models.Model):
    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=120)
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)  # an archived team allows only reading
    languages = DocumentField(default=list)  # languages of requests; empty for the site's languages
    # if False, failing trigger tests only cause warnings
    failing_triggers_block = models.BooleanField(default=False)
    memory_review = models.CharField(max_length=4, choices=MemoryReview.choices, default=MemoryReview.TEAM)
    run_readers = models.CharField(max_length=6, choices=RunReaders.choices, default=RunReaders.CALLER)
    share_links = models.BooleanField(default=True)  # if False, links to the team's runs stop working

    objects = TeamQuerySet.as_manager()

    def __str__(self) -> str:
        return self.slug


class Role(models.TextChoices):
    """The roles of members, from least to most powerful; see ``registry.identity.permissions``."""

    VIEWER = "viewer", _("Viewer")
    MEMBER = "member", _("Member")
    MAINTAINER = "maintainer", _("Maintainer")
    OWNER = "owner", _("Owner")
