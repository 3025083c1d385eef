"""Changes of teams, members and settings. The last owner of a team can't leave it."""

from collections.abc import Sequence
from typing import Any

from django.db import IntegrityError, transaction

from registry.core import text
from registry.core.errors import NOT_FOUND
from registry.core.languages import languages_of, validated_languages
from registry.identity import audit, errors
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import Membership, MemoryReview, Role, Skill, Team, User


def create_team(slug: str, name: str, by: Actor) -> Team:
    """Creates a team with the actor as its owner. Raises TEAM_EXISTS if the slug is taken."""
    if not by.is_signed_in:
        raise errors.SIGN_IN_REQUIRED.refusal()
    if by.token:
        raise errors.FORBIDDEN.refusal(action="create team")
    slug, name = text.validated_slug(slug), text.validated(name or slug, field="name", max_length=120)
    try:
        with transaction.atomic():
            team = Team.objects.create(slug=slug, name=name)
            if by.user:
                Membership.objects.create(team=team, user=by.user, role=Role.OWNER)
            audit.record(by, "team.create", slug, team=team)
    except IntegrityError:
        raise errors.TEAM_EXISTS.refusal(slug=slug).at("slug") from None
    by.__dict__.pop("roles", None)  # these cached roles do not include the new team
    return team


@transaction.atomic
def add_member(team: Team, user: User, role: str, by: Actor) -> Membership:
    require(by, Action.MEMBERS, team=team)
    membership, created = Membership.objects.get_or_create(
        team=team, user=user, defaults={"role": _checked_role(role)}
    )
    if not created:
        raise errors.MEMBER_EXISTS.refusal(user=user.username).at("user")
    audit.record(by, "member.add", user.username, team=team, role=role)
    return membership


@transaction.atomic
def change_role(team: Team, user: User, role: str, by: Actor) -> Membership:
    require(by, Action.MEMBERS, team=team)
    membership = _lock_membership(team, user)
    if _checked_role(role) != Role.OWNER:
        _require_another_owner(membership)
    before, membership.role = membership.role, role
    membership.save(update_fields=["role"])
    audit.record(by, "member.role", user.username, team=team, role=role, before=before)
    return membership


@transaction.atomic
def remove_member(team: Team, user: User, by: Actor) -> None:
    """Removes a member; members may remove themselves. Raises LAST_OWNER for the team's only owner."""
    if by.token or by.user != user:
        require(by, Action.MEMBERS, team=team)
    membership = _lock_membership(team, user)
    _require_another_owner(membership)
    membership.delete()
    audit.record(by, "member.remove", user.username, team=team)


@transaction.atomic
def change_settings(
    team: Team,
    by: Actor,
    *,
    languages: Sequence[str] | None = None,
    failing_triggers_block: bool | None = None,
    memory_review: str | None = None,
) -> Team:
    """Changes the given settings; None keeps the current value."""
    require(by, Action.SETTINGS, team=team)
    team = Team.objects.select_for_update().get(pk=team.pk)
    if languages is not None:
        team.languages = validated_languages(languages)
    if failing_triggers_block is not None:
        team.failing_triggers_block = failing_triggers_block
    if memory_review is not None:
        team.memory_review = MemoryReview(memory_review)
    team.save(update_fields=["languages", "failing_triggers_block", "memory_review"])
    detail = {"triggers_block": team.failing_triggers_block, "memory_review": team.memory_review}
    audit.record(by, "team.settings", team.slug, team=team, languages=team.languages, **detail)
    return team


def settings_document(team: Team) -> dict[str, Any]:
    return {
        "team": team.slug,
        "languages": list(languages_of(team)),
        "failing_triggers": "block" if team.failing_triggers_block else "warn",
        "memory_review": team.memory_review,
    }


def calling_team(actor: Actor, skill: Skill, named: Team | None = None) -> Team | None:
    """The team of a run, the first of these: the named team, the token's team, the skill's team (for members
    and administrators), the actor's first team; or None. Raises RUN_TEAM_INVALID unless the actor is a member
    of the named team or an administrator.
    """
    if named is not None:
        if not actor.is_administrator and named.pk not in actor.team_ids:
            raise errors.RUN_TEAM_INVALID.refusal(team=named.slug).at("team")
        return named
    if actor.token and actor.token.team_id:
        return actor.token.team
    if actor.is_administrator or skill.team_id in actor.team_ids:
        return skill.team
    return Team.objects.filter(pk__in=actor.team_ids).order_by("pk").first()


def _checked_role(role: str) -> str:
    if role not in Role.values:
        raise errors.ROLE_UNKNOWN.refusal(role=role).at("role")
    return role


def _lock_membership(team: Team, user: User) -> Membership:
    """The membership, with its team's row locked, so that the last two owners can't both leave."""
    Team.objects.select_for_update().get(pk=team.pk)
    membership = Membership.objects.filter(team=team, user=user).first()
    if membership is None:
        raise NOT_FOUND.refusal(what="member", name=user.username)
    return membership


def _require_another_owner(membership: Membership) -> None:
    owners = Membership.objects.filter(team=membership.team, role=Role.OWNER)
    if membership.role == Role.OWNER and not owners.exclude(pk=membership.pk).exists():
        raise errors.LAST_OWNER.refusal(user=membership.user.username, team=membership.team.slug)
