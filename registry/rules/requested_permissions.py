"""Computes the permissions that a version requests, and those that a new allow rule grants."""

from dataclasses import replace
from functools import reduce
from operator import or_

from registry.additions.additions import additions_of, effective_manifest
from registry.core.errors import NOT_FOUND
from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from registry.index.abilities import is_scripted
from registry.lookup.errors import NAME_AMBIGUOUS
from registry.lookup.skills import find_skill, find_version
from registry.models import Skill, Team, Version
from registry.packages.manifest.manifest import manifest_of
from registry.packages.rule_names import is_prefix
from registry.packages.unsafe_properties import RequestedPermissions, requested_permissions
from registry.rules.coverage import covered_skills

_MAX_SKILLS_READ = 1_000  # skills whose permissions an allow rule with a prefix combines


@reader
def has_scripts(version: Version) -> Reads[bool]:
    scripted: bool = yield from is_scripted.reads(version, manifest_of(version.manifest))
    return scripted


_has_scripts = has_scripts


def version_permissions(version: Version, *, has_scripts: bool | None = None) -> RequestedPermissions:
    """The permissions of the version's manifest and of its additions. ``has_scripts`` is whether the version
    has scripts, if the caller knows.
    """
    scripts = _has_scripts(version) if has_scripts is None else has_scripts
    requested = requested_permissions(effective_manifest(version), has_scripts=scripts)
    libraries = {f"library: {name}" for name in additions_of(version).library}
    return replace(requested, properties=requested.properties | libraries) if libraries else requested


@reader
def declared_permissions(version: Version) -> Reads[RequestedPermissions]:
    """The permissions of the version's manifest, without its additions."""
    scripts = yield from has_scripts.reads(version)
    return requested_permissions(manifest_of(version.manifest), has_scripts=scripts)


def permissions_to_grant(
    name: str, number: str | None, team: Team | None, actor: Actor
) -> tuple[RequestedPermissions, str]:
    """The permissions that an allow rule with this name grants, and the label of the version that requests
    them. The label is "" for a prefix without a version. Raises the refusals of looking up the skill and the
    version.
    """
    if is_prefix(name) and number is None:
        return _combined_permissions(name, team, actor), ""
    version = find_version(_find_named_skill(name, team, actor), number, actor)
    return version_permissions(version), str(version)


def _find_named_skill(name: str, team: Team | None, actor: Actor) -> Skill:
    """The skill with this name; for a prefix such as ``handbook/report:*``, the skill named before ``:*``.

    Raises NOT_FOUND, or NAME_AMBIGUOUS for several skills.
    """
    exact = name.removesuffix(":*")
    if "/" in exact:
        return find_skill(exact, actor)
    found = list(covered_skills(exact, team, actor)[:2])
    if not found:
        raise NOT_FOUND.refusal(what="skill", name=name)
    if len(found) > 1:
        raise NAME_AMBIGUOUS.refusal(name=name, candidates=tuple(map(str, found)))
    return found[0]


def _combined_permissions(name: str, team: Team | None, actor: Actor) -> RequestedPermissions:
    """All permissions that the latest versions of the visible skills with this prefix request. Reads at most
    ``_MAX_SKILLS_READ`` skills.
    """
    skills = covered_skills(name, team, actor).filter(latest__isnull=False)[:_MAX_SKILLS_READ]
    return reduce(
        or_, (version_permissions(skill.latest) for skill in skills if skill.latest), RequestedPermissions()
    )
