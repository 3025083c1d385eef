"""User accounts, which only administrators may list, create and change."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import reduce
from operator import or_

from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from registry.accounts import errors, mail
from registry.accounts.sessions import end_sessions
from registry.core.addresses import absolute_url
from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import Membership, Role, Source, Team, User, UserKind, WebhookEndpoint

ERASED_PREFIX = "erased-"
MAX_NAME = 150


@dataclass(frozen=True)
class NewUser:
    """A new account with its one-time password, which can't be read again."""

    user: User
    one_time_password: str


@dataclass(frozen=True)
class Dependents:
    """The teams, import sources and webhooks that need another owner if the user is deactivated or erased.

    ``teams`` are those whose only active owner is the user. ``sources`` are sources that are imported in the
    user's name at an interval. ``webhooks`` are endpoints that start runs in the user's name.
    """

    teams: list[Team]
    sources: list[Source]
    webhooks: list[WebhookEndpoint]


def list_users(by: Actor) -> QuerySet[User]:
    """All accounts except erased ones. Requires administrator rights."""
    require(by, Action.USERS)
    return User.objects.filter(erased_at=None)


def containing(rows: QuerySet[User], text: str) -> QuerySet[User]:
    """The users with the text in their user name, name or e-mail address."""
    fields = ("username", "first_name", "last_name", "email")
    return rows.filter(reduce(or_, (Q(**{f"{field}__icontains": text}) for field in fields)))


def find_user(username: str, by: Actor) -> User:
    """The user with this name. Raises NOT_FOUND for an unknown name, and for actors without administrator
    rights.
    """
    user = list_users(by).filter(username=username).first() if by.is_administrator else None
    if user is None:
        raise NOT_FOUND.refusal(what="user", name=username[:MAX_NAME])
    return user


def create_user(username: str, by: Actor, *, email: str = "", is_administrator: bool = False) -> NewUser:
    """Creates an account. At the first sign-in, the user replaces the one-time password. Requires
    administrator rights.

    Raises USERNAME_INVALID, USERNAME_TAKEN or EMAIL_INVALID.
    """
    require(by, Action.USERS)
    password = secrets.token_urlsafe(12)
    with transaction.atomic():
        user = add_account(username, password, email=email, must_change_password=True)
        if is_administrator:
            User.objects.filter(pk=user.pk).update(is_superuser=True, is_staff=True)
            user.refresh_from_db()
        audit.record(by, "user.create", user.username, administrator=is_administrator)
    return NewUser(user, password)


def add_account(
    username: str,
    password: str | None,
    *,
    email: str = "",
    must_change_password: bool = False,
    kind: str = UserKind.PERSON,
) -> User:
    """Adds an account without a permission check or audit entry. Without ``password``, the user can't sign in
    by password. Raises the errors of ``create_user``.

    Names that differ only in case count as the same name.
    """
    username = validated_username(username)
    if User.objects.filter(username__iexact=username).exists():
        raise errors.USERNAME_TAKEN.refusal(name=username).at("username")
    try:
        with transaction.atomic():
            return User.objects.create_user(
                username,
                email=validated_email(email),
                password=password,
                must_change_password=must_change_password,
                kind=kind,
            )
    except IntegrityError:
        raise errors.USERNAME_TAKEN.refusal(name=username).at("username") from None


def validated_username(username: str) -> str:
    """The name in Unicode form NFKC. Raises USERNAME_INVALID if it is empty, too long, reserved, or has other
    characters than user names may have.
    """
    name = User.normalize_username(username.strip())
    try:
        UnicodeUsernameValidator()(name)
    except ValidationError:
        name = ""
    if not name or len(name) > MAX_NAME or name.lower().startswith(ERASED_PREFIX):
        raise errors.USERNAME_INVALID.refusal(name=username[:MAX_NAME]).at("username")
    return name


def validated_email(email: str) -> str:
    """The address without surrounding spaces; it may be empty. Raises EMAIL_INVALID for a malformed one."""
    email = email.strip()
    try:
        if email:
            validate_email(email)
    except ValidationError:
        raise errors.EMAIL_INVALID.refusal(email=email[:MAX_NAME]).at("email") from None
    return email


@transaction.atomic
def deactivate(user: User, by: Actor) -> Dependents:
    """Deactivates the account: the user's sessions end and tokens stop working at once. Scheduled imports and
    webhooks in the user's name stop until the user is reactivated or another user takes them over.

    Returns the dependents that need a new owner. Raises LAST_ADMINISTRATOR for the only active administrator.
    A second call changes nothing.
    """
    require(by, Action.USERS)
    user = _locked(user)
    if user.is_active:
        _require_other_administrator(user)
        user.is_active = False
        user.save(update_fields=["is_active"])
        end_sessions(user)
        audit.record(by, "user.deactivate", user.username)
    return dependents_of(user)


