"""From what somebody writes to the one row that is meant; what they may not see is as if it were not."""

from __future__ import annotations

from registry.actors import Actor
from registry.models import Skill, Team, Version
from registry.packages.problems import Refused, refuse
from registry.packages.versions import normalise

_SHOWN = 10  # candidates named in a refusal


def find_team(slug: str, actor: Actor) -> Team:
    team = Team.objects.visible_to(actor).filter(slug=slug).first()
    if team is None:
        raise refuse("NOT_FOUND", what="team", name=slug)
    return team


def find_skill(label: str, actor: Actor) -> Skill:
    """The skill "team/slug", or a bare slug's where the caller's own teams have exactly one of it."""
    visible = Skill.objects.visible_to(actor).select_related("team", "latest")
    team, slash, slug = label.rpartition("/")
    if slash:
        skill = visible.filter(team__slug=team, slug=slug).first()
        if skill is None:
            raise _no_skill(label)
        return skill
    own = list(visible.filter(slug=slug, team_id__in=actor.team_ids)[: _SHOWN + 1])
    if len(own) == 1:
        return own[0]
    candidates = own or list(visible.filter(slug=slug).order_by("team__slug")[: _SHOWN + 1])
    if not candidates:
        raise _no_skill(label)
    labels = sorted(str(skill) for skill in candidates)
    shown = ", ".join(labels[:_SHOWN]) + (", …" if len(labels) > _SHOWN else "")
    raise refuse("NAME_AMBIGUOUS", name=slug, candidates=shown)


def find_version(skill: Skill, number: str | None, actor: Actor) -> Version:
    """The version of that number, ``1.0`` for 1.0.0 too, or the latest where none (or "latest") is named."""
    versions = Version.objects.visible_to(actor).filter(skill=skill).select_related("skill__team")
    if number in (None, "", "latest"):
        versions = versions.filter(pk__in=[skill.latest_id])
    else:
        versions = versions.filter(number=normalise(str(number)) or number)
    version = versions.first()
    if version is None:
        raise refuse("NOT_FOUND", what="version", name=f"{skill}@{number or 'latest'}")
    return version


def _no_skill(label: str) -> Refused:
    return refuse("NOT_FOUND", what="skill", name=label[:200])
