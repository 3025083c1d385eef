from __future__ import annotations

from typing import TYPE_CHECKING

from django.apps import apps
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from registry.models.fields import DocumentField
from registry.models.identity import new_uid
from registry.models.team import Team

if TYPE_CHECKING:
    from registry.actors import Actor
    from registry.models.canonical import Canonical

INTERNAL = "internal"  # the type that is listed to its own team only, whatever its visibility


class Visibility(models.TextChoices):
    PRIVATE = "private", _("Private")
    SITE = "site", _("Site")
    PUBLIC = "public", _("Public")


class SkillQuerySet(models.QuerySet["Skill"]):
    def visible_to(self, actor: Actor) -> SkillQuerySet:
        """The skills whose existence this actor may know of; merged and purged ones are nobody's any more."""
        return self.known_to(actor).filter(merged_into=None, purged_at=None)

    def offered_to(self, actor: Actor) -> SkillQuerySet:
        """Those that a search or a list tells of: what was reported to do harm is told to its team alone."""
        visible = self.visible_to(actor)
        if actor.is_administrator:
            return visible
        return visible.filter(Q(is_reported=False) | Q(team_id__in=actor.team_ids))

    def found_by(self, actor: Actor) -> SkillQuerySet:
        """Those of ``offered_to`` that have a latest version: the same, by the one column that says so."""
        found = self.exclude(search_scope="")
        return found if actor.is_administrator else found.filter(search_scope__in=scopes_of(actor))

    def known_to(self, actor: Actor) -> SkillQuerySet:
        """Those of which the actor may know that they are or were there: an old address leads to them.

        One of which every version is held is its team's alone.
        """
        if actor.is_administrator:
            return self
        open_to = [Visibility.PUBLIC, Visibility.SITE] if actor.is_signed_in else [Visibility.PUBLIC]
        seen = Q(visibility__in=open_to) & ~Q(type=INTERNAL) & ~_is_held_whole()
        return self.filter(seen | Q(team_id__in=actor.team_ids) if actor.team_ids else seen)

    def reachable_by(self, actor: Actor) -> SkillQuerySet:
        """What is offered to the actor's agents unasked: by listings, matches and loading by name.

        Any publisher writes into an agent's prompt, so these are their own teams' skills, those of teams that
        their teams subscribe to, and what administrators vouch for. The shell reaches every team's.
        """
        usable = self.visible_to(actor).filter(latest__isnull=False)
        if actor.is_shell:
            return usable.filter(Q(for_agents=True) | _is_canonical())
        subscriptions = apps.get_model("registry", "Subscription").objects.filter(team__in=actor.team_ids)
        open_ = Q(for_agents=True, is_reported=False)
        offered = open_ & (Q(team__in=subscriptions.values("publisher")) | Q(is_bundled=True))
        shown = (offered | _is_canonical()) & ~Q(type=INTERNAL) & ~Q(visibility=Visibility.PRIVATE)
        return usable.filter(shown | Q(for_agents=True, team_id__in=actor.team_ids))


def _is_canonical() -> Q:
    """Vouched for by administrators in a version that is for agents, whatever the latest says."""
    canonical = (
        apps.get_model("registry", "Canonical")
        .objects.answerable()
        .filter(for_agents=True, version__reported_at=None)
    )
    return Q(pk__in=canonical.values("skill"))


def _is_held_whole() -> Q:
    """Nothing is the latest, and what there is, is held."""
    versions = apps.get_model("registry", "Version").objects.filter(skill=OuterRef("pk"))
    held = Q(held_at__isnull=False, released_at=None)
    return Q(latest=None) & Exists(versions.filter(held)) & ~Exists(versions.exclude(held))


def scopes_of(actor: Actor) -> list[str]:
    """The scopes that somebody who is no administrator may see."""
    return [*scopes_open_to(actor), *(f"team:{team}" for team in sorted(actor.team_ids))]


def scopes_open_to(actor: Actor) -> list[str]:
    """Those of them that are nobody's own."""
    return [Visibility.PUBLIC.value, Visibility.SITE.value][: 1 + actor.is_signed_in]