@transaction.atomic
def reactivate(user: User, by: Actor) -> User:
    """Reactivates the account: the user can sign in again, and tokens that have not expired work again.
    Requires administrator rights. Raises USER_ERASED for an erased user.
    """
    require(by, Action.USERS)
    user = _locked(user)
    if not user.is_active:
        user.is_active = True
        user.save(update_fields=["is_active"])
        audit.record(by, "user.reactivate", user.username)
    return user


@transaction.atomic
def set_administrator(user: User, is_administrator: bool, by: Actor) -> User:
    """Makes the user an administrator of the site, or an ordinary user again.

    Raises USER_INACTIVE if the new administrator would be inactive, LAST_ADMINISTRATOR if there is no other
    administrator, and SERVICE_ACCOUNT for a service account.
    """
    require(by, Action.USERS)
    user = _locked(user)
    _require_person(user)
    if user.is_superuser == is_administrator:
        return user
    if is_administrator and not user.is_active:
        raise errors.USER_INACTIVE.refusal(user=user.username)
    if not is_administrator:
        _require_other_administrator(user)
    user.is_superuser = user.is_staff = is_administrator
    user.save(update_fields=["is_superuser", "is_staff"])
    audit.record(by, "user.administrator", user.username, administrator=is_administrator)
    return user


@transaction.atomic
def follow_administrator_group(user: User, is_administrator: bool, *, issuer: str) -> None:
    """Grants or removes administrator rights according to the user's groups at ``issuer``. Checks no
    permission. The only administrator keeps the rights, and the audit trail records this.
    """
    user = _locked(user)
    if user.is_superuser == is_administrator:
        return
    by = Actor(user=user)
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    if not is_administrator and not others.exists():
        audit.record(by, "user.keep_administrator", user.username, issuer=issuer)
        return
    User.objects.filter(pk=user.pk).update(is_superuser=is_administrator, is_staff=is_administrator)
    audit.record(by, "user.administrator", user.username, administrator=is_administrator, issuer=issuer)


@transaction.atomic
def reset_password(user: User, by: Actor) -> str:
    """Makes the user's password unusable, ends the user's sessions, and returns a URL at which the user can
    set a new password (see ``reset_url``).

    Requires administrator rights. Raises USER_INACTIVE for an inactive user, and SERVICE_ACCOUNT for a
    service account.
    """
    require(by, Action.USERS)
    user = _locked(user)
    _require_person(user)
    if not user.is_active:
        raise errors.USER_INACTIVE.refusal(user=user.username)
    user.set_unusable_password()
    user.save(update_fields=["password"])
    end_sessions(user)
    audit.record(by, "user.reset_password", user.username)
    return reset_url(user)


def record_password_change(user: User) -> None:
    """Records that the user set a new password, and mails a notice. The caller has saved the password."""
    audit.record(Actor(user=user), "user.change_password", user.username)
    mail.send_notice(user, mail.SignInChange.PASSWORD)


def record_email_change(user: User) -> None:
    """Records that the user changed the e-mail address, and mails a notice to the previous address. Call this
    before the new address is saved.
    """
    audit.record(Actor(user=user), "user.change_email", user.username)
    mail.send_notice(User.objects.get(pk=user.pk), mail.SignInChange.EMAIL)


def reset_url(user: User) -> str:
    """The URL at which the user can set a new password. It works once, within PASSWORD_RESET_TIMEOUT, and
    only until the user signs in again.
    """
    key = urlsafe_base64_encode(force_bytes(user.pk))
    return absolute_url(f"/reset-password/{key}/{default_token_generator.make_token(user)}/")


def dependents_of(user: User) -> Dependents:
    owned = Membership.objects.filter(user=user, role=Role.OWNER).values("team")
    others = Membership.objects.filter(role=Role.OWNER, user__is_active=True).exclude(user=user)
    return Dependents(
        list(Team.objects.filter(pk__in=owned).exclude(pk__in=others.values("team")).order_by("slug")),
        list(Source.objects.filter(created_by=user, interval_s__gt=0).select_related("team").order_by("pk")),
        list(WebhookEndpoint.objects.filter(created_by=user).select_related("team").order_by("pk")),
    )


def _locked(user: User) -> User:
    """The user's row, locked together with the rows of all administrators. Raises USER_ERASED for an erased
    user.
    """
    # Locks in a fixed order, so that two administrators can't remove each other at the same time. FOR NO KEY
    # UPDATE: runs reference this row, so a stronger lock could deadlock with writers of runs.
    rows = User.objects.filter(Q(pk=user.pk) | Q(is_superuser=True)).order_by("pk")
    row = next(each for each in rows.select_for_update(no_key=True) if each.pk == user.pk)
    if row.erased_at:
        raise errors.USER_ERASED.refusal(user=row.username)
    return row


def _require_person(user: User) -> None:
    if user.is_service:
        raise errors.SERVICE_ACCOUNT.refusal(user=user.username)


def _require_other_administrator(user: User) -> None:
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    if user.is_superuser and not others.exists():
        raise errors.LAST_ADMINISTRATOR.refusal(user=user.username)
