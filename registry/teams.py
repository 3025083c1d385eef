"""Teams and who is on them; a team always keeps an owner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import IntegrityError, transaction

from registry import audit, texts
from registry.actors import Actor
from registry.languages import checked, languages_of
from registry.models import Membership, MemoryReview, Role, Skill, Team, User
from registry.packages.problems import refuse
from registry.permissions import Action, require


def create_team(slug: str, name: str, by: Actor) -> Team:
    """A new team, owned by whoever makes it."""
    if not by.is_signed_in:
        raise refuse("SIGN_IN_REQUIRED")
    if by.token:
        raise refuse("FORBIDDEN", action="create team")
    slug, name = texts.slug(slug), texts.plain(name or slug, field="name", most=120)
    try:
        with transaction.atomic():
            team = Team.objects.create(slug=slug, name=name)
            if by.user:
                Membership.objects.create(team=team, user=by.user, role=Role.OWNER)
            audit.record(by, "team.create", slug, team=team)
    except IntegrityError:
        raise refuse("TEAM_EXISTS", path="slug", slug=slug) from None
    by.__dict__.pop("roles", None)  # the actor's roles were read before this team was
    return team


@transaction.atomic
def add_member(team: Team, user: User, role: str, by: Actor) -> Membership:
    require(by, Action.MEMBERS, team=team)
    membership, created = Membership.objects.get_or_create(
        team=team, user=user, defaults={"role": _role(role)}
    )
    if not created:
        raise refuse("MEMBER_EXISTS", path="user", user=user.username)
    audit.record(by, "member.add", user.username, team=team, role=role)
    return membership


@transaction.atomic
def change_role(team: Team, user: User, role: str, by: Actor) -> Membership:
    require(by, Action.MEMBERS, team=team)
    membership = _locked(team, user)
    if _role(role) != Role.OWNER:
        _keep_an_owner(membership)
    before, membership.role = membership.role, role
    membership.save(update_fields=["role"])
    audit.record(by, "member.role", user.username, team=team, role=role, before=before)
    return membership


@transaction.atomic
def remove_member(team: Team, user: User, by: Actor) -> None:
    """Takes somebody off the team; anybody may leave."""
    if by.token or by.user != user:
        require(by, Action.MEMBERS, team=team)
    membership = _locked(team, user)
    _keep_an_owner(membership)
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
    """Changes what is given; None leaves it as it is."""
    require(by, Action.SETTINGS, team=team)
    team = Team.objects.select_for_update().get(pk=team.pk)
    if languages is not None:
        team.languages = checked(languages)
    if failing_triggers_block is not None:
        team.failing_triggers_block = failing_triggers_block
    if memory_review is not None:
        team.memory_review = MemoryReview(memory_review)
    team.save(update_fields=["languages", "failing_triggers_block", "memory_review"])
    told = {"triggers_block": team.failing_triggers_block, "memory_review": team.memory_review}
    audit.record(by, "team.settings", team.slug, team=team, languages=team.languages, **told)
    return team


def settings_document(team: Team) -> dict[str, Any]:
    return {
        "team": team.slug,
        "languages": list(languages_of(team)),
        "failing_triggers": "block" if team.failing_triggers_block else "warn",
        "memory_review": team.memory_review,
    }


def calling_team(actor: Actor, skill: Skill, named: Team | None = None) -> Team | None:
    """For whom a run is: the team named, the token's, the skill's for its members, or one's own."""
    if named is not None:
        if not actor.is_administrator and named.pk not in actor.team_ids:
            raise refuse("RUN_TEAM_INVALID", path="team", team=named.slug)
        return named
    if actor.token and actor.token.team_id:
        return actor.token.team
    if actor.is_administrator or skill.team_id in actor.team_ids:
        return skill.team
    return Team.objects.filter(pk__in=actor.team_ids).order_by("pk").first()


def _role(role: str) -> str:
    if role not in Role.values:
        raise refuse("ROLE_UNKNOWN", path="role", role=role)
    return role


def _locked(team: Team, user: User) -> Membership:
    """The membership, with its team's row locked: two owners who leave at once must not both succeed."""
    Team.objects.select_for_update().get(pk=team.pk)
    membership = Membership.objects.filter(team=team, user=user).first()
    if membership is None:
        raise refuse("NOT_FOUND", what="member", name=user.username)
    return membership


def _keep_an_owner(membership: Membership) -> None:
    owners = Membership.objects.filter(team=membership.team, role=Role.OWNER)
    if membership.role == Role.OWNER and not owners.exclude(pk=membership.pk).exists():
        raise refuse("LAST_OWNER", user=membership.user.username, team=membership.team.slug)
