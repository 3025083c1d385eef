from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from registry.accounts import sessions
from registry.accounts.middleware import LAST_USED_INTERVAL
from registry.models import AuditEntry
from tests.refusing import code

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def browser(bob):
    client = Client(headers={"user-agent": FIREFOX})
    client.post("/sign-in/", {"username": "bob", "password": "bob-password"})
    return client


def is_signed_in(client):
    return client.get("/account/").status_code == 200


def pass_time(monkeypatch, interval):
    now = timezone.now() + interval
    monkeypatch.setattr("registry.accounts.middleware.timezone.now", lambda: now)
    return now


def test_sign_in_stores_client_and_time(browser, bob):
    (session,) = sessions.list_sessions(bob, browser.session.session_key)
    assert (session.user_agent, session.address, session.is_current) == (FIREFOX, "127.0.0.1", True)
    assert session.started_at == session.last_used_at
    assert session.uid not in browser.session.session_key


def test_last_use_is_stored_at_intervals_without_prolonging_the_session(browser, bob, monkeypatch):
    (before,) = sessions.list_sessions(bob)
    browser.get("/account/")
    assert sessions.list_sessions(bob)[0].last_used_at == before.last_used_at
    now = pass_time(monkeypatch, LAST_USED_INTERVAL + timedelta(seconds=1))
    browser.get("/account/")
    (after,) = sessions.list_sessions(bob)
    assert (after.last_used_at, after.started_at) == (now, before.started_at)
    assert after.row.expire_date == before.row.expire_date


def test_reader_is_served_while_the_session_cannot_be_saved(browser, monkeypatch):
    def refuse(*args, **kwargs):
        raise OperationalError("disk full")

    pass_time(monkeypatch, timedelta(hours=1))
    monkeypatch.setattr("django.contrib.sessions.backends.db.SessionStore.save", refuse)
    assert is_signed_in(browser)


def test_session_of_another_user_is_not_found(browser, bob, alice):
    (session,) = sessions.list_sessions(bob)
    assert code(sessions.end_session, alice, session.uid) == "NOT_FOUND"
    assert is_signed_in(browser)


def test_ended_session_is_signed_out_and_stays_ended(browser, bob, monkeypatch):
    sessions.end_session(bob, sessions.list_sessions(bob)[0].uid)
    pass_time(monkeypatch, timedelta(hours=1))
    assert not is_signed_in(browser)
    assert sessions.list_sessions(bob) == []


def test_session_from_before_a_new_password_is_not_listed(browser, bob):
    bob.set_password("another-long-password")
    bob.save()
    assert sessions.list_sessions(bob) == []


def test_only_administrators_end_all_sessions_of_another_user(browser, bob, alice, root, actor_of):
    assert code(sessions.end_sessions_as, bob, actor_of(alice)) == "FORBIDDEN"
    assert is_signed_in(browser)
    assert sessions.end_sessions_as(bob, root) == 1
    assert not is_signed_in(browser)
    assert AuditEntry.objects.get(action="user.end_sessions").detail == {"count": 1}
