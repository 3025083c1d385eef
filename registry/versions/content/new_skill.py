"""Creates skills from a template and publishes them, visible only to their team."""

from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import Skill, Team
from registry.packages.authoring.new_skill import NewSkill, create_files
from registry.packages.package import Package
from registry.packages.read_package import read_files
from registry.versions.errors import SKILL_EXISTS
from registry.versions.publishing.publish import Publication, publish


def build_package(start_options: NewSkill) -> Package:
    """The package that the template and the options produce, read and checked like an upload."""
    return read_files(
        [(f"{start_options.name}/{file.path}", file.data) for file in create_files(start_options)]
    )


def publish_new_skill(start_options: NewSkill, *, team: Team, actor: Actor) -> Publication:
    """Publishes the first version of a new skill. Raises SKILL_EXISTS if the team already has a skill with
    this name, and the errors of ``publish``.
    """
    require(actor, Action.PUBLISH, team=team)
    package = build_package(start_options)
    if Skill.objects.filter(team=team, slug=package.manifest.slug).exists():
        raise SKILL_EXISTS.refusal(skill=f"{team.slug}/{package.manifest.slug}").at("name")
    return publish(package, team=team, actor=actor)
