from __future__ import annotations

from collections.abc import Collection
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from registry.models.fields import DocumentField
from registry.models.identity import new_uid
from registry.models.team import Team

if TYPE_CHECKING:
    from registry.identity.actors import Actor
    from registry.models.canonical import Canonical

_USABLE: dict[str, Any] = {"latest__isnull": False, "merged_into": None, "purged_at": None}
_UNLISTED: dict[str, Any] = {"search_scope": "", "merged_into": None, "purged_at": None}
INTERNAL = "internal"  # skills of this type are visible to their team only, whatever their visibility


class Visibility(models.TextChoices):
    PRIVATE = "private", _("Private")
    SITE = "site", _("Site")
    PUBLIC = "public", _("Public")


class SkillQuerySet(models.QuerySet["Skill"]):
    def visible_to(self, actor: Actor) -> SkillQuerySet:
        """The skills that the actor may see, without merged and purged ones."""
        return self.resolvable_by(actor).filter(merged_into=None, purged_at=None)

    def discoverable_by(self, actor: Actor) -> SkillQuerySet:
        """The skills that lists show to the actor: the visible ones, without reported skills of other teams.
        Administrators get reported skills too.
        """
        visible = self.visible_to(actor)
        if actor.is_administrator:
            return visible
        return visible.filter(Q(is_reported=False) | Q(team_id__in=actor.team_ids))

    def searchable_by(self, actor: Actor) -> SkillQuerySet:
        """The skills of ``discoverable_by`` that have a latest version, selected by the column
        ``search_scope`` alone.
        """
        found = self.searchable()
        return found if actor.is_administrator else found.filter(search_scope__in=visible_scopes(actor))

    def searchable(self) -> SkillQuerySet:
        return self.exclude(search_scope="")

    def unlisted(self) -> SkillQuerySet:
        """The skills without a latest version, because all versions are held or yanked, without merged and
        purged ones. They have an index.
        """
        return self.filter(**_UNLISTED)

    def resolvable_by(self, actor: Actor) -> SkillQuerySet:
        """The skills whose addresses work for the actor: those of ``visible_to``, merged and purged ones.

        A skill with only held versions is included only for its team and administrators.
        """
        if actor.is_administrator:
            return self
        open_to = [Visibility.PUBLIC, Visibility.SITE] if actor.is_signed_in else [Visibility.PUBLIC]
        seen = Q(visibility__in=open_to) & ~Q(type=INTERNAL) & ~_is_fully_held()
        return self.filter(seen | Q(team_id__in=actor.team_ids) if actor.team_ids else seen)

    def name_contains(self, text: str) -> SkillQuerySet:
        """The skills whose slug, former slug or display name contains the text, in upper or lower case."""
        former = apps.get_model("registry", "Redirect").objects.filter(slug__icontains=text)
        named = Q(slug__icontains=text) | Q(name__icontains=text)
        return self.filter(named | Q(pk__in=former.values("to")))

    def recommendable_to(self, actor: Actor) -> SkillQuerySet:
        """The skills that listings, matches and loading by name recommend to the actor's agents.

        Agents' prompts contain the descriptions of these skills. The result is therefore limited to skills of
        the actor's teams and of the teams to which these subscribe, and to bundled and canonical skills. The
        shell gets the skills of all teams.
        """
        usable = self.visible_to(actor).filter(latest__isnull=False)
        if actor.is_shell:
            return usable.filter(Q(for_agents=True) | _is_canonical())
        own = Q(pk__in=Skill.objects.filter(team_id__in=actor.team_ids).values("pk"))
        candidates = Skill.objects.filter(own | _is_open_candidate(actor)).values("pk")
        return usable.filter(Q(pk__in=candidates), _is_open(actor) | _is_from_teams(actor))

    def recommendable_from_teams(self, actor: Actor) -> SkillQuerySet:
        """The part of ``recommendable_to`` that is recommended because the actor's teams own it, without
        bundled skills. Empty for the shell.
        """
        return self.none() if actor.is_shell else self.recommendable_from(actor.team_ids)

    def recommendable_from(self, teams: Collection[int]) -> SkillQuerySet:
        """The skills that their own teams' agents get, without bundled ones. They have an index."""
        return self.filter(team_id__in=teams, for_agents=True, is_bundled=False, **_USABLE)

    def recommendable_from_others(self, actor: Actor) -> SkillQuerySet:
        """The part of ``recommendable_to`` that is not in ``recommendable_from_teams``."""
        if actor.is_shell:
            return self.recommendable_to(actor)
        candidates = Skill.objects.filter(_is_open_candidate(actor)).values("pk")
        usable = self.visible_to(actor).filter(latest__isnull=False, pk__in=candidates)
        own = _is_from_teams(actor)
        return usable.filter(_is_open(actor) | own).exclude(own, is_bundled=False)


