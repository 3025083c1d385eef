"""A new skill of a kind, published at once for its team alone, so that it can be tried where it is."""

from __future__ import annotations

from registry.actors import Actor
from registry.models import Skill, Team
from registry.packages.package import Package
from registry.packages.problems import refuse
from registry.packages.reading import read_files
from registry.packages.starting import Start, start
from registry.permissions import Action, require
from registry.publishing import Publication, publish


def package_of(given: Start) -> Package:
    """The package as the gate reads it."""
    return read_files([(f"{given.name}/{file.path}", file.data) for file in start(given)])


def publish_start(given: Start, *, team: Team, actor: Actor) -> Publication:
    """The first version of a skill that the team has not got yet."""
    require(actor, Action.PUBLISH, team=team)
    package = package_of(given)
    if Skill.objects.filter(team=team, slug=package.manifest.slug).exists():
        raise refuse("SKILL_EXISTS", path="name", skill=f"{team.slug}/{package.manifest.slug}")
    return publish(package, team=team, actor=actor)
