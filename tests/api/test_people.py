"""Users, invitations, teams and members through the API."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP

from registry.models import Membership, User

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


@pytest.fixture
def script(token_api, administrator):
    """An API client of an administrator's token that may do nothing else."""
    return token_api(administrator, "administer")


def test_company_of_three_teams_and_forty_people_is_provisioned_by_a_token(script):
    for team in ("data", "finance", "support"):
        assert script("post", "teams", {"slug": team, "name": team.title()}).status_code == 201
    for number in range(40):
        name = f"person-{number}"
        created = script("post", "users", {"username": name, "email": f"{name}@example.com"})
        assert created.status_code == 201, created.content
        team = ("data", "finance", "support")[number % 3]
        member = script("post", f"teams/{team}/members", {"username": name, "role": "maintainer"})
        assert member.status_code == 201, member.content
    assert User.objects.filter(username__startswith="person-", must_change_password=True).count() == 40
    first = script("get", "users?limit=30").json()
    rest = script("get", f"users?limit=30&cursor={first['next_cursor']}").json()
    listed = [user["username"] for page in (first, rest) for user in page["items"]]
    assert len(listed) == len(set(listed)) == 41
    assert len(script("get", "teams/data/members").json()["items"]) == 15  # and the token's owner


def test_user_who_leaves_loses_access_with_the_next_request(script, token_api, bob, team):
    agent = token_api(bob, "read")
    assert agent("get", "me").status_code == 200
    left = script("post", "users/bob/deactivate")
    assert left.json()["active"] is False
    assert left.json()["needs_owner"] == {"teams": [], "sources": [], "webhooks": []}
    assert agent("get", "me").status_code == 401
    assert script("get", "users?state=inactive").json()["items"][0]["username"] == "bob"
    assert script("post", "users/bob/reactivate").json()["active"] is True


def test_administrator_is_made_and_the_last_one_stays(script, bob, administrator):
    assert script("patch", "users/bob", {"administrator": True}).json()["administrator"] is True
    assert script("patch", "users/bob", {"administrator": False}).status_code == 200
    last = script("patch", f"users/{administrator.username}", {"administrator": False})
    assert (last.status_code, last.json()["code"]) == (409, "LAST_ADMINISTRATOR")


def test_invitation_is_listed_until_it_is_revoked(script, team):
    made = script("post", "invitations", {"email": "mei@example.com", "team": "docs", "role": "viewer"})
    assert made.status_code == 201
    assert "/join/" in made.json()["url"]
    (listed,) = script("get", "invitations").json()["items"]
    assert (listed["team"], "url" in listed) == ("docs", False)
    assert script("delete", f"invitations/{listed['id']}").status_code == 204
    assert script("get", "invitations").json()["items"] == []
    assert script("delete", f"invitations/{listed['id']}").status_code == 404


def test_owner_manages_members_with_a_token_of_the_scope(token_api, alice, bob, charlie, team):
    owner = token_api(alice, "administer")
    assert owner("post", "teams/docs/members", {"username": "charlie"}).json()["role"] == "member"
    assert owner("patch", "teams/docs/members/charlie", {"role": "viewer"}).json()["role"] == "viewer"
    assert owner("delete", "teams/docs/members/charlie").status_code == 204
    assert owner("delete", "teams/docs/members/alice").json()["code"] == "LAST_OWNER"
    assert owner("patch", "teams/docs", {"name": "Documents"}).json()["name"] == "Documents"
    assert not Membership.objects.filter(user=charlie, team=team).exists()


def test_token_of_one_team_creates_no_team(token_api, alice, team):
    refused = token_api(alice, "administer", team=team)("post", "teams", {"slug": "more"})
    assert refused.json()["code"] == "FORBIDDEN"


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("get", "users", None, 403),
        ("post", "users", {"username": "x"}, 403),
        ("get", "users/alice", None, 404),
        ("patch", "users/alice", {"administrator": True}, 404),
        ("post", "users/alice/deactivate", None, 404),
        ("post", "users/alice/reactivate", None, 404),
        ("post", "users/alice/reset-password", None, 404),
        ("get", "invitations", None, 403),
        ("post", "invitations", {}, 403),
    ],
)
def test_users_are_for_administrators(token_api, bob, alice, method, path, body, status):
    assert token_api(bob, "administer")(method, path, body).status_code == status


def test_members_of_a_private_team_are_hidden_from_strangers(token_api, charlie, alice, team):
    assert token_api(charlie, "read", "administer")("get", "teams/docs/members").status_code == 404
    added = token_api(charlie, "administer")("post", "teams/docs/members", {"username": "alice"})
    assert added.status_code == 404


def test_administrator_removes_second_factors(script, bob, token_api, alice):
    TOTP.activate(bob, "JBSWY3DPEHPK3PXP")
    assert token_api(alice, "administer")("post", "users/bob/reset-second-factors").status_code == 404
    assert script("post", "users/bob/reset-second-factors").json()["username"] == "bob"
    assert not Authenticator.objects.exists()
