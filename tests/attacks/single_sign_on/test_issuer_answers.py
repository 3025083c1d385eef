"""Hostile answers and configurations of an issuer."""

from __future__ import annotations

import time

import pytest
from django.test import Client

from portal import env
from tests.attacks.single_sign_on.browser import codes, finish, refused, sign_in, start
from tests.servers.issuer import (
    callback_path,
)

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


def test_error_of_the_issuer_is_not_repeated_on_the_page(issuer):
    client = Client()
    answer = issuer.authorize(start(client))
    text = "Call-0900-SCAM"
    answer = {"error": "access_denied", "error_description": text, "state": answer["state"]}
    assert text not in (page := client.get(callback_path("acme", answer), follow=True)).content.decode()
    assert "SIGN_IN_CANCELLED" in codes(page)


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "https://evil.example"},
        {"issuer": None},
        {"token_endpoint": "http://issuer.example/token"},
        {"jwks_uri": "http://issuer.example/jwks"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": "http://issuer.example/authorize"},
        {"token_endpoint": None},
        {"userinfo_endpoint": 1},
    ],
)
def test_configuration_with_a_wrong_address_is_refused(issuer, change):
    issuer.metadata |= change
    client = Client()
    answer = client.post("/sign-in/with/acme/")
    assert refused(
        client, answer, "OUTBOUND_ADDRESS" if "javascript:alert(1)" in change.values() else "IDENTITY_INVALID"
    )


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/jwks", "/userinfo", "/token"])
def test_redirect_of_the_issuer_is_not_followed(issuer, path):
    client = Client()
    answer = issuer.authorize(start(client))
    target = f"{issuer.url}/private"
    issuer.server.responders[path] = lambda handler: handler.send(307, location=target)
    assert refused(client, finish(client, answer), "IDENTITY_INVALID")
    assert "/private" not in [request.path for request in issuer.server.requests]


@pytest.mark.parametrize("name", ["token_endpoint", "jwks_uri", "userinfo_endpoint"])
def test_private_address_of_the_configuration_is_not_contacted(issuer, name):
    client = Client()
    answer = issuer.authorize(start(client))
    issuer.metadata[name] = "https://169.254.169.254/latest/meta-data"
    assert refused(client, finish(client, answer), "OUTBOUND_REFUSED")


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/jwks", "/userinfo", "/token"])
@pytest.mark.parametrize("body", [b" " * 300_000, b"[" * 100_000, b"[]", b"\xff", b""])
def test_huge_or_broken_answer_is_refused(issuer, path, body):
    client = Client()
    answer = issuer.authorize(start(client))
    issuer.server.responders[path] = lambda handler: handler.send(200, body)
    code = "OUTBOUND_TOO_LARGE" if len(body) > 256 * 1024 else "IDENTITY_INVALID"
    assert refused(client, finish(client, answer), code)


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/token"])
def test_slow_answer_is_cut_off(issuer, path, monkeypatch):
    client = Client()
    answer = issuer.authorize(start(client))

    def drip(handler):
        handler.send_response(200)
        handler.end_headers()
        for _ in range(100):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.1)

    issuer.server.responders[path] = drip
    monkeypatch.setattr("registry.single_sign_on.discovery.TIMEOUT", 0.3)
    began = time.monotonic()
    assert refused(client, finish(client, answer), "OUTBOUND_TIMEOUT")
    assert time.monotonic() - began < 8


def test_claims_about_another_person_are_refused(issuer):
    issuer.userinfo = {"sub": "root"}
    client = Client()
    assert refused(client, sign_in(client, issuer), "IDENTITY_INVALID")


@pytest.mark.parametrize(
    "value",
    ["http://issuer.example", "ftp://issuer.example", "issuer.example", "https://", "https://a.example/?x=1"],
)
def test_setting_refuses_an_insecure_issuer(monkeypatch, value):
    monkeypatch.setenv("SKILLQUAY_OIDC_ACME_ISSUER", value)
    monkeypatch.setenv("SKILLQUAY_OIDC_ACME_CLIENT_ID", "x")
    with pytest.raises(env.ImproperlyConfigured, match="SKILLQUAY_OIDC_ACME_ISSUER"):
        env.issuers()
