"""Finds skills and versions by the names that ClawHub clients send."""

from __future__ import annotations

from django.db.models import QuerySet

from registry.changes import drafts
from registry.core.errors import NOT_FOUND
from registry.identity.actors import Actor
from registry.lookup import canonical as canonicals
from registry.lookup import skills
from registry.lookup.errors import NAME_AMBIGUOUS
from registry.lookup.visibility import is_visible
from registry.models import Skill, Team, User, Version
from registry.packages.problems import Refusal

CANONICAL_OWNER = "canonical"  # the owner of canonical skills: no team can have this slug
_MAX_CANDIDATES = 10  # listed in the error message


def find_skill(slug: str, owner: str, actor: Actor) -> Skill:
    """The skill with this slug and owner. ``owner`` is a team slug, CANONICAL_OWNER, or the actor's user name
    for the actor's only team.

    Without an owner, prefers the canonical skill, then a skill of the actor's teams, then the only visible
    skill. Raises the errors of ``skills.find_skill``.
    """
    if owner == CANONICAL_OWNER:
        return skills.find_skill(canonicals.PREFIX + slug, actor)
    if owner:
        return skills.find_skill(f"{team_slug(owner, actor)}/{slug}", actor)
    try:
        return skills.find_skill(canonicals.PREFIX + slug, actor)
    except Refusal as error:
        if error.code != NOT_FOUND.name:
            raise
    drafts.depend_on_catalog()
    visible = Skill.objects.visible_to(actor).filter(slug=slug).select_related("team", "latest")
    found = list(visible.order_by("team__slug")[: _MAX_CANDIDATES + 1])
    own = [skill for skill in found if skill.team_id in actor.team_ids]
    candidates = own or found
    if not candidates:
        raise NOT_FOUND.refusal(what="skill", name=slug[:200])
    if len(candidates) > 1:
        names = tuple(f"@{skill}" for skill in candidates[:_MAX_CANDIDATES])
        raise NAME_AMBIGUOUS.refusal(name=slug, candidates=names)
    return candidates[0]


def team_slug(owner: str, actor: Actor) -> str:
    """The team slug that an owner handle means. If the user names no owner, clients send the name from
    ``whoami``. The actor's user name therefore means the actor's only team, unless a team has this slug.
    """
    if actor.user and User.objects.filter(username=owner).exists():
        drafts.discard()  # kept answers are for all users with the same access
    if (
        actor.user is None
        or owner != actor.user.username
        or Team.objects.visible_to(actor).filter(slug=owner).exists()
    ):
        return owner
    own = list(Team.objects.filter(pk__in=actor.team_ids).values_list("slug", flat=True)[:2])
    return own[0] if len(own) == 1 else owner


def owner_handle(skill: Skill) -> str:
    return CANONICAL_OWNER if skill.resolved_canonical else skill.team.slug


def usable_versions(skill: Skill, actor: Actor) -> QuerySet[Version]:
    """The versions that the actor may see and that are neither yanked nor held, newest first."""
    if skill.resolved_canonical:
        rows = Version.objects.filter(canonicals=skill.resolved_canonical)
    else:
        rows = skill.versions.visible_to(actor)
    return rows.usable().select_related("skill__team").order_by("-precedence")


def latest_version(skill: Skill, actor: Actor) -> Version | None:
    """The version that clients install by default. None if there is none, or if the actor may not see it."""
    if skill.resolved_canonical:
        return skill.resolved_canonical.version
    version = skill.latest
    if version is None:
        return None
    version.skill = skill
    return version if is_visible(version, actor) else None
