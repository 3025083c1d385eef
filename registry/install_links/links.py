"""Creates, lists and revokes install links. A link is a token that reads one team, skill or collection, and
works only in addresses.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from registry.collections.find import find_collection, is_computed
from registry.core.addresses import absolute_url
from registry.core.errors import NOT_FOUND
from registry.identity import audit, tokens
from registry.identity.actors import Actor
from registry.identity.errors import SIGN_IN_REQUIRED
from registry.identity.permissions import Action, require
from registry.install_links.errors import INSTALL_LINK_TARGET, INSTALL_LINKS_TOO_MANY
from registry.lookup import skills
from registry.models import Collection, Scope, Skill, Team, Token

ROOT = "c"  # first part of the addresses
MAX_DAYS = 90
DEFAULT_DAYS = 30
MAX_LINKS = 100  # active ones of a user
_COLLECTIONS = "collections"


@dataclass(frozen=True)
class LinkTarget:
    """The team, skill or stored collection that a link reads. The collection ``all`` is its team."""

    team: Team | None = None
    skill: Skill | None = None
    collection: Collection | None = None

    @property
    def path(self) -> str:
        """The path of the target below the link and below the site."""
        if self.collection:
            return f"{_COLLECTIONS}/{self.collection}"
        if self.skill:
            return str(self.skill)
        return self.team.slug if self.team else ""


def find_target(text: str, actor: Actor) -> LinkTarget:
    """The target of ``team``, ``team/skill`` or ``collections/team/name``. Raises INSTALL_LINK_TARGET for
    other texts, and NOT_FOUND if the actor may not see it.
    """
    parts = text.strip().strip("/").split("/")
    if len(parts) == 1 and parts[0]:
        return LinkTarget(team=skills.find_team(parts[0], actor))
    if len(parts) == 3 and parts[0] == _COLLECTIONS:
        collection = find_collection(parts[1], parts[2], actor)
        if is_computed(collection):
            return LinkTarget(team=collection.team)
        return LinkTarget(collection=collection)
    if len(parts) == 2 and all(parts):
        skill = skills.find_skill("/".join(parts), actor)
        require(actor, Action.INSTALL, skill=skill)
        return LinkTarget(skill=skill)
    raise INSTALL_LINK_TARGET.refusal(target=text[:200]).at("target")


@transaction.atomic
def create_link(
    target: LinkTarget, by: Actor, *, name: str = "", days: int = DEFAULT_DAYS
) -> tuple[Token, str]:
    """Creates a link and returns it with its address, which can't be read again. It expires no later than the
    actor's own token.

    Raises the errors of ``tokens.issue``, and INSTALL_LINKS_TOO_MANY.
    """
    if by.user is None:
        raise SIGN_IN_REQUIRED.refusal()
    if tokens.in_state(links_of(by), "active", timezone.now()).count() >= MAX_LINKS:
        raise INSTALL_LINKS_TOO_MANY.refusal(limit=MAX_LINKS)
    expires_at = timezone.now() + timedelta(days=days)
    if by.token:
        expires_at = min(expires_at, by.token.expires_at)
    team = target.skill.team if target.skill else target.team
    is_member = team is not None and team.pk in by.team_ids
    link, secret = tokens.issue(
        by.user,
        name=name or target.path[:120],
        scopes=[Scope.READ],
        expires_at=expires_at,
        by=by,
        team=team if is_member else None,
    )
    link.is_link, link.skill, link.collection = True, target.skill, target.collection
    if team and not is_member:
        link.team = team  # the owner reads what strangers may read
    link.save(update_fields=["is_link", "skill", "collection", "team"])
    audit.record(by, "install_link.create", link.uid, team=team, path=target.path, days=days)
    return link, absolute_url(f"{ROOT}/{secret}/{target.path}")


def links_of(by: Actor) -> QuerySet[Token]:
    """The actor's own links, including those that have ended."""
    related = ("owner", "team", "skill__team", "collection__team")
    return Token.objects.filter(is_link=True, owner=by.user).select_related(*related)


def target_of(link: Token) -> LinkTarget:
    if link.skill:
        return LinkTarget(skill=link.skill)
    return LinkTarget(collection=link.collection) if link.collection else LinkTarget(team=link.team)


def find_link(uid: str, by: Actor) -> Token:
    """The actor's own link with this uid. Raises NOT_FOUND."""
    found = links_of(by).filter(uid=uid[:26]).first()
    if found is None:
        raise NOT_FOUND.refusal(what="install link", name=uid[:40])
    return found
