"""Finds teams, skills and versions by name. Raises NOT_FOUND for those that the actor may not see."""

from collections.abc import Callable

from django.db.models import QuerySet

from registry.changes import drafts
from registry.core.errors import NOT_FOUND
from registry.core.sql import prepared
from registry.identity.actors import Actor
from registry.lookup import canonical as canonical_canonical
from registry.lookup import errors
from registry.lookup.visibility import is_resolvable, is_visible, is_visible_skill
from registry.models import Skill, Team, Version
from registry.packages.problems import LazyMessage, Problem, Refusal, gettext_noop
from registry.packages.version_numbers import normalise

_MAX_CANDIDATES = 10  # listed in the error message
# Stands for a successor that is missing or not visible to the actor.
_UNNAMED_SUCCESSOR = LazyMessage(gettext_noop("another version or skill"))


def find_team(slug: str, actor: Actor) -> Team:
    team = Team.objects.visible_to(actor).filter(slug=slug).first()
    if team is None:
        raise NOT_FOUND.refusal(what="team", name=slug)
    return team


def find_skill(label: str, actor: Actor) -> Skill:
    """The skill for "team/slug", "_canonical_slug" or a bare slug. Follows renames and merges of
    "team/slug".

    A bare slug names a skill of the actor's teams, otherwise the canonical skill. Raises NOT_FOUND if the
    actor can see no such skill, PURGED for a purged skill, and CANONICAL_UNAVAILABLE if the pinned version
    of a canonical skill can't be used. Raises NAME_AMBIGUOUS for a bare slug that several of the actor's
    teams, or only other teams, use.
    """
    if "\0" in label:  # which PostgreSQL refuses
        raise NOT_FOUND.refusal(what="skill", name=label.replace("\0", ""))
    if label.startswith(canonical_canonical.PREFIX):
        return _find_canonical(label.removeprefix(canonical_canonical.PREFIX), actor)
    team, slash, slug = label.rpartition("/")
    return _find_at_address(team, slug, actor) if slash else _find_by_bare_slug(slug, actor)


def find_version(
    skill: Skill,
    number: str | None,
    actor: Actor,
    *,
    include_held: bool = False,
    read_exact: Callable[[Skill, str], Version | None] | None = None,
) -> Version:
    """The version with this number (``1.0`` means 1.0.0) or in this channel; without ``number``, the latest.
    A skill that was found by its canonical name has only its pinned version.

    Yanked versions are found by their exact number only. For a held version, raises VERSION_HELD for its team
    and NOT_FOUND for others. With ``include_held``, which is for display only, its team gets the version.
    ``read_exact`` replaces ``_read_exact`` for callers that have read many versions.

    Also raises NOT_FOUND if there is no such version, and NO_LATEST if there is no latest version. Raises
    PURGED for a purged number, and CHANNEL_WITHDRAWN if the channel's version was yanked.
    """
    requested = number or "latest"
    if skill.resolved_canonical:
        return canonical_canonical.pinned_version(skill.resolved_canonical, requested)
    exact = normalise(requested)
    version: Version | None
    if requested == "latest":
        version = _latest_version(skill, actor)
    elif exact is None:
        version = _channel_version(skill, requested, actor)
    else:
        owner = skill.merged_from or skill
        version = (read_exact or _read_exact)(owner, exact)
        version = version if version and _may_see(version, owner, actor) else None
    if version is None:
        raise NOT_FOUND.refusal(what="version", name=f"{skill}@{requested[:80]}")
    if version.is_held and not include_held:
        raise errors.VERSION_HELD.refusal(version=str(version))
    return version


def find_version_by_label(name: str, actor: Actor, *, include_held: bool = False) -> Version:
    """The version for "team/slug@version"; without "@", the latest version. Raises like ``find_skill`` and
    ``find_version``.
    """
    label, _, number = name.partition("@")
    return find_version(find_skill(label, actor), number, actor, include_held=include_held)


def notices(version: Version, actor: Actor) -> tuple[Problem, ...]:
    """Warnings for users of the version: it was yanked, or the version or its skill is reported or
    deprecated.
    """
    skill, problems = version.skill, []
    if version.yanked_at:
        problems.append(errors.VERSION_YANKED.problem(version=str(version), reason=version.yank_reason))
    if reported := _reported_version(version):
        problems.append(errors.VERSION_REPORTED.problem(version=str(reported)))
    if version.deprecated_at:
        successor = f"{skill}@{version.successor}" if version.successor else _UNNAMED_SUCCESSOR
        why = version.deprecation_reason
        problems.append(
            errors.VERSION_DEPRECATED.problem(version=str(version), reason=why, successor=successor)
        )
    if skill.deprecated_at:
        named, why = visible_successor(skill, actor), skill.deprecation_reason
        successor = str(named) if named else _UNNAMED_SUCCESSOR
        problems.append(errors.SKILL_DEPRECATED.problem(skill=str(skill), reason=why, successor=successor))
    return tuple(problems)


def _reported_version(version: Version) -> Version | None:
    """This version if it is reported, otherwise any reported version of the skill. None if the skill does not
    count as reported.
    """
    if version.reported_at or not version.skill.is_reported:
        return version if version.reported_at else None
    return version.skill.versions.filter(reported_at__isnull=False).select_related("skill__team").first()


