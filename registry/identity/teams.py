"""Changes teams, members and team settings, and chooses the team of a run."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from registry.core import text
from registry.core.errors import NOT_FOUND
from registry.core.languages import languages_of, validated_languages
from registry.core.sql import Reads, reader
from registry.identity import audit, errors
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require, require_scope, require_unarchived
from registry.models import (
    FormerMembership,
    Membership,
    MemoryReview,
    Role,
    RunReaders,
    Skill,
    Team,
    User,
    UserKind,
)

_SETTINGS = ("failing_triggers_block", "memory_review", "run_readers", "share_links")
UNDO_PERIOD = timedelta(minutes=10)


def create_team(slug: str, name: str, by: Actor) -> Team:
    """Creates a team with the actor's user as its owner. An empty ``name`` is replaced by the slug.

    Raises SIGN_IN_REQUIRED for anonymous actors, TOKEN_SCOPE_MISSING for tokens without the scope
    ``administer``, and FORBIDDEN for tokens of one team. Raises SLUG_INVALID or TEXT_INVALID for the names,
    and TEAM_EXISTS if the slug is taken.
    """
    if not by.is_signed_in:
        raise errors.SIGN_IN_REQUIRED.refusal()
    require_scope(by, Action.MEMBERS)
    if by.token and by.token.team_id:
        raise errors.FORBIDDEN.refusal(action="create teams")
    slug, name = text.validated_slug(slug), text.validated(name or slug, field="name", max_length=120)
    try:
        with transaction.atomic():
            team = Team.objects.create(slug=slug, name=name)
            if by.user:
                Membership.objects.create(team=team, user=by.user, role=Role.OWNER)
            audit.record(by, "team.create", slug, team=team)
    except IntegrityError:
        raise errors.TEAM_EXISTS.refusal(slug=slug).at("slug") from None
    by.forget_memberships()
    return team


@transaction.atomic
def rename_team(team: Team, name: str, by: Actor) -> Team:
    """Changes the display name. Raises TEXT_INVALID besides the refusals of ``require``."""
    require(by, Action.MEMBERS, team=team)
    team.name = text.validated(name, field="name", max_length=120)
    team.save(update_fields=["name"])
    audit.record(by, "team.rename", team.slug, team=team, name=team.name)
    return team


def require_member(team: Team, by: Actor) -> None:
    """Raises NOT_FOUND unless the actor is a member of the team or an administrator."""
    if team.pk not in by.team_ids and not by.is_administrator:
        raise NOT_FOUND.refusal(what="team", name=team.slug)


def members_of(team: Team, by: Actor) -> QuerySet[Membership]:
    """The memberships of the team, without service accounts. Raises the errors of ``require_member``."""
    require_member(team, by)
    return _people_of(team).select_related("user")


def find_person(username: str, team: Team, by: Actor) -> User:
    """The active person with this user name. Raises NOT_FOUND if there is none, and the refusals of
    ``require`` unless the actor may manage the team's members.
    """
    require(by, Action.MEMBERS, team=team)  # before the look-up, which would reveal user names
    user = User.objects.filter(username=username, is_active=True, kind=UserKind.PERSON).first()
    if user is None:
        raise NOT_FOUND.refusal(what="user", name=username[:150])
    return user


@transaction.atomic
def add_member(team: Team, user: User, role: str, by: Actor) -> Membership:
    """Adds a person to the team. Besides the refusals of ``require``, raises NOT_FOUND for a service
    account, ROLE_UNKNOWN for an invalid role, and MEMBER_EXISTS for a member.
    """
    require(by, Action.MEMBERS, team=team)
    if user.is_service:
        raise NOT_FOUND.refusal(what="user", name=user.username)
    membership, created = Membership.objects.get_or_create(
        team=team, user=user, defaults={"role": _checked_role(role)}
    )
    if not created:
        raise errors.MEMBER_EXISTS.refusal(user=user.username).at("user")
    forget_departure(team, user)
    audit.record(by, "member.add", user.username, team=team, role=role)
    return membership


@transaction.atomic
def change_role(team: Team, user: User, role: str, by: Actor) -> Membership:
    require(by, Action.MEMBERS, team=team)
    membership = _lock_membership(team, user)
    if _checked_role(role) != Role.OWNER:
        _require_another_owner(membership)
    return _set_role(membership, role, by)


@transaction.atomic
def transfer_ownership(team: Team, to: User, by: Actor, *, role: str = Role.MAINTAINER) -> Membership:
    """Makes another member an owner, gives the actor ``role`` instead, and returns the actor's membership.
    Besides the refusals of ``require``, raises ROLE_UNKNOWN for an invalid role, FORBIDDEN unless the actor
    is an owner of the team, and NOT_FOUND unless ``to`` is another active member.
    """
    require(by, Action.MEMBERS, team=team)
    mine = _lock_membership(team, by.user) if by.user and team.pk in by.team_ids else None
    if mine is None or mine.role != Role.OWNER:
        raise errors.FORBIDDEN.refusal(action="transfer ownership of a team that you don't own")
    heir = _lock_membership(team, to)
    if heir.pk == mine.pk or not to.is_active:
        raise NOT_FOUND.refusal(what="member", name=to.username).at("username")
    if heir.role != Role.OWNER:
        _set_role(heir, Role.OWNER, by)
    return _set_role(mine, _checked_role(role), by)


@transaction.atomic
def remove_member(team: Team, user: User, by: Actor) -> None:
    """Removes a member; people in a session may remove themselves, and undo that with ``rejoin``. Besides the
    refusals of ``require``, raises NOT_FOUND if the user is not a member, and LAST_OWNER for the only owner.
    """
    leaves = by.token is None and by.user == user
    if not leaves:
        require(by, Action.MEMBERS, team=team)
    membership = _lock_membership(team, user)
    _require_another_owner(membership)
    membership.delete()
    if leaves:
        forget_departure(team, user)
        FormerMembership.objects.create(team=team, user=user, role=membership.role)
    audit.record(by, "member.leave" if leaves else "member.remove", user.username, team=team)


def is_only_owner(membership: Membership) -> bool:
    """Whether the member is an owner, and the team has no other active owner."""
    owners = Membership.objects.filter(team=membership.team, role=Role.OWNER, user__is_active=True)
    return membership.role == Role.OWNER and not owners.exclude(pk=membership.pk).exists()


def forget_departure(team: Team, user: User) -> None:
    """Deletes the record that lets the user undo leaving the team."""
    FormerMembership.objects.filter(team=team, user=user).delete()


@transaction.atomic
def rejoin(slug: str, by: Actor) -> Membership:
    """Makes the actor, who left the team, a member again with the same role.

    Raises NOT_FOUND for tokens or if there is no departure to undo, UNDO_EXPIRED after UNDO_PERIOD, and
    TEAM_ARCHIVED if the team is archived.
    """
    rows = FormerMembership.objects.filter(team__slug=slug, user=by.user)
    former = rows.select_related("team", "user").first()
    if former is None or by.token:
        raise NOT_FOUND.refusal(what="team", name=slug[:64])
    Team.objects.select_for_update().get(pk=former.team_id)
    if former.left_at <= timezone.now() - UNDO_PERIOD or not rows.delete()[0]:
        raise errors.UNDO_EXPIRED.refusal()
    require_unarchived(former.team)
    membership = Membership.objects.create(team=former.team, user=former.user, role=former.role)
    audit.record(by, "member.rejoin", former.user.username, team=former.team, role=former.role)
    return membership


@transaction.atomic
def archive(team: Team, by: Actor) -> Team:
    """Makes the team and its skills read-only, and ends the access of its service accounts. A second call
    changes nothing. Requires the owner role or administrator rights.
    """
    require(by, Action.MEMBERS, team=team, even_archived=True)
    if Team.objects.filter(pk=team.pk, archived_at=None).update(archived_at=timezone.now()):
        audit.record(by, "team.archive", team.slug, team=team)
    team.refresh_from_db(fields=["archived_at"])
    return team


@transaction.atomic
def unarchive(team: Team, by: Actor) -> Team:
    require(by, Action.MEMBERS, team=team, even_archived=True)
    if Team.objects.filter(pk=team.pk, archived_at__isnull=False).update(archived_at=None):
        audit.record(by, "team.unarchive", team.slug, team=team)
    team.refresh_from_db(fields=["archived_at"])
    return team


@transaction.atomic
def follow_group(team: Team, user: User, role: Role | None, *, issuer: str) -> None:
    """Gives the user this role, or removes the user from the team, according to the user's groups at
    ``issuer``. Checks no permission. The only owner stays owner, and the audit trail records this.
    """
    Team.objects.select_for_update().get(pk=team.pk)
    membership = Membership.objects.filter(team=team, user=user).first()
    before = membership.role if membership else None
    if before == role:
        return
    by = Actor(user=user)
    forget_departure(team, user)
    if membership and is_only_owner(membership):
        audit.record(by, "member.keep", user.username, team=team, role=before, issuer=issuer)
    elif role is None:
        Membership.objects.filter(team=team, user=user).delete()
        audit.record(by, "member.remove", user.username, team=team, issuer=issuer)
    elif membership is None:
        Membership.objects.create(team=team, user=user, role=role)
        audit.record(by, "member.add", user.username, team=team, role=role, issuer=issuer)
    else:
        Membership.objects.filter(pk=membership.pk).update(role=role)
        audit.record(by, "member.role", user.username, team=team, role=role, before=before, issuer=issuer)


@transaction.atomic
def change_settings(
    team: Team,
    by: Actor,
    *,
    languages: Sequence[str] | None = None,
    failing_triggers_block: bool | None = None,
    memory_review: str | None = None,
    run_readers: str | None = None,
    share_links: bool | None = None,
) -> Team:
    """Changes the given settings and returns the team; None keeps the current value. Raises Refusal for a
    missing permission or an unknown language, and ValueError for an unknown choice.
    """
    require(by, Action.SETTINGS, team=team)
    team = Team.objects.select_for_update().get(pk=team.pk)
    if languages is not None:
        team.languages = validated_languages(languages)
    if failing_triggers_block is not None:
        team.failing_triggers_block = failing_triggers_block
    if memory_review is not None:
        team.memory_review = MemoryReview(memory_review)
    if run_readers is not None:
        team.run_readers = RunReaders(run_readers)
    if share_links is not None:
        team.share_links = share_links
    team.save(update_fields=["languages", *_SETTINGS])
    detail = {"triggers_block": team.failing_triggers_block} | {
        name: getattr(team, name) for name in _SETTINGS[1:]
    }
    audit.record(by, "team.settings", team.slug, team=team, languages=team.languages, **detail)
    return team


def settings_document(team: Team) -> dict[str, Any]:
    return {
        "team": team.slug,
        "languages": list(languages_of(team)),
        "failing_triggers": "block" if team.failing_triggers_block else "warn",
        "memory_review": team.memory_review,
        "run_readers": team.run_readers,
        "share_links": team.share_links,
    }


@reader
def calling_team(actor: Actor, skill: Skill, named: Team | None = None) -> Reads[Team | None]:
    """The team of a run, or None if the actor has no team. In order of preference: ``named``, the token's
    team, the skill's team (for its members and administrators), the actor's oldest team.

    Raises RUN_TEAM_INVALID unless the actor is a member of ``named`` or an administrator.
    """
    if named is not None:
        if not actor.is_administrator and named.pk not in actor.team_ids:
            raise errors.RUN_TEAM_INVALID.refusal(team=named.slug).at("team")
        return named
    if actor.token and actor.token.team_id:
        return actor.token.team
    if actor.is_administrator or skill.team_id in actor.team_ids:
        return skill.team
    yield (oldest := Team.objects.filter(pk__in=actor.team_ids, archived_at=None).order_by("pk")[:1])
    return next(iter(oldest), None)


def _checked_role(role: str) -> str:
    if role not in Role.values:
        raise errors.ROLE_UNKNOWN.refusal(role=role).at("role")
    return role


def _lock_membership(team: Team, user: User) -> Membership:
    """The membership, with its team's row locked so that two owners can't both leave. Raises NOT_FOUND if the
    user is not a member.
    """
    Team.objects.select_for_update().get(pk=team.pk)
    membership = _people_of(team).filter(user=user).first()
    if membership is None:
        raise NOT_FOUND.refusal(what="member", name=user.username)
    return membership


def _people_of(team: Team) -> QuerySet[Membership]:
    """The memberships of people. ``registry.accounts`` manages those of service accounts."""
    return Membership.objects.filter(team=team, user__kind=UserKind.PERSON)


def _set_role(membership: Membership, role: str, by: Actor) -> Membership:
    before, membership.role = membership.role, role
    membership.save(update_fields=["role"])
    user, team = membership.user, membership.team
    audit.record(by, "member.role", user.username, team=team, role=role, before=before)
    return membership


def _require_another_owner(membership: Membership) -> None:
    if is_only_owner(membership):
        raise errors.LAST_OWNER.refusal(user=membership.user.username, team=membership.team.slug)
