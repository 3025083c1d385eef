from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from registry.accounts import users
from registry.identity import tokens
from registry.identity.actors import Actor
from registry.imports.queue import request_due_imports
from registry.models import AuditEntry, Membership, Role, Source, User
from tests.refusing import code

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


def test_new_user_signs_in_with_the_one_time_password_and_replaces_it(root, client):
    new = users.create_user("mei", root, email="mei@example.com")
    answer = client.post("/sign-in/", {"username": "mei", "password": new.one_time_password}, follow=True)
    assert answer.redirect_chain[-1][0] == "/account/password/"
    assert not new.user.is_superuser
    assert AuditEntry.objects.get(action="user.create").target == "mei"


@pytest.mark.parametrize("name", ["", "a b", "x" * 151, "erased-01", "Erased-01", "a/b", "a\0"])
def test_invalid_user_name_is_refused(root, name):
    assert code(users.create_user, name, root) == "USERNAME_INVALID"


def test_user_name_that_differs_only_in_case_is_taken(root, alice):
    assert code(users.create_user, "ALICE", root) == "USERNAME_TAKEN"


def test_invalid_email_leaves_no_account(root):
    assert code(users.create_user, "mei", root, email="nowhere") == "EMAIL_INVALID"
    assert not User.objects.filter(username="mei").exists()


@pytest.mark.parametrize(
    "act",
    [
        lambda user, by: users.create_user("mei", by),
        lambda user, by: users.list_users(by),
        lambda user, by: users.deactivate(user, by),
        lambda user, by: users.reactivate(user, by),
        lambda user, by: users.set_administrator(user, True, by),
        lambda user, by: users.reset_password(user, by),
    ],
)
def test_only_administrators_manage_users(act, alice, bob, actor_of):
    assert code(act, bob, actor_of(alice)) == "FORBIDDEN"


def test_user_does_not_exist_for_others(bob, actor_of):
    assert code(users.find_user, "bob", actor_of(bob)) == "NOT_FOUND"


def test_token_without_the_scope_does_not_manage_users(administrator, bob):
    token = Actor(user=administrator, token=tokens.Token(name="ci"), scopes=frozenset({"read", "settings"}))
    assert code(users.deactivate, bob, token) == "TOKEN_SCOPE_MISSING"


def test_deactivated_user_loses_session_and_token_at_once(root, bob):
    browser, agent = Client(), Client()
    browser.force_login(bob)
    soon = timezone.now() + timedelta(days=1)
    secret = tokens.issue(bob, name="ci", scopes=["read"], expires_at=soon, by=Actor(user=bob))[1]
    headers = {"Authorization": f"Bearer {secret}"}
    assert agent.get("/api/v1/me", headers=headers).status_code == 200
    users.deactivate(bob, root)
    assert browser.get("/account/").status_code == 302
    assert agent.get("/api/v1/me", headers=headers).json()["code"] == "TOKEN_INVALID"
    users.reactivate(bob, root)
    assert agent.get("/api/v1/me", headers=headers).status_code == 200
    assert browser.get("/account/").status_code == 302  # the session stays ended


def test_deactivation_names_what_needs_a_new_owner_and_pauses_imports(root, alice, team):
    source = Source.objects.create(
        team=team,
        kind="git",
        location="https://git.example/a.git",
        created_by=alice,
        interval_s=3600,
        next_at=timezone.now(),
    )
    left = users.deactivate(alice, root)
    assert ([*left.teams], [*left.sources]) == ([team], [source])
    assert request_due_imports(timezone.now()) == []
    users.reactivate(alice, root)
    assert len(request_due_imports(timezone.now())) == 1


def test_team_with_another_active_owner_needs_none(root, alice, bob, team):
    Membership.objects.filter(user=bob).update(role=Role.OWNER)
    assert users.deactivate(alice, root).teams == []


def test_last_administrator_stays(root, administrator, bob):
    assert code(users.deactivate, administrator, root) == "LAST_ADMINISTRATOR"
    assert code(users.set_administrator, administrator, False, root) == "LAST_ADMINISTRATOR"
    users.set_administrator(bob, True, root)
    users.deactivate(administrator, root)
    assert code(users.deactivate, bob, Actor(is_shell=True)) == "LAST_ADMINISTRATOR"


def test_inactive_user_becomes_no_administrator(root, bob):
    users.deactivate(bob, root)
    assert code(users.set_administrator, bob, True, root) == "USER_INACTIVE"


def test_reset_link_sets_a_password_once(root, bob, client):
    url = users.reset_password(bob, root)
    path = url[url.index("/reset-password/") :]
    form = client.get(path, follow=True)
    address = form.redirect_chain[-1][0]
    bob.refresh_from_db()
    assert not bob.check_password("bob-password")
    weak = client.post(address, {"new_password1": "12345678", "new_password2": "12345678"})
    assert weak.status_code == 422
    chosen = {"new_password1": "correct horse battery", "new_password2": "correct horse battery"}
    assert client.post(address, chosen, follow=True).status_code == 200
    bob.refresh_from_db()
    assert bob.check_password("correct horse battery")
    assert Client().get(path, follow=True).status_code == 404


def test_commands_create_list_and_reset(administrator):
    created = _command("create_user", "mei", "--email", "mei@example.com")
    assert (created["username"], created["administrator"]) == ("mei", False)
    assert User.objects.get(username="mei").check_password(created["one_time_password"])
    listed = {user["username"]: user["active"] for user in _command("list_users")["users"]}
    assert listed == {"mei": True, administrator.username: True}
    assert "/reset-password/" in _command("reset_password", "mei")["url"]


def _command(name, *arguments):
    out = StringIO()
    call_command(name, *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())