def visible_successor(skill: Skill, actor: Actor) -> Skill | None:
    """The successor of a deprecated skill; None if it has none or the actor may not see it."""
    if skill.successor_id is None:
        return None
    found = Skill.objects.select_related("team").filter(pk=skill.successor_id).first()
    drafts.depend_on_skill(found)
    return found if found and is_visible_skill(found, actor) else None


def _find_canonical(slug: str, actor: Actor) -> Skill:
    """The canonical skill with this slug. In URLs, a slash separates the prefix from the slug."""
    skill = canonical_canonical.find_by_slug(slug.removeprefix("/"), actor)
    if skill is None:
        raise skill_not_found(canonical_canonical.PREFIX + slug)
    return skill


def _find_by_bare_slug(slug: str, actor: Actor) -> Skill:
    """The skill of the actor's teams, otherwise the canonical skill; never another team's skill. Raises
    NAME_AMBIGUOUS if the actor's teams have several, or if only other teams have the slug. Raises NOT_FOUND
    if there is none.
    """
    drafts.discard()  # a skill of any team can change the answer
    visible = Skill.objects.visible_to(actor).select_related("team", "latest").filter(slug=slug)
    own = list(visible.filter(team_id__in=actor.team_ids)[: _MAX_CANDIDATES + 1])
    if len(own) == 1:
        return own[0]
    if not own and (skill := canonical_canonical.find_by_slug(slug, actor)):
        return skill
    candidates = own or list(visible.order_by("team__slug")[: _MAX_CANDIDATES + 1])
    if not candidates:
        raise skill_not_found(slug)
    labels = sorted(str(skill) for skill in candidates)
    shown = (*labels[:_MAX_CANDIDATES], *(["…"] if len(labels) > _MAX_CANDIDATES else ()))
    raise errors.NAME_AMBIGUOUS.refusal(name=slug, candidates=shown)


def _find_at_address(team: str, slug: str, actor: Actor) -> Skill:
    known = Skill.objects.select_related("team", "latest")
    skill = _skills_at_address(team, slug).first()
    drafts.depend_on_skill(skill)
    if skill is None or not is_resolvable(skill, actor):  # look for a former name
        _depend_on_team(team)
        skill = known.filter(redirects__team__slug=team, redirects__slug=slug).first()
        drafts.depend_on_skill(skill)
    if skill is None or not is_resolvable(skill, actor):
        raise skill_not_found(f"{team}/{slug}")
    if skill.purged_at:
        tombstone = skill.tombstones.order_by("-pk").first()
        raise errors.PURGED.refusal(name=str(skill), reason=tombstone.reason if tombstone else "")
    if skill.merged_into_id is None:
        return skill
    into = known.filter(pk=skill.merged_into_id).first()
    drafts.depend_on_skill(into)
    if into is None or into.purged_at or not is_resolvable(into, actor):
        raise skill_not_found(f"{team}/{slug}")
    into.merged_from = skill
    return into


@prepared
def _skills_at_address(team_slug: str, slug: str) -> QuerySet[Skill]:
    return Skill.objects.select_related("team", "latest").filter(team__slug=team_slug, slug=slug)


@prepared
def _versions(skill: int, number: str) -> QuerySet[Version]:
    return Version.objects.filter(skill_id=skill, number=number)


@prepared
def _team_ids(team_slug: str) -> QuerySet[Team, int]:
    return Team.objects.filter(slug=team_slug).values_list("pk", flat=True)


def _depend_on_team(slug: str) -> None:
    """Declares that the answer depends on the addresses of the team's skills. A new skill or a rename changes
    the team's number. A new team changes the number that all answers depend on.
    """
    if drafts.current() and (team := _team_ids(slug).first()):
        drafts.depend_on_team(team)


def _latest_version(skill: Skill, actor: Actor) -> Version:
    version = skill.latest
    if version is None or not _may_see(version, skill, actor):
        raise errors.NO_LATEST.refusal(skill=str(skill))
    return version


def _channel_version(skill: Skill, name: str, actor: Actor) -> Version | None:
    version = skill.versions.filter(channels__name=name, channels__skill=skill).first()
    if version is None or not _may_see(version, skill, actor):
        return None
    if version.yanked_at:
        raise errors.CHANNEL_WITHDRAWN.refusal(channel=name, version=str(version), reason=version.yank_reason)
    return version


def _read_exact(skill: Skill, number: str) -> Version | None:
    """The version with this number, also if the actor may not see it. Raises PURGED for a purged number."""
    latest = skill.latest
    version = latest if latest and latest.number == number else _versions(skill.pk, number).first()
    if version is None and (tombstone := skill.tombstones.filter(number=number).first()):
        raise errors.PURGED.refusal(name=f"{skill}@{number}", reason=tombstone.reason)
    return version


def _may_see(version: Version, skill: Skill, actor: Actor) -> bool:
    version.skill = skill  # spares a query for the skill and its team
    return is_visible(version, actor)


def skill_not_found(label: str) -> Refusal:
    return NOT_FOUND.refusal(what="skill", name=label[:200])
