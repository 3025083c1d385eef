"""The access that a link gives: its owner's read access, limited to the addresses of its target."""

from __future__ import annotations

import re

from registry.changes import drafts
from registry.collections.members import members
from registry.identity import tokens
from registry.identity.actors import Actor
from registry.install_links.errors import INSTALL_LINK_INVALID
from registry.install_links.links import ROOT, target_of
from registry.models import Token
from registry.packages.problems import Refusal

_SLUG = "[a-z0-9]+(?:-[a-z0-9]+)*"
_END = r"(?:@[^/]*)?(?:\.private|\.plugin)?(?:\.git)?(?:/.*)?"
_COLLECTION = re.compile(rf"/collections/({_SLUG}/{_SLUG}){_END}")
_TEAM = re.compile(rf"/(?:teams/)?({_SLUG})/(?:\.well-known/.*|all(?:\.private)?\.git/.*|marketplace\.json)")
_SKILL = re.compile(rf"/(?:npm/@|skills/)?({_SLUG}/{_SLUG}){_END}")


def link_actor(secret: str, path: str) -> Actor:
    """The actor for a request with this link's secret and this path below the link. Every failure raises the
    same INSTALL_LINK_INVALID.
    """
    try:
        actor = tokens.link_actor(secret)
    except Refusal:
        raise INSTALL_LINK_INVALID.refusal() from None
    if actor.token is None or not _includes(actor.token, path, actor):
        raise INSTALL_LINK_INVALID.refusal()
    return actor


def link_prefix(secret: str) -> str:
    """The start of the paths below a link."""
    return f"{ROOT}/{secret}/"


def _includes(link: Token, path: str, actor: Actor) -> bool:
    target = target_of(link)
    drafts.depend_on_skill(target.skill)
    if target.collection:
        drafts.depend_on_catalog()
    collection, team, skill = _COLLECTION.fullmatch(path), _TEAM.fullmatch(path), _SKILL.fullmatch(path)
    if collection:
        if target.collection:
            return collection[1] == str(target.collection)
        return target.team is not None and collection[1].partition("/")[0] == target.team.slug
    if team:
        return target.team is not None and team[1] == target.team.slug
    if skill is None:
        return False
    if target.collection:
        labels = {str(member.version.skill) for member in members(target.collection, actor) if member.version}
        return skill[1] in labels
    if target.skill:
        return skill[1] == str(target.skill)
    return target.team is not None and skill[1].partition("/")[0] == target.team.slug