def _is_from_teams(actor: Actor) -> Q:
    return Q(for_agents=True, team_id__in=actor.team_ids)


def _is_open(actor: Actor) -> Q:
    """A condition for skills that are recommended to the actor as a member of any team: bundled, canonical
    and of publishers to which the actor's teams subscribe.
    """
    trusted = Q(team__in=_publishers(actor)) | Q(is_bundled=True)
    recommended = Q(for_agents=True, is_reported=False) & trusted
    return (recommended | _is_canonical()) & ~Q(type=INTERNAL) & ~Q(visibility=Visibility.PRIVATE)


def _is_open_candidate(actor: Actor) -> Q:
    """Repeats a part of ``_is_open`` as subqueries that each use an index. Without them, SQLite reads all
    skills in the order of the list.
    """
    candidates = (
        Skill.objects.filter(team__in=_publishers(actor)).values("pk"),
        Skill.objects.filter(is_bundled=True).values("pk"),
        apps.get_model("registry", "Canonical").objects.values("skill"),
    )
    return reduce(or_, (Q(pk__in=keys) for keys in candidates))


def _publishers(actor: Actor) -> models.QuerySet[Any]:
    subscriptions = apps.get_model("registry", "Subscription").objects
    return subscriptions.filter(team__in=actor.team_ids).values("publisher")


def _is_canonical() -> Q:
    """A condition for skills with a canonical name whose pinned version is for agents and neither held,
    yanked nor reported. The latest version does not matter.
    """
    canonical = (
        apps.get_model("registry", "Canonical")
        .objects.resolvable()
        .filter(for_agents=True, version__reported_at=None)
    )
    return Q(pk__in=canonical.values("skill"))


def _is_fully_held() -> Q:
    versions = apps.get_model("registry", "Version").objects.filter(skill=OuterRef("pk"))
    held = Q(held_at__isnull=False, released_at=None)
    return Q(latest=None) & Exists(versions.filter(held)) & ~Exists(versions.exclude(held))


def visible_scopes(actor: Actor) -> list[str]:
    """The search scopes visible to an actor who is not an administrator: those of ``open_scopes``, and
    those of the actor's teams.
    """
    return [*open_scopes(actor), *(f"team:{team}" for team in sorted(actor.team_ids))]


def open_scopes(actor: Actor) -> list[str]:
    """The search scopes that belong to no team: ``public``, and for signed-in actors also ``site``."""
    return [Visibility.PUBLIC.value, Visibility.SITE.value][: 1 + actor.is_signed_in]


