"""From what somebody writes to the one row that is meant; what they may not see is as if it were not."""

from __future__ import annotations

from django.db.models import QuerySet

from registry import canonical
from registry.actors import Actor
from registry.models import Skill, Team, Version
from registry.packages.problems import Problem, Refused, problem, refuse
from registry.packages.versions import normalise

_SHOWN = 10  # candidates named in a refusal
_ANOTHER = "…"  # in the place of a successor that is not named, or not to be seen


def find_team(slug: str, actor: Actor) -> Team:
    team = Team.objects.visible_to(actor).filter(slug=slug).first()
    if team is None:
        raise refuse("NOT_FOUND", what="team", name=slug)
    return team


def find_skill(label: str, actor: Actor) -> Skill:
    """The skill "team/slug", "_canonical_slug", or what a bare slug means to this caller.

    An old address leads to where its skill went; what was purged is refused as PURGED.
    """
    if label.startswith(canonical.PREFIX):
        return _canonical(label.removeprefix(canonical.PREFIX), actor)
    team, slash, slug = label.rpartition("/")
    return _at_address(team, slug, actor) if slash else _by_bare_name(slug, actor)


def find_version(skill: Skill, number: str | None, actor: Actor, *, even_held: bool = False) -> Version:
    """The version of that number, ``1.0`` for 1.0.0 too, of that channel, or the latest.

    Yanked ones are found by their exact number alone. A held one is refused as VERSION_HELD to its team,
    unless it is only to be shown (``even_held``), and is not there for others.
    """
    named = number or "latest"
    if skill.found_as:
        return canonical.pinned(skill.found_as, named)
    exact = normalise(named)
    version: Version | None
    if named == "latest":
        version = _latest(skill, actor)
    elif exact is None:
        version = _of_channel(skill, named, actor)
    else:
        version = _exact(skill.merged_from or skill, exact, actor)
    if version is None:
        raise refuse("NOT_FOUND", what="version", name=f"{skill}@{named[:80]}")
    if version.is_held and not even_held:
        raise refuse("VERSION_HELD", version=str(version))
    return version


def find_named(name: str, actor: Actor, *, even_held: bool = False) -> Version:
    """The version that "team/slug@version" means, or the latest without @."""
    label, _, number = name.partition("@")
    return find_version(find_skill(label, actor), number, actor, even_held=even_held)


def notices(version: Version, actor: Actor) -> tuple[Problem, ...]:
    """What somebody who uses this version should know: that it, or its skill, is yanked or deprecated."""
    skill, found = version.skill, []
    if version.yanked_at:
        found.append(problem("VERSION_YANKED", version=str(version), reason=version.yank_reason))
    if reported := _reported(version):
        found.append(problem("VERSION_REPORTED", version=str(reported)))
    if version.deprecated_at:
        successor = f"{skill}@{version.successor}" if version.successor else _ANOTHER
        why = version.deprecation
        found.append(problem("VERSION_DEPRECATED", version=str(version), reason=why, successor=successor))
    if skill.deprecated_at:
        successor = str(successor_of(skill, actor) or _ANOTHER)
        why = skill.deprecation
        found.append(problem("SKILL_DEPRECATED", skill=str(skill), reason=why, successor=successor))
    return tuple(found)


def _reported(version: Version) -> Version | None:
    """This one, or the one with which all of its skill waits."""
    if version.reported_at or not version.skill.is_reported:
        return version if version.reported_at else None
    return version.skill.versions.filter(reported_at__isnull=False).select_related("skill__team").first()


def successor_of(skill: Skill, actor: Actor) -> Skill | None:
    """What takes a deprecated skill's place, for those who may see it."""
    if skill.successor_id is None:
        return None
    return Skill.objects.visible_to(actor).select_related("team").filter(pk=skill.successor_id).first()


def _canonical(slug: str, actor: Actor) -> Skill:
    """In addresses the prefix stands in the team's place, before a slash."""
    skill = canonical.find(slug.removeprefix("/"), actor)
    if skill is None:
        raise _no_skill(canonical.PREFIX + slug)
    return skill


def _by_bare_name(slug: str, actor: Actor) -> Skill:
    """The caller's own teams' skill, else the canonical one; never silently somebody else's."""
    visible = Skill.objects.visible_to(actor).select_related("team", "latest").filter(slug=slug)
    own = list(visible.filter(team_id__in=actor.team_ids)[: _SHOWN + 1])
    if len(own) == 1:
        return own[0]
    if not own and (skill := canonical.find(slug, actor)):
        return skill
    candidates = own or list(visible.order_by("team__slug")[: _SHOWN + 1])
    if not candidates:
        raise _no_skill(slug)
    labels = sorted(str(skill) for skill in candidates)
    shown = ", ".join(labels[:_SHOWN]) + (", …" if len(labels) > _SHOWN else "")
    raise refuse("NAME_AMBIGUOUS", name=slug, candidates=shown)


def _at_address(team: str, slug: str, actor: Actor) -> Skill:
    known = Skill.objects.known_to(actor).select_related("team", "latest")
    skill = known.filter(team__slug=team, slug=slug).first()
    if skill is None:  # the name that it had before
        skill = known.filter(redirects__team__slug=team, redirects__slug=slug).first()
    if skill is None:
        raise _no_skill(f"{team}/{slug}")
    if skill.purged_at:
        stone = skill.tombstones.order_by("-pk").first()
        raise refuse("PURGED", name=str(skill), reason=stone.reason if stone else "")
    if skill.merged_into_id is None:
        return skill
    into = known.filter(pk=skill.merged_into_id, purged_at=None).first()
    if into is None:
        raise _no_skill(f"{team}/{slug}")
    into.merged_from = skill
    return into


def _latest(skill: Skill, actor: Actor) -> Version:
    version = _versions(skill, actor).filter(pk=skill.latest_id).first() if skill.latest_id else None
    if version is None:
        raise refuse("NO_LATEST", skill=str(skill))
    return version


def _of_channel(skill: Skill, name: str, actor: Actor) -> Version | None:
    version = _versions(skill, actor).filter(channels__name=name, channels__skill=skill).first()
    if version and version.yanked_at:
        raise refuse("CHANNEL_WITHDRAWN", channel=name, version=str(version), reason=version.yank_reason)
    return version


def _exact(skill: Skill, number: str, actor: Actor) -> Version | None:
    if stone := skill.tombstones.filter(number=number).first():
        raise refuse("PURGED", name=f"{skill}@{number}", reason=stone.reason)
    return _versions(skill, actor).filter(number=number).first()


def _versions(skill: Skill, actor: Actor) -> QuerySet[Version]:
    return Version.objects.visible_to(actor).filter(skill=skill).select_related("skill__team")


def _no_skill(label: str) -> Refused:
    return refuse("NOT_FOUND", what="skill", name=label[:200])
