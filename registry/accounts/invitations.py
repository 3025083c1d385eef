"""Invitations: links with which a person creates an account or joins a team."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from registry.accounts import errors
from registry.accounts.users import add_account, validated_email, validated_username
from registry.core.addresses import absolute_url
from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import ROLE_UNKNOWN
from registry.identity.permissions import Action, require, require_unarchived
from registry.identity.teams import forget_departure
from registry.models import Invitation, Membership, Role, Team, User

DEFAULT_DAYS = 7
MAX_DAYS = 90


@dataclass(frozen=True)
class NewInvitation:
    """A new invitation with its URL, which can't be read again."""

    invitation: Invitation
    url: str


def invite(
    by: Actor, *, email: str = "", team: Team | None = None, role: str = Role.MEMBER, days: int = DEFAULT_DAYS
) -> NewInvitation:
    """Creates an invitation to ``team`` with ``role``, or to the site if ``team`` is None.

    Requires permission to manage the team's members, or administrator rights for the site. Raises
    EMAIL_INVALID, ROLE_UNKNOWN, or EXPIRY_INVALID unless ``days`` is 1 to MAX_DAYS.
    """
    _require_inviter(by, team)
    if role not in Role.values:
        raise ROLE_UNKNOWN.refusal(role=role).at("role")
    if not 1 <= days <= MAX_DAYS:
        raise errors.EXPIRY_INVALID.refusal(most=MAX_DAYS).at("days")
    expires_at = timezone.now() + timedelta(days=days)
    with transaction.atomic():
        new = new_invitation(validated_email(email), expires_at, team=team, role=role, created_by=by.user)
        audit.record(by, "user.invite", new.invitation.email or new.invitation.uid, team=team)
    return new


def new_invitation(email: str, expires_at: datetime, **fields: Any) -> NewInvitation:
    """Creates an invitation without a permission check or audit entry."""
    secret = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        secret_hash=_hash(secret), email=email, expires_at=expires_at, **fields
    )
    return NewInvitation(invitation, absolute_url(f"/join/{secret}/"))


def open_invitations(by: Actor, *, team: Team | None = None) -> QuerySet[Invitation]:
    """The invitations that can still be accepted: those to ``team``, or all invitations if ``team`` is None.
    Requires permission to manage the team's members, or administrator rights for all invitations.
    """
    _require_inviter(by, team, even_archived=True)
    rows = _open().select_related("team", "created_by")
    return rows.filter(team=team) if team else rows


def revoke(uid: str, by: Actor, *, team: Team | None = None) -> None:
    """Revokes the open invitation with this uid, which must be to ``team`` if that is given.

    Raises NOT_FOUND if there is none. Without a team, also raises it for actors who aren't administrators.
    With a team, raises FORBIDDEN for actors who may not manage its members.
    """
    may_look = team is not None or by.is_administrator
    invitation = open_invitations(by, team=team).filter(uid=uid).first() if may_look else None
    if invitation is None or not _open().filter(pk=invitation.pk).update(revoked_at=timezone.now()):
        raise NOT_FOUND.refusal(what="invitation", name=uid[:30])
    audit.record(by, "user.uninvite", invitation.email or uid, team=invitation.team)


def find_invitation(secret: str) -> Invitation:
    """The open invitation with this secret. Raises INVITATION_INVALID for every other secret."""
    found = _open().select_related("team").filter(secret_hash=_hash(secret)).first()
    if found is None:
        raise errors.INVITATION_INVALID.refusal()
    return found


def accept_with_new_account(secret: str, username: str, password: str) -> User:
    """Creates the account of an invited person, and the membership in the invitation's team.

    Raises INVITATION_INVALID, SIGN_UP_CLOSED unless ``creates_account``, TEAM_ARCHIVED, USERNAME_INVALID,
    USERNAME_TAKEN or PASSWORD_WEAK.
    """
    with transaction.atomic():
        invitation = _claim(secret)
        if not creates_account(invitation):
            raise errors.SIGN_UP_CLOSED.refusal()
        _check_password(password, User(username=validated_username(username), email=invitation.email))
        user = add_account(username, password, email=invitation.email)
        _join(invitation, user)
    return user


def accept(secret: str, user: User) -> Invitation:
    """Adds a signed-in user to the invitation's team, if it has one. A member keeps the present role. Raises
    INVITATION_INVALID if the secret has no open invitation, and TEAM_ARCHIVED if the team is archived.
    """
    with transaction.atomic():
        invitation = _claim(secret)
        _join(invitation, user)
    return invitation


def creates_account(invitation: Invitation) -> bool:
    """Whether the invitation may create a new account. Invitations from administrators always may; those from
    team owners may if the site permits it.
    """
    from_administrator = invitation.created_by is None or invitation.created_by.is_superuser
    return from_administrator or settings.SKILLQUAY_SIGN_UP in ("invitation", "open")


def _require_inviter(by: Actor, team: Team | None, *, even_archived: bool = False) -> None:
    if team:
        require(by, Action.MEMBERS, team=team, even_archived=even_archived)
    else:
        require(by, Action.USERS)


def _open() -> QuerySet[Invitation]:
    """The invitations that can be accepted. Excludes those whose creator may no longer invite, so that a
    former owner can't return with an old link.
    """
    owners = Membership.objects.filter(
        team=OuterRef("team"), user=OuterRef("created_by"), role=Role.OWNER, user__is_active=True
    )
    administrator = Q(created_by__is_superuser=True, created_by__is_active=True)
    return Invitation.objects.filter(
        Q(created_by=None) | administrator | Exists(owners),  # the shell has no user
        accepted_at=None,
        revoked_at=None,
        expires_at__gt=timezone.now(),
    )


def _claim(secret: str) -> Invitation:
    """Marks the open invitation with this secret as accepted and returns it. Of two concurrent calls, only
    one succeeds; the other raises INVITATION_INVALID. Raises TEAM_ARCHIVED if the team is archived.
    """
    invitation = find_invitation(secret)
    require_unarchived(invitation.team)
    if not _open().filter(pk=invitation.pk).update(accepted_at=timezone.now()):
        raise errors.INVITATION_INVALID.refusal()
    return invitation


def _join(invitation: Invitation, user: User) -> None:
    Invitation.objects.filter(pk=invitation.pk).update(accepted_by=user)
    if team := invitation.team:
        Membership.objects.get_or_create(team=team, user=user, defaults={"role": invitation.role})
        forget_departure(team, user)
    audit.record(Actor(user=user), "user.join", user.username, team=team)


def _check_password(password: str, user: User) -> None:
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise errors.PASSWORD_WEAK.refusal(reason=" ".join(error.messages)).at("password") from None


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
