from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from registry.accounts import invitations, service_accounts, users
from registry.erasure import people
from registry.identity import teams, tokens
from registry.identity.actors import Actor
from registry.identity.permissions import Action, may
from registry.models import Invitation, Membership, Role, Team, User, UserKind
from registry.rules.decision import is_unattended
from tests.refusing import code

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


@pytest.fixture
def owner(alice):
    return Actor(user=alice)


@pytest.fixture
def robot(team, owner):
    return service_accounts.create(team, "ci", "maintainer", owner)


def token_of(row, by, *scopes, days=30):
    expires_at = timezone.now() + timedelta(days=days)
    given = {
        "name": "ci",
        "scopes": scopes or ("read", "publish"),
        "expires_at": expires_at,
        "team": row.team,
    }
    return tokens.issue(row.user, **given, by=by)


def test_service_account_acts_in_its_team_with_its_role(team, owner, robot):
    other = teams.create_team("other", "", owner)
    actor = tokens.actor_of(token_of(robot, owner)[1])
    assert robot.user.username == "docs-ci"
    assert may(actor, Action.PUBLISH, team=team)
    assert not may(actor, Action.PUBLISH, team=other)
    assert not may(actor, Action.MEMBERS, team=team)
    assert is_unattended(actor)


def test_only_owners_manage_service_accounts(team, bob, stranger, robot, owner):
    Membership.objects.filter(user=bob).update(role=Role.MAINTAINER)
    token, _ = token_of(robot, owner)
    for actor, refusal in ((Actor(user=bob), "FORBIDDEN"), (stranger, "NOT_FOUND")):
        assert code(service_accounts.create, team, "x", "member", actor) == refusal
        assert code(service_accounts.list_service_accounts, team, actor) == refusal
        assert code(service_accounts.change_role, robot, "viewer", actor) == refusal
        assert code(service_accounts.deactivate, robot, actor) == refusal
        assert code(token_of, robot, actor) == "FORBIDDEN"
        assert code(tokens.rotate, token, actor) == "FORBIDDEN"
        assert code(tokens.find_token, token.uid, actor) == "NOT_FOUND"


@pytest.mark.parametrize("role", ["owner", "administrator", ""])
def test_service_account_is_at_most_a_maintainer(team, owner, robot, role):
    assert code(service_accounts.create, team, "x", role, owner) == "SERVICE_ROLE_INVALID"
    assert code(service_accounts.change_role, robot, role, owner) == "SERVICE_ROLE_INVALID"
    assert code(teams.change_role, team, robot.user, "owner", owner) == "NOT_FOUND"
    assert code(teams.transfer_ownership, team, robot.user, owner) == "NOT_FOUND"


def test_service_account_has_one_team_and_no_administrator_rights(robot, owner, root, charlie):
    other = charlie.memberships.get().team
    assert code(teams.add_member, other, robot.user, "viewer", Actor(user=charlie)) == "NOT_FOUND"
    assert code(teams.find_person, "docs-ci", other, Actor(user=charlie)) == "NOT_FOUND"
    assert code(users.set_administrator, robot.user, True, root) == "SERVICE_ACCOUNT"
    assert code(people.find_person, "docs-ci", root) == "NOT_FOUND"
    assert robot.user.memberships.count() == 1


def test_names_are_unique_and_begin_with_the_team(team, owner, robot, root):
    assert code(service_accounts.create, team, "ci", "member", owner) == "USERNAME_TAKEN"
    assert code(users.create_user, "Docs-CI", root) == "USERNAME_TAKEN"
    for name in ("", "Ci", "a b", "../x", "x" * 65):
        assert code(service_accounts.create, team, name, "member", owner) == "SLUG_INVALID"


def test_nobody_signs_in_as_a_service_account(robot, root, client):
    for password in ("", "!", robot.user.password, "docs-ci"):
        assert client.post("/sign-in/", {"username": "docs-ci", "password": password}).status_code != 302
    assert code(users.reset_password, robot.user, root) == "SERVICE_ACCOUNT"
    forced = Client()
    forced.force_login(robot.user, backend="django.contrib.auth.backends.ModelBackend")
    assert forced.get("/account/").status_code == 302  # to the sign-in
    assert forced.get("/account/tokens/").status_code == 302
    assert forced.get("/api/v1/tokens").status_code == 401


def test_service_account_accepts_no_invitation(robot, team, owner):
    link = invitations.invite(owner, team=team, role="owner").url
    forced = Client()
    forced.force_login(robot.user, backend="django.contrib.auth.backends.ModelBackend")
    forced.post(link[link.index("/join/") :])
    assert Membership.objects.get(user=robot.user).role == "maintainer"
    assert Invitation.objects.get().accepted_at is None


@pytest.mark.parametrize("how", ["deactivated", "by the administrator", "archived", "role"])
def test_access_ends_with_the_next_request(team, robot, owner, root, how):
    _, secret = token_of(robot, owner)
    assert tokens.actor_of(secret)
    if how == "deactivated":
        service_accounts.deactivate(robot, owner)
    elif how == "by the administrator":
        users.deactivate(robot.user, root)
    elif how == "archived":
        teams.archive(team, owner)
        assert code(token_of, robot, owner) == "TEAM_ARCHIVED"
    else:
        service_accounts.change_role(robot, "viewer", owner)
        assert not may(tokens.actor_of(secret), Action.PUBLISH, team=team)
        return
    assert code(tokens.actor_of, secret) == "TOKEN_INVALID"


def test_deactivated_account_returns_with_its_tokens(robot, owner):
    _, secret = token_of(robot, owner)
    service_accounts.deactivate(robot, owner)
    service_accounts.reactivate(robot, owner)
    assert tokens.actor_of(secret).user == robot.user


def test_last_owner_who_is_erased_takes_the_service_accounts_along(team, robot, owner, alice):
    _, secret = token_of(robot, owner)
    people.erase_person(alice, owner)
    assert code(tokens.actor_of, secret) == "TOKEN_INVALID"


def test_service_account_does_not_count_as_a_member_or_owner(team, robot, owner, alice):
    assert [row.user for row in teams.members_of(team, owner)] == [alice]
    assert code(teams.remove_member, team, alice, owner) == "LAST_OWNER"
    assert Team.objects.get().memberships.count() == 2
    assert [row.user.kind for row in service_accounts.list_service_accounts(team, owner)] == [
        UserKind.SERVICE
    ]
    assert not User.objects.get(username="docs-ci").has_usable_password()


def test_owners_token_gives_a_service_account_no_more_than_itself(team, robot, alice, owner):
    expires_at = timezone.now() + timedelta(days=9)
    _, secret = tokens.issue(alice, name="x", scopes=["administer", "read"], expires_at=expires_at, by=owner)
    acting = tokens.actor_of(secret)
    assert code(token_of, robot, acting, "publish", days=5) == "TOKEN_LIMIT_EXCEEDED"
    assert code(token_of, robot, acting, "read", days=10) == "TOKEN_LIMIT_EXCEEDED"
    assert token_of(robot, acting, "read", days=5)
