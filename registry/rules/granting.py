"""What a version asks for, and what an allow rule is given for at the moment when somebody makes it."""

from __future__ import annotations

from functools import reduce
from operator import or_

from registry.abilities import Ability, abilities_of
from registry.actors import Actor
from registry.catalog import find_skill, find_version
from registry.models import Skill, Team, Version
from registry.packages.manifest import manifest_of
from registry.packages.problems import refuse
from registry.packages.rule_names import is_prefix
from registry.packages.safety import Asks, asks_of
from registry.rules.covering import covered_by

_MOST_READ = 1_000  # skills whose latest versions a prefix is held against; any others ask


def has_scripts(version: Version) -> bool:
    return Ability.SCRIPT in abilities_of(version, manifest_of(version.manifest))


def asks_of_version(version: Version) -> Asks:
    return asks_of(manifest_of(version.manifest), has_scripts=has_scripts(version))


def granted_now(name: str, number: str | None, team: Team | None, actor: Actor) -> tuple[Asks, str]:
    """What a rule of this name grants, and the version that it is given for where it is one."""
    if is_prefix(name) and number is None:
        return _of_all(name, team, actor), ""
    version = find_version(_one(name, team, actor), number, actor)
    return asks_of_version(version), str(version)


def _one(name: str, team: Team | None, actor: Actor) -> Skill:
    """The skill of an exact name; of a prefix the one that it was offered for: ``docs/report:*``."""
    exact = name.removesuffix(":*")
    if "/" in exact:
        return find_skill(exact, actor)
    found = list(covered_by(exact, team, actor)[:2])
    if not found:
        raise refuse("NOT_FOUND", what="skill", name=name)
    if len(found) > 1:
        raise refuse("NAME_AMBIGUOUS", name=name, candidates=", ".join(map(str, found)))
    return found[0]


def _of_all(name: str, team: Team | None, actor: Actor) -> Asks:
    """Together what the skills of this prefix ask for today: a version that asks for more asks again."""
    skills = covered_by(name, team, actor).filter(latest__isnull=False)[:_MOST_READ]
    return reduce(or_, (asks_of_version(skill.latest) for skill in skills if skill.latest), Asks())
