from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.accounts import invitations
from registry.identity import teams
from registry.models import Invitation, Membership, User
from tests.refusing import code

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]
PASSWORD = "correct horse battery"


def secret_of(new):
    return new.url.rstrip("/").rpartition("/")[2]


@pytest.fixture
def invited(root, team):
    return invitations.invite(root, email="mei@example.com", team=team, role="maintainer")


def test_invited_person_creates_an_account_and_joins_the_team(invited, team):
    user = invitations.accept_with_new_account(secret_of(invited), "mei", PASSWORD)
    assert (user.email, user.check_password(PASSWORD)) == ("mei@example.com", True)
    assert Membership.objects.get(user=user, team=team).role == "maintainer"


def test_invitation_works_once(invited, bob):
    secret = secret_of(invited)
    invitations.accept_with_new_account(secret, "mei", PASSWORD)
    assert code(invitations.accept_with_new_account, secret, "mei2", PASSWORD) == "INVITATION_INVALID"
    assert code(invitations.accept, secret, bob) == "INVITATION_INVALID"
    assert not User.objects.filter(username="mei2").exists()


@pytest.mark.parametrize("state", ["expired", "revoked", "unknown"])
def test_invitation_that_is_not_open_is_refused_alike(invited, root, state):
    secret = secret_of(invited)
    if state == "expired":
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif state == "revoked":
        invitations.revoke(invited.invitation.uid, root)
    else:
        secret = secret[:-1] + ("a" if secret[-1] != "a" else "b")
    assert code(invitations.find_invitation, secret) == "INVITATION_INVALID"
    assert code(invitations.accept_with_new_account, secret, "mei", PASSWORD) == "INVITATION_INVALID"


def test_refused_name_or_password_keeps_the_invitation_open(invited, alice):
    secret = secret_of(invited)
    assert code(invitations.accept_with_new_account, secret, "alice", PASSWORD) == "USERNAME_TAKEN"
    assert code(invitations.accept_with_new_account, secret, "mei", "12345678") == "PASSWORD_WEAK"
    assert invitations.find_invitation(secret) == invited.invitation


def test_member_who_accepts_keeps_the_role(invited, alice, team):
    invitations.accept(secret_of(invited), alice)
    assert Membership.objects.get(user=alice, team=team).role == "owner"


def test_secret_is_not_stored(invited):
    assert secret_of(invited) not in str(Invitation.objects.values().get())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"email": "x"}, "EMAIL_INVALID"),
        ({"days": 0}, "EXPIRY_INVALID"),
        ({"days": 91}, "EXPIRY_INVALID"),
        ({"role": "king"}, "ROLE_UNKNOWN"),
    ],
)
def test_invalid_invitation_is_refused(root, given, expected):
    assert code(invitations.invite, root, **given) == expected


def test_only_administrators_invite(alice, actor_of):
    assert code(invitations.invite, actor_of(alice)) == "FORBIDDEN"


@pytest.fixture
def from_owner(actor_of, alice, team):
    return invitations.invite(actor_of(alice), team=team, role="owner")


def test_only_owners_invite_to_a_team_and_only_administrators_to_the_site(
    actor_of, alice, bob, stranger, team
):
    assert code(invitations.invite, actor_of(bob), team=team) == "FORBIDDEN"
    assert code(invitations.invite, stranger, team=team) == "NOT_FOUND"
    assert code(invitations.invite, actor_of(alice)) == "FORBIDDEN"
    assert code(invitations.open_invitations, actor_of(alice)) == "FORBIDDEN"


@pytest.mark.parametrize("lost", ["removed", "demoted", "deactivated"])
def test_invitation_ends_with_the_right_to_invite(from_owner, alice, charlie, team, lost):
    if lost == "removed":
        Membership.objects.filter(user=alice).delete()
    elif lost == "demoted":
        Membership.objects.filter(user=alice).update(role="maintainer")
    else:
        User.objects.filter(pk=alice.pk).update(is_active=False)
    assert code(invitations.accept, secret_of(from_owner), charlie) == "INVITATION_INVALID"
    assert not Membership.objects.filter(user=charlie, team=team).exists()


def test_owner_revokes_only_invitations_to_the_own_team(from_owner, actor_of, charlie, team):
    elsewhere = charlie.memberships.get().team
    uid = from_owner.invitation.uid
    assert code(invitations.revoke, uid, actor_of(charlie), team=elsewhere) == "NOT_FOUND"
    assert code(invitations.revoke, uid, actor_of(charlie)) == "NOT_FOUND"
    assert invitations.find_invitation(secret_of(from_owner))


def test_invitation_to_an_archived_team_is_refused(from_owner, actor_of, alice, charlie, team):
    teams.archive(team, actor_of(alice))
    assert code(invitations.accept, secret_of(from_owner), charlie) == "TEAM_ARCHIVED"
    assert Invitation.objects.get().accepted_at is None


def test_owner_who_uses_an_invitation_keeps_the_role(actor_of, alice, team):
    lower = invitations.invite(actor_of(alice), team=team, role="viewer")
    invitations.accept(secret_of(lower), alice)
    assert Membership.objects.get(user=alice).role == "owner"


@pytest.mark.parametrize(
    ("sign_up", "refused"), [("closed", True), ("invitation", False), ("domain", True), ("open", False)]
)
def test_invitation_of_an_owner_creates_an_account_if_the_site_permits_it(
    from_owner, team, settings, sign_up, refused
):
    settings.SKILLQUAY_SIGN_UP = sign_up
    given = (secret_of(from_owner), "mei", PASSWORD)
    if refused:
        assert code(invitations.accept_with_new_account, *given) == "SIGN_UP_CLOSED"
    else:
        assert Membership.objects.get(user=invitations.accept_with_new_account(*given)).team == team
