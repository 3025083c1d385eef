"""Device login: a client waits, a person confirms its code in the browser, and the client gets one token."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from registry.device_logins import logins
from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import AuditEntry, DeviceLogin, Membership, Token
from registry.packages.problems import Refusal

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]
CODE, TOKEN, PAGE = "/api/cli/device/code", "/api/cli/device/token", "/account/device/"
GRANT = "urn:ietf:params:oauth:grant-type:device_code"


def post(path, body, *, status=200):
    data = body if isinstance(body, bytes) else json.dumps(body)
    answer = Client().post(path, data, "application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def start(**more):
    return post(CODE, {"scope": "read write", "site_url": "http://127.0.0.1", **more})


def poll(started, *, status=400):
    DeviceLogin.objects.update(polled_at=None)
    body = {"device_code": started["device_code"], "grant_type": GRANT}
    return post(TOKEN, body, status=status)


@pytest.fixture
def page(alice):
    client = Client()
    client.force_login(alice)
    return client


def approve(page, started, **more):
    fields = {"scopes": ["read"], "expires_at": "7", "team": "", **more}
    return page.post(PAGE, {"code": started["user_code"], "decision": "approve", **fields})


def test_confirmed_login_yields_one_token_with_the_granted_scopes(team, alice, page):
    started = start(label="CLI device login")
    assert started["verification_uri"].endswith(PAGE)
    assert poll(started) == {"error": "authorization_pending"}
    shown = page.post(PAGE, {"code": started["user_code"].lower().replace("-", " ")})
    assert started["user_code"] in shown.text
    assert "CLI device login" in shown.text
    assert poll(started) == {"error": "authorization_pending"}  # showing it grants nothing

    assert approve(page, started, team="docs")["Location"] == "/account/tokens/"
    answer = poll(started, status=200)
    assert (answer["token_type"], answer["scope"]) == ("bearer", "read")
    actor = tokens.actor_of(answer["access_token"])
    assert actor.token
    assert (actor.user, actor.scopes, actor.token.team) == (alice, {"read"}, team)
    assert timedelta(days=6) < actor.token.expires_at - timezone.now() < timedelta(days=8)
    actions = set(AuditEntry.objects.values_list("action", flat=True))
    assert {"token.approve_device", "token.issue"} <= actions

    assert poll(started) == {"error": "expired_token"}
    assert approve(page, started).status_code == 422  # a code works once
    assert Token.objects.count() == 1


def test_denied_login_yields_no_token(alice, page):
    started = start()
    page.post(PAGE, {"code": started["user_code"], "decision": "deny"})
    assert poll(started) == {"error": "access_denied"}
    assert AuditEntry.objects.get(action="token.deny_device").user == alice
    assert approve(page, started).status_code == 422
    assert not Token.objects.exists()


def test_code_expires_before_and_after_the_confirmation(page):
    early, late = start(), start()
    assert approve(page, late).status_code == 302
    DeviceLogin.objects.update(expires_at=timezone.now())
    assert approve(page, early).status_code == 422
    assert poll(early) == poll(late) == {"error": "expired_token"}
    assert not Token.objects.exists()


def test_client_that_polls_too_fast_is_slowed_down():
    started = start()
    body = {"device_code": started["device_code"], "grant_type": GRANT}
    assert post(TOKEN, body, status=400) == {"error": "authorization_pending"}
    assert post(TOKEN, body, status=400) == {"error": "slow_down"}


def test_person_who_lost_access_in_the_meantime_yields_no_token(team, alice, page):
    started, other = start(), start()
    approve(page, started, team="docs")
    approve(page, other)
    Membership.objects.filter(user=alice).delete()
    assert poll(started) == {"error": "access_denied"}
    alice.is_active = False
    alice.save()
    assert poll(other) == {"error": "access_denied"}
    assert not Token.objects.exists()


@pytest.mark.row("P3")
def test_guessing_codes_is_limited(page, settings):
    settings.SKILLQUAY_RATE_LIMITS = {**settings.SKILLQUAY_RATE_LIMITS, "sign_in": 5}
    started = start()
    guesses = ["BCDFGHJK", "BCDFGHJL", "BCDFGHJM", "BCDFGHJN", "BCDFGHJP"]
    assert [page.post(PAGE, {"code": guess}).status_code for guess in guesses] == [422] * 5
    refused = page.post(PAGE, {"code": started["user_code"]})
    assert refused.status_code == 429
    assert started["user_code"] not in refused.text


@pytest.mark.row("P3")
def test_number_of_open_logins_of_a_network_is_limited(monkeypatch):
    monkeypatch.setattr(logins, "_MAX_PENDING", 2)
    start(), start()
    answer = post(CODE, {}, status=429)
    assert (answer["error"], answer["code"]) == ("slow_down", "DEVICE_LOGINS_TOO_MANY")


@pytest.mark.row("P2")
def test_confirmation_needs_a_session_of_a_person(alice):
    started = start()
    anonymous = Client().post(PAGE, {"code": started["user_code"], "decision": "approve"})
    assert anonymous["Location"].startswith("/sign-in/")
    until = timezone.now() + timedelta(days=1)
    token, _ = tokens.issue(alice, name="t", scopes=["administer"], expires_at=until, by=Actor(user=alice))
    with pytest.raises(Refusal) as refused:
        logins.deny(DeviceLogin.objects.get(), Actor(user=alice, token=token))
    assert refused.value.code == "FORBIDDEN"
    assert poll(started) == {"error": "authorization_pending"}


def test_page_grants_no_more_than_the_scopes_it_offers(page):
    started = start()
    assert approve(page, started, scopes=["read", "administer"]).status_code == 422
    assert approve(page, started, team="none").status_code == 422
    assert poll(started) == {"error": "authorization_pending"}


@pytest.mark.parametrize("path", [CODE, TOKEN])
@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"1", b'{"label": 1e999}', b'{"device_code": {}}', b"\xff"]
)
def test_malformed_request_gets_an_error_of_the_protocol(path, body):
    answer = Client().post(path, body, "application/json")
    assert answer.status_code < 500
    assert answer.status_code == 200 or answer.json()["error"] == "invalid_request"
