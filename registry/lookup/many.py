"""Finds many versions by name, with two statements."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.db.models import Q

from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from registry.lookup.errors import PURGED
from registry.lookup.skills import find_version, skill_not_found
from registry.lookup.visibility import is_resolvable
from registry.models import Redirect, Skill, Tombstone, Version
from registry.packages.problems import Refusal
from registry.packages.version_numbers import normalise

Name = tuple[str, str]  # "team/slug" and an exact number, or "" for the latest version


@reader
def find_versions(names: Collection[Name], actor: Actor) -> Reads[dict[Name, Version | Refusal]]:
    """The version of each name, or the refusal that ``find_skill`` or ``find_version`` raises for it."""
    skills = yield from _skills_at({label for label, _number in names}, actor)
    owners = {(skill.merged_from or skill).pk for skill in skills.values()}
    numbers = {normalise(number) or number for _label, number in names if number}
    versions = Version.objects.filter(skill__in=owners, number__in=numbers).defer("body")
    tombstones = Tombstone.objects.filter(
        Q(number__in=numbers) | Q(skill__purged_at__isnull=False), skill__in=owners
    ).order_by("pk")
    yield versions, tombstones
    exact = {(row.skill_id, row.number): row for row in versions}
    purged = {(row.skill_id, row.number): row.reason for row in tombstones}
    reasons = {row.skill_id: row.reason for row in tombstones}

    def read_exact(skill: Skill, number: str) -> Version | None:
        if (version := exact.get((skill.pk, number))) is None and (skill.pk, number) in purged:
            raise PURGED.refusal(name=f"{skill}@{number}", reason=purged[skill.pk, number])
        return version

    def find(label: str, number: str) -> Version:
        if (skill := skills.get(label)) is None:
            raise skill_not_found(label)
        if skill.purged_at:
            raise PURGED.refusal(name=str(skill), reason=reasons.get(skill.pk, ""))
        return find_version(skill, number, actor, read_exact=read_exact)

    found: dict[Name, Version | Refusal] = {}
    for label, number in names:
        try:
            found[label, number] = find(label, number)
        except Refusal as refused:
            found[label, number] = refused
    return found


def _skills_at(labels: Iterable[str], actor: Actor) -> Reads[dict[str, Skill]]:
    """The skills that the actor can see at these addresses, including purged ones. Follows renames and
    merges.
    """
    places = [(team, slug) for team, _slash, slug in (label.rpartition("/") for label in labels)]
    at_place = Q(team__slug__in={team for team, _slug in places}, slug__in={slug for _team, slug in places})
    known = Skill.objects.select_related("team", "latest", "merged_into__team", "merged_into__latest")
    skills = known.filter(at_place)
    redirects = Redirect.objects.filter(at_place).select_related(
        "team", "to__team", "to__latest", "to__merged_into__team", "to__merged_into__latest"
    )
    yield skills, redirects
    present = {str(skill): skill for skill in skills if is_resolvable(skill, actor)}
    former = {f"{row.team.slug}/{row.slug}": row.to for row in redirects if is_resolvable(row.to, actor)}
    followed = ((label, _follow(skill, actor)) for label, skill in (former | present).items())
    return {label: skill for label, skill in followed if skill}


def _follow(skill: Skill, actor: Actor) -> Skill | None:
    """The skill into which ``skill`` was merged, with ``merged_from`` set; otherwise ``skill``. None if the
    actor can't see it.
    """
    into = skill.merged_into
    if skill.purged_at or into is None:
        return skill
    if into.purged_at or not is_resolvable(into, actor):
        return None
    into.merged_from = skill
    return into
