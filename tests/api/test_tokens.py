"""Access tokens, service accounts, and the teams' life by API."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from registry.identity import token_format
from registry.models import Membership, Role, Token, User
from tests.api.conftest import Api, archive, assert_error, session_api
from tests.conftest import ROOT

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]
OWN = "teams/docs/service-accounts"


def client_of(secret):
    return Api(Client(raise_request_exception=False), Authorization=f"Bearer {secret}")


def test_token_is_created_listed_rotated_and_revoked(as_alice):
    made = as_alice.post("tokens", {"name": "ci", "scopes": ["read", "run"], "days": 7}).json()
    assert client_of(made["secret"]).get("me").status_code == 200
    row = as_alice.get("tokens?state=active").json()["items"][0]
    assert row["last_used_at"]
    assert (row["last_used_address"], row["scopes"], row["state"]) == ("127.0.0.1", ["read", "run"], "active")
    assert "secret" not in row
    path = f"tokens/{made['id']}"
    rotated = as_alice.post(f"{path}/rotate", {"overlap_hours": 1}).json()
    for secret in (made["secret"], rotated["secret"]):
        assert client_of(secret).get("me").status_code == 200
    assert as_alice("DELETE", path).status_code == 204
    for secret in (made["secret"], rotated["secret"]):
        assert_error(client_of(secret).get("me"), 401, "TOKEN_INVALID")
    assert as_alice.get(path).json()["state"] == "revoked"
    assert as_alice.get("tokens?state=active").json()["items"] == []


def test_secret_is_not_stored_for_the_idempotency_key(as_alice):
    sent = ("tokens", {"name": "ci", "scopes": ["read"]})
    first, second = (as_alice.post(*sent, headers={"Idempotency-Key": "same-key"}) for _ in range(2))
    assert first.json()["secret"] != second.json()["secret"]
    assert "Idempotency-Replayed" not in second


def test_token_needs_administer_and_gives_out_no_more_than_itself(alice, token_api):
    reader, manager = token_api(alice, "read"), token_api(alice, "administer", "read")
    for method, path in (("GET", "tokens"), ("POST", "tokens"), ("GET", f"tokens/{manager.token.uid}")):
        assert_error(reader(method, path, {} if method == "POST" else None), 403, "TOKEN_SCOPE_MISSING")
    body = {"name": "ci", "scopes": ["read"]}
    made = manager.post("tokens", body).json()
    assert made["expires_at"][:19] == manager.token.expires_at.isoformat()[:19]
    assert_error(manager.post("tokens", body | {"days": 30}), 403, "TOKEN_LIMIT_EXCEEDED")
    assert_error(manager.post("tokens", body | {"scopes": ["publish"]}), 403, "TOKEN_LIMIT_EXCEEDED")


def test_strangers_find_no_token_and_no_service_account(as_alice, as_bob, as_charlie):
    made = as_alice.post(OWN, {"name": "ci"}).json()
    token = as_alice.post(f"{OWN}/docs-ci/tokens", {"name": "x", "scopes": ["read"]}).json()["id"]
    paths = [
        *(("GET", path, None) for path in (OWN, f"{OWN}/docs-ci", f"{OWN}/docs-ci/tokens")),
        *(("GET", path, None) for path in (f"tokens/{token}", "teams/docs/invitations")),
        *(("POST", f"teams/docs/{verb}", {}) for verb in ("archive", "unarchive", "invitations")),
        ("POST", "teams/docs/transfer", {"username": "bob"}),
        ("POST", f"tokens/{token}/rotate", {}),
        ("POST", OWN, {"name": "x"}),
        ("PATCH", f"{OWN}/docs-ci", {"role": "viewer"}),
        ("POST", f"{OWN}/docs-ci/deactivate", {}),
        ("POST", f"{OWN}/docs-ci/reactivate", {}),
        ("POST", f"{OWN}/docs-ci/tokens", {"name": "x", "scopes": ["read"]}),
        ("DELETE", f"tokens/{token}", None),
        ("DELETE", "teams/docs/invitations/x", None),
    ]
    assert made["username"] == "docs-ci"
    for method, path, body in paths:
        assert_error(as_charlie(method, path, body), 404, "NOT_FOUND")
        assert as_bob(method, path, body).status_code in (403, 404), path
    assert Token.objects.get(uid=token).revoked_at is None


def test_service_account_publishes_with_its_token_until_the_team_is_archived(as_alice, team):
    made = as_alice.post(OWN, {"name": "ci", "role": "member"})
    assert made.status_code == 201
    token = as_alice.post(f"{OWN}/docs-ci/tokens", {"name": "build", "scopes": ["publish"]}).json()
    robot = client_of(token["secret"])
    assert robot.post("packages?team=docs", archive(), kind="application/zip").status_code == 201
    assert [row["id"] for row in as_alice.get(f"{OWN}/docs-ci/tokens").json()["items"]] == [token["id"]]
    assert as_alice.get("tokens").json()["items"] == []
    assert as_alice.post("teams/docs/archive").json()["archived_at"]
    assert_error(robot.get("skills/docs/summarise"), 401, "TOKEN_INVALID")
    newer = archive({"SKILL.md": "---\nname: other\ndescription: Other.\n---\n# Other\n"})
    refused = as_alice.post("packages?team=docs", newer, kind="application/zip")
    assert_error(refused, 409, "TEAM_ARCHIVED")
    assert_error(as_alice.post("runs", {"skill": "docs/summarise"}), 409, "TEAM_ARCHIVED")
    assert as_alice.get("skills/docs/summarise").status_code == 200
    assert as_alice.get("teams/docs/audit").status_code == 200
    assert as_alice.post("teams/docs/unarchive").json()["archived_at"] is None
    assert robot.get("skills/docs/summarise").status_code == 200


def test_ownership_is_transferred_by_api(as_alice, as_bob, bob):
    rows = as_alice.post("teams/docs/transfer", {"username": "bob"}).json()["items"]
    assert [(row["username"], row["role"]) for row in rows] == [("bob", "owner"), ("alice", "maintainer")]
    assert_error(as_alice.post("teams/docs/archive"), 403, "FORBIDDEN")
    assert as_bob.post("teams/docs/archive").status_code == 200


def test_team_invitation_is_listed_revoked_and_used(as_alice, as_charlie, charlie):
    made = as_alice.post("teams/docs/invitations", {"role": "viewer", "days": 2}).json()
    assert [row["id"] for row in as_alice.get("teams/docs/invitations").json()["items"]] == [made["id"]]
    as_charlie.client.post(made["url"][made["url"].index("/join/") :])
    assert Membership.objects.get(user=charlie, team__slug="docs").role == Role.VIEWER
    again = as_alice.post("teams/docs/invitations").json()
    assert as_alice("DELETE", f"teams/docs/invitations/{again['id']}").status_code == 204
    assert as_charlie.client.get(again["url"][again["url"].index("/join/") :]).status_code == 404


def test_company_with_service_accounts_is_provisioned_and_a_leaver_loses_every_access(
    token_api, administrator
):
    script = token_api(administrator, "administer", "read", "publish")
    slugs = ("data", "finance", "support")
    for slug in slugs:
        assert script.post("teams", {"slug": slug}).status_code == 201
        accounts = f"teams/{slug}/service-accounts"
        assert script.post(accounts, {"name": "ci"}).status_code == 201
        token = script.post(f"{accounts}/{slug}-ci/tokens", {"name": "ci", "scopes": ["publish"]}).json()
        rotated = script.post(f"tokens/{token['id']}/rotate", {"overlap_hours": 0}).json()
        assert_error(client_of(token["secret"]).get("me"), 401, "TOKEN_INVALID")
        assert client_of(rotated["secret"]).get("me").json()["teams"][0]["team"] == slug
    for number in range(40):
        name, slug = f"person-{number}", slugs[number % 3]
        assert script.post("users", {"username": name}).status_code == 201
        role = "owner" if number < 6 else "member"
        assert script.post(f"teams/{slug}/members", {"username": name, "role": role}).status_code == 201
    leaver = User.objects.get(username="person-0")
    User.objects.filter(pk=leaver.pk).update(must_change_password=False)
    leaver.refresh_from_db()
    own = [token_api(leaver, "read"), token_api(leaver, "read", team=leaver.memberships.get().team)]
    session = session_api(leaver)
    link = session.post("teams/data/invitations", {"role": "owner"}).json()["url"]
    assert [each.get("tokens" if each is session else "me").status_code for each in (session, *own)] == [
        200
    ] * 3
    assert script.post("users/person-0/deactivate").status_code == 200
    assert [each.get("me").status_code for each in own] == [401, 401]
    assert session.get("tokens").status_code == 401
    assert session.client.get("/account/").status_code == 302
    assert Client().get(link[link.index("/join/") :]).status_code == 404


def test_users_are_listed_by_kind(as_alice, administrator, token_api):
    as_alice.post(OWN, {"name": "ci"})
    script = token_api(administrator, "administer")
    assert [row["username"] for row in script.get("users?kind=service").json()["items"]] == ["docs-ci"]
    assert "docs-ci" not in [row["username"] for row in script.get("users?kind=person").json()["items"]]
    assert_error(script("PATCH", "users/docs-ci", {"administrator": True}), 409, "SERVICE_ACCOUNT")
    assert not User.objects.get(username="docs-ci").is_superuser


def test_documented_check_recognizes_tokens_offline():
    text = (ROOT / "docs/reference/permissions.md").read_text()
    names: dict = {}
    exec(text.partition("```python\n")[2].partition("```")[0], names)
    pattern = re.compile(text.partition("A secret matches `")[2].partition("`")[0])
    secret = token_format.new_secret()
    assert pattern.findall(f"token={secret};") == [secret]
    assert names["is_skillquay_token"](secret)
    changed = "b" if secret[9] == "a" else "a"
    assert not names["is_skillquay_token"](secret[:9] + changed + secret[10:])