class Skill(models.Model):
    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    team = models.ForeignKey(Team, models.PROTECT, related_name="skills")
    slug = models.CharField(max_length=64)
    visibility = models.CharField(max_length=8, choices=Visibility.choices, default=Visibility.PRIVATE)
    source = models.CharField(max_length=16, default="upload")  # upload, bundled, disk, mcp …
    origin = models.ForeignKey("registry.Source", models.SET_NULL, null=True, related_name="skills")
    origin_path = models.CharField(max_length=1000, blank=True)  # path of the skill in its origin
    deprecated_at = models.DateTimeField(null=True, blank=True)
    deprecation_reason = models.CharField(max_length=500, blank=True)  # reason and remedy
    successor = models.ForeignKey("self", models.SET_NULL, null=True, related_name="+")
    # Indexed only for merged skills: SQLite would otherwise look up all others by it, as they have no value.
    merged_into = models.ForeignKey("self", models.SET_NULL, null=True, related_name="merged", db_index=False)
    purged_at = models.DateTimeField(null=True, blank=True)  # the row stays to reserve its name
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    # Copied from the latest version; written by publishing only.
    latest = models.ForeignKey("registry.Version", models.SET_NULL, null=True, related_name="+")
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    when_to_use = models.TextField(blank=True)
    type = models.CharField(max_length=16, blank=True)
    domain = models.CharField(max_length=120, blank=True)
    category = models.CharField(max_length=120, blank=True)
    profile = models.CharField(max_length=16, blank=True)
    tags = DocumentField(default=list)
    is_reported = models.BooleanField(default=False)  # True if open reports limit the skill to its team
    for_people = models.BooleanField(default=True)  # False for `user-invocable: false`: pages do not list it

    # Written only by registry.index.postings: the fields below. name_key is the result of name_key() in
    # registry.core.search_terms.
    name_key = models.CharField(max_length=200, blank=True, db_index=True)
    search_scope = models.CharField(max_length=24, blank=True)  # the scope in which its terms are counted
    # registry.index.postings.INDEX_VERSION when it was indexed.
    indexed_as = models.PositiveSmallIntegerField(default=0)
    for_agents = models.BooleanField(default=True)  # False for disable-model-invocation: agents never get it
    abilities = models.PositiveSmallIntegerField(default=0)  # see registry.index.abilities
    priority = models.FloatField(default=0.5)  # from 0 to 1; orders equally good matches
    paths = DocumentField(default=list)  # file patterns; if set, the skill matches only if a file in use fits

    # Set by administrators: listed for everyone with access, never shortened.
    is_bundled = models.BooleanField(default=False)

    # Written by registry.usage.scores only.
    usage_count = models.PositiveIntegerField(default=0)
    last_used_at = models.DateTimeField(null=True, blank=True)
    hot_key = models.FloatField(default=0.0)

    # The merged skill whose address was used. Its exact versions stay available at that address.
    merged_from: Skill | None = None
    # The canonical name by which the skill was found. If set, only its pinned version is available.
    resolved_canonical: Canonical | None = None

    objects = SkillQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "slug"], name="one_slug_per_team")]
        indexes = [
            models.Index(fields=["slug"], name="skill_slug"),
            models.Index(fields=["-hot_key", "id"], name="skill_hot"),
            models.Index(fields=["-usage_count", "id"], name="skill_count"),
            models.Index(fields=["team", "-hot_key", "id"], name="skill_team_hot"),
            models.Index(fields=["team", "-usage_count", "id"], name="skill_team_count"),
            models.Index(fields=["team", "usage_count", "-latest"], name="skill_team_latest"),
            models.Index(fields=["team"], condition=models.Q(**_UNLISTED), name="skill_unlisted"),
            models.Index(  # of ``recommendable_from``
                fields=["team", "slug", "created_at"],
                condition=models.Q(for_agents=True, is_bundled=False, **_USABLE),
                name="skill_recommended",
            ),
            models.Index(
                fields=["team"],
                condition=models.Q(for_agents=True, is_bundled=False, **_USABLE) & ~models.Q(paths=[]),
                name="skill_with_paths",
            ),
            models.Index(fields=["updated_at", "uid"], name="skill_updated"),
            models.Index(fields=["id"], condition=models.Q(is_bundled=True), name="skill_bundled"),
            models.Index(
                fields=["merged_into"], condition=models.Q(merged_into__isnull=False), name="skill_merged"
            ),
            models.Index(  # covers all columns that facets count, in the order of counting
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
            models.Index(fields=["id"], condition=models.Q(for_people=False), name="skill_agents_only"),
        ]

    def __str__(self) -> str:
        return f"{self.team.slug}/{self.slug}"

    @property
    def is_remote(self) -> bool:
        """Whether the skill was imported from a URL. Arguments and commands in the text of such a skill are
        not expanded.
        """
        return self.source == "url"

    @property
    def effective_visibility(self) -> str:
        """The visibility that applies: private for internal skills, otherwise ``visibility``."""
        return Visibility.PRIVATE if self.type == INTERNAL else self.visibility


class Tag(models.Model):
    """A tag of a skill's latest version, for filters and counts. ``Skill.tags`` has the same tags in the
    author's order.
    """

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="tag_rows")
    text = models.CharField(max_length=120)
    # The skill's search_scope, written by registry.index.postings.
    scope = models.CharField(max_length=24, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["text", "skill"], name="one_tag_per_skill")]
        indexes = [models.Index(fields=["text", "scope", "skill"], name="tag_counted")]