class Skill(models.Model):
    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    team = models.ForeignKey(Team, models.PROTECT, related_name="skills")
    slug = models.CharField(max_length=64)
    visibility = models.CharField(max_length=8, choices=Visibility.choices, default=Visibility.PRIVATE)
    source = models.CharField(max_length=16, default="upload")  # how it came: upload, bundled, disk, mcp …
    origin = models.ForeignKey("registry.Source", models.SET_NULL, null=True, related_name="skills")
    origin_path = models.CharField(max_length=1000, blank=True)  # within its origin
    deprecated_at = models.DateTimeField(null=True, blank=True)
    deprecation = models.CharField(max_length=500, blank=True)  # why, and what to do instead
    successor = models.ForeignKey("self", models.SET_NULL, null=True, related_name="+")
    merged_into = models.ForeignKey("self", models.SET_NULL, null=True, related_name="merged")
    purged_at = models.DateTimeField(null=True, blank=True)  # an empty row stays, so that its name does
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    # What the catalog shows, copied from the latest version by publishing, its only writer.
    latest = models.ForeignKey("registry.Version", models.SET_NULL, null=True, related_name="+")
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    when_to_use = models.TextField(blank=True)
    type = models.CharField(max_length=16, blank=True)
    domain = models.CharField(max_length=120, blank=True)
    category = models.CharField(max_length=120, blank=True)
    profile = models.CharField(max_length=16, blank=True)
    tags = DocumentField(default=list)
    is_reported = models.BooleanField(default=False)  # open reports keep its latest version to its team
    for_people = models.BooleanField(default=True)  # False: user-invocable says no, pages do not offer it

    # Written by registry.indexing only.
    name_key = models.CharField(max_length=200, blank=True, db_index=True)  # the name as a search compares it
    search_scope = models.CharField(max_length=24, blank=True)  # where its terms are counted
    indexed_as = models.PositiveSmallIntegerField(default=0)  # by which rules, see registry.indexing.RULES
    for_agents = models.BooleanField(default=True)  # False: disable-model-invocation, no match offers it
    abilities = models.PositiveSmallIntegerField(default=0)  # see registry.abilities
    priority = models.FloatField(default=0.5)  # among skills that match as well
    paths = DocumentField(default=list)  # patterns of files; with some, it matches only where one is named

    is_bundled = models.BooleanField(default=False)  # administrators': offered to everybody, never cut

    # Written by registry.usage only.
    usage_count = models.PositiveIntegerField(default=0)
    last_used_at = models.DateTimeField(null=True, blank=True)
    hot_key = models.FloatField(default=0.0)

    merged_from: Skill | None = None  # by whose old address this row was found: exact versions are that one's
    found_as: Canonical | None = None  # by which canonical name: it then stands for the pinned version alone

    objects = SkillQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "slug"], name="one_slug_a_team")]
        indexes = [
            models.Index(fields=["slug"], name="skill_slug"),
            models.Index(fields=["-hot_key", "id"], name="skill_hot"),
            models.Index(fields=["-usage_count", "id"], name="skill_count"),
            models.Index(fields=["id"], condition=models.Q(is_bundled=True), name="skill_bundled"),
            models.Index(  # holds all that is counted, in the order in which it is
                fields=[
                    "team",
                    "type",
                    "category",
                    "domain",
                    "source",
                    "profile",
                    "search_scope",
                    "for_people",
                ],
                name="skill_facets",
            ),
            models.Index(fields=["id"], condition=models.Q(for_people=False), name="skill_agents_alone"),
        ]

    def __str__(self) -> str:
        return f"{self.team.slug}/{self.slug}"

    @property
    def is_remote(self) -> bool:
        """Read from an address, as mirrors are: neither commands nor arguments are put into its text."""
        return self.source == "address"

    @property
    def seen_as(self) -> str:
        """The visibility that counts: an internal skill is its team's, whatever was chosen."""
        return Visibility.PRIVATE if self.type == INTERNAL else self.visibility


class Tag(models.Model):
    """One tag of a skill's latest version, for filters and counts; ``Skill.tags`` keeps their order."""

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="tag_rows")
    text = models.CharField(max_length=120)
    scope = models.CharField(max_length=24, default="")  # the skill's search_scope, by registry.indexing

    class Meta:
        constraints = [models.UniqueConstraint(fields=["text", "skill"], name="one_tag_a_skill")]
        indexes = [models.Index(fields=["text", "scope", "skill"], name="tag_counted")]
