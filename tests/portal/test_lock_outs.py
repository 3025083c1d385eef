"""Administrators see lock-outs and end them, on the page of users and by API."""

from __future__ import annotations

import pytest
from django.test import Client

from registry.accounts import lock_outs
from registry.models import AuditEntry
from tests.factories.second_factors import STEP, code_of_app, sign_in
from tests.pages import part, parts

pytestmark = [pytest.mark.row("P2"), pytest.mark.django_db]


@pytest.fixture
def locked(bob, monkeypatch):
    """Bob's name is locked after one failure; one failure of Alice's name counts as none."""
    monkeypatch.setattr(lock_outs, "MAX_FAILURES", 1)
    Client().post("/sign-in/", {"username": "Bob", "password": "wrong"})


def test_administrator_ends_a_lock_out_on_the_page(browse, administrator, bob, locked):
    admin = browse(administrator)
    row = part(admin.get("/site/users/"), "lock-out")
    assert (row["value"], "127.0.0.1" in row) == ("bob", True)
    assert sign_in()[1].status_code == 429
    admin.post(row.tags("form")[0]["action"])
    assert not parts(admin.get("/site/users/"), "lock-out")
    assert sign_in()[1].status_code == 302
    assert AuditEntry.objects.filter(action="user.end_lock_out", target="bob").count() == 1


def test_failures_below_the_limit_are_no_lock_out(browse, administrator, bob):
    Client().post("/sign-in/", {"username": "bob", "password": "wrong"})
    assert not parts(browse(administrator).get("/site/users/"), "lock-out")


def test_administrator_ends_a_lock_out_by_api(administrator, bob, locked):
    admin = Client()
    admin.force_login(administrator)
    (row,) = admin.get("/api/v1/lockouts").json()["items"]
    assert (row["username"], row["address"], row["failures"]) == ("bob", "127.0.0.1", 1)
    assert admin.delete(f"/api/v1/lockouts/{row['id']}").status_code == 204
    assert admin.delete(f"/api/v1/lockouts/{row['id']}").status_code == 404
    assert admin.get("/api/v1/lockouts").json()["items"] == []


def test_lock_outs_are_hidden_from_others(browse, administrator, alice, bob, locked):
    admin = browse(administrator)
    address = part(admin.get("/site/users/"), "lock-out").tags("form")[0]["action"]
    other = browse(alice)
    assert other.post(address).status_code == 404
    assert other.get("/api/v1/lockouts").status_code in (403, 404)
    assert other.delete("/api/v1/lockouts/01abc").status_code in (403, 404)
    assert parts(admin.get("/site/users/"), "lock-out")


def test_lock_out_of_a_second_factor_is_ended(browse, administrator, bob, app, monkeypatch):
    client, _ = sign_in()
    monkeypatch.setattr(lock_outs, "MAX_FAILURES", 1)
    assert client.post(STEP, {"code": "000000"}).status_code == 429
    admin = browse(administrator)
    admin.post(part(admin.get("/site/users/"), "lock-out").tags("form")[0]["action"])
    assert client.post(STEP, {"code": code_of_app()}).status_code == 302
