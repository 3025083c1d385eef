"""Service accounts: users without a password that belong to one team and act only with access tokens."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet

from registry.accounts import errors
from registry.accounts.users import add_account
from registry.core import text
from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import Membership, Role, Team, User, UserKind

ROLES = (Role.VIEWER, Role.MEMBER, Role.MAINTAINER)


def list_service_accounts(team: Team, by: Actor) -> QuerySet[Membership]:
    """The memberships of the team's service accounts. Only owners of the team and administrators get them."""
    require(by, Action.MEMBERS, team=team, even_archived=True)
    rows = Membership.objects.filter(team=team, user__kind=UserKind.SERVICE)
    return rows.select_related("user", "team")


def find_service_account(team: Team, username: str, by: Actor) -> Membership:
    """The membership of the team's service account with this user name. Requires the owner role or
    administrator rights. Raises NOT_FOUND if there is none.
    """
    row = list_service_accounts(team, by).filter(user__username=username).first()
    if row is None:
        raise NOT_FOUND.refusal(what="service account", name=username[:150])
    return row


@transaction.atomic
def create(team: Team, name: str, role: str, by: Actor) -> Membership:
    """Creates the service account ``<team>-<name>``. The team in the name prevents look-alikes of other
    people's accounts.

    Raises SLUG_INVALID, SERVICE_ROLE_INVALID, or USERNAME_TAKEN.
    """
    require(by, Action.MEMBERS, team=team)
    name = f"{team.slug}-{text.validated_slug(name)}"
    user = add_account(name, None, kind=UserKind.SERVICE)
    membership = Membership.objects.create(team=team, user=user, role=_checked_role(role))
    audit.record(by, "user.create_service", user.username, team=team, role=role)
    return membership


@transaction.atomic
def change_role(membership: Membership, role: str, by: Actor) -> Membership:
    require(by, Action.MEMBERS, team=membership.team)
    before, membership.role = membership.role, _checked_role(role)
    membership.save(update_fields=["role"])
    name = membership.user.username
    audit.record(by, "user.change_service", name, team=membership.team, role=role, before=before)
    return membership


@transaction.atomic
def deactivate(membership: Membership, by: Actor) -> User:
    """Deactivates the account: all its tokens stop working at once. A second call changes nothing. Requires
    the owner role in the team or administrator rights.
    """
    require(by, Action.MEMBERS, team=membership.team, even_archived=True)
    return _set_active(membership, False, "user.deactivate", by)


@transaction.atomic
def reactivate(membership: Membership, by: Actor) -> User:
    """Reactivates the account: tokens that have not expired work again. Requires the owner role in the team
    or administrator rights.
    """
    require(by, Action.MEMBERS, team=membership.team)
    return _set_active(membership, True, "user.reactivate", by)


def deactivate_of_last_owner(user: User) -> None:
    """Deactivates the service accounts of the teams in which the user is the only person. Checks no
    permission.
    """
    teams = Membership.objects.filter(user=user).values("team")
    people = Membership.objects.filter(user__kind=UserKind.PERSON).exclude(user=user)
    left = Team.objects.filter(pk__in=teams).exclude(pk__in=people.values("team"))
    accounts = User.objects.filter(kind=UserKind.SERVICE, memberships__team__in=left)
    User.objects.filter(pk__in=list(accounts.values_list("pk", flat=True))).update(is_active=False)


def _set_active(membership: Membership, active: bool, action: str, by: Actor) -> User:
    user = membership.user
    if User.objects.filter(pk=user.pk, is_active=not active).update(is_active=active):
        audit.record(by, action, user.username, team=membership.team)
    user.refresh_from_db(fields=["is_active"])
    return user


def _checked_role(role: str) -> str:
    if role not in ROLES:
        raise errors.SERVICE_ROLE_INVALID.refusal(role=role).at("role")
    return role
