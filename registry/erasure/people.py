"""Erases people, at their own request or an administrator's."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from registry.accounts import lock_outs, service_accounts
from registry.accounts.errors import LAST_ADMINISTRATOR
from registry.accounts.sessions import end_sessions
from registry.audit_chain import links
from registry.core.errors import NOT_FOUND
from registry.erasure import hooks
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN, LAST_OWNER
from registry.models import (
    CanonicalUse,
    DeviceLogin,
    Event,
    Feedback,
    FormerMembership,
    IdempotencyKey,
    Membership,
    PinnedSkill,
    ProposedTriggerTest,
    Report,
    Role,
    Token,
    Use,
    User,
    UserKind,
)
from registry.single_sign_on.accounts import seal_links


def find_person(username: str, by: Actor) -> User:
    """The user with this name. Raises FORBIDDEN if the actor uses a token. Raises NOT_FOUND for an unknown
    name, and for another user's name unless the actor is an administrator.
    """
    if by.token:
        raise FORBIDDEN.refusal(action="manage users")
    if by.user and by.user.username == username:
        return by.user
    people = User.objects.filter(username=username, kind=UserKind.PERSON)
    user = people.first() if by.is_administrator else None
    if user is None:
        raise NOT_FOUND.refusal(what="user", name=username[:150])
    return user


@transaction.atomic
def erase_person(user: User, by: Actor) -> User:
    """Deletes the person's data and anonymizes the account. Versions and runs stay under an opaque name; runs
    lose their content.

    Raises FORBIDDEN if the actor uses a token, or is neither this user nor an administrator. Raises
    LAST_ADMINISTRATOR if the site would have no administrator, and LAST_OWNER if a team with other members
    would have no owner.
    """
    require_self_or_administrator(user, by)
    # FOR NO KEY UPDATE: runs reference this row, so a stronger lock could deadlock with writers of runs.
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    _require_not_last(user)
    names = [user.username, *filter(None, [user.email])]  # an invitation is recorded under the address
    hooks.discard_on_commit(hooks.erase_person(user))
    service_accounts.deactivate_of_last_owner(user)
    for rows in _personal_rows(user):
        rows.delete()
    Report.objects.filter(by=user).update(text="")  # the report stays, because it still needs a decision
    end_sessions(user)
    seal_links(user)
    user.username, user.erased_at = f"erased-{user.uid}", timezone.now()
    user.email = user.first_name = user.last_name = user.language = ""
    user.is_active = user.is_staff = user.is_superuser = False
    user.last_login = None
    user.set_unusable_password()
    user.save()
    audit.record(by, "person.erase", user.username)
    links.erase_person(user, names)
    return user


def require_self_or_administrator(user: User, by: Actor) -> None:
    if by.token or not (by.is_administrator or by.user == user):
        raise FORBIDDEN.refusal(action="manage users")


def _require_not_last(user: User) -> None:
    others = User.objects.exclude(pk=user.pk).filter(is_active=True)
    if user.is_superuser and not others.filter(is_superuser=True).exists():
        raise LAST_ADMINISTRATOR.refusal(user=user.username)
    for own in Membership.objects.filter(user=user, role=Role.OWNER).select_related("team"):
        people = Membership.objects.filter(team=own.team, user__kind=UserKind.PERSON)
        members = people.exclude(user=user)
        if members.exists() and not members.filter(role=Role.OWNER).exists():
            raise LAST_OWNER.refusal(user=user.username, team=own.team.slug)


def _personal_rows(user: User) -> list[QuerySet[Any]]:
    """The rows to delete: the person's own rows, and the failed sign-ins with the user name."""
    keys = Q(caller=caller_of(user)) | Q(caller__startswith=f"{caller_of(user)}:")
    return [
        Membership.objects.filter(user=user),
        FormerMembership.objects.filter(user=user),
        PinnedSkill.objects.filter(user=user),
        Token.objects.filter(owner=user),
        DeviceLogin.objects.filter(user=user),
        Use.objects.filter(caller=caller_of(user)),
        CanonicalUse.objects.filter(caller=caller_of(user)),
        IdempotencyKey.objects.filter(keys),
        Event.objects.filter(sender=user),
        Feedback.objects.filter(by=user),
        ProposedTriggerTest.objects.filter(by=user),
        lock_outs.failures_of(user.username),
        Authenticator.objects.filter(user=user),
    ]


def caller_of(user: User) -> str:
    return Actor(user=user).caller
