"""States, codes and addresses of a sign-in that another person or site started."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from registry.models import AuditEntry, User
from tests.attacks.single_sign_on.browser import finish, refused, sign_in, signed_in_name, start
from tests.pages import select
from tests.servers.issuer import (
    run_issuer,
    settings_of,
)

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


def test_person_signs_in_with_nonce_and_pkce(issuer):
    client = Client()
    query = parse_qs(urlsplit(start(client)).query)
    assert query["code_challenge_method"] == ["S256"]
    assert len(query["nonce"][0]) > 40
    assert sign_in(client, issuer).status_code == 302
    assert (signed_in_name(client), issuer.refused) == ("mei", [])
    assert not User.objects.get(username="mei").has_usable_password()
    assert AuditEntry.objects.get(action="user.create").detail == {"issuer": issuer.url}


def test_state_works_once(issuer):
    client = Client()
    answer = issuer.authorize(start(client))
    finish(client, answer)
    client.logout()
    assert finish(client, answer)["Location"] == "/sign-in/"
    assert signed_in_name(client) is None


def test_state_works_once_after_a_failure(issuer):
    client = Client()
    answer = issuer.authorize(start(client))
    finish(client, {**answer, "code": "guessed"})
    assert refused(client, finish(client, answer), "SIGN_IN_EXPIRED")


def test_state_of_another_session_is_refused(issuer):
    """Otherwise an attacker could sign a victim in as the attacker."""
    answer = issuer.authorize(start(Client()))
    victim = Client()
    start(victim)
    assert refused(victim, finish(victim, answer), "SIGN_IN_EXPIRED")


@pytest.mark.parametrize("state", [{}, {"state": ""}, {"state": "guessed"}])
def test_callback_without_a_started_sign_in_is_refused(issuer, state):
    client = Client()
    assert refused(client, finish(client, {"code": "x", **state}), "SIGN_IN_EXPIRED")


def test_state_of_another_issuer_is_refused(issuer, settings):
    """Mix-up: the code of the honest issuer would go to the hostile one."""
    with run_issuer() as evil:
        settings.SKILLQUAY_OIDC = {"acme": settings_of(issuer), "evil": settings_of(evil)}
        client = Client()
        answer = issuer.authorize(start(client, "evil"))
        assert refused(client, finish(client, answer, "acme"), "SIGN_IN_EXPIRED")


def test_code_of_another_sign_in_is_refused_by_its_verifier(issuer):
    stolen = issuer.authorize(start(Client()))["code"]
    client = Client()
    state = parse_qs(urlsplit(start(client)).query)["state"][0]
    assert refused(client, finish(client, {"code": stolen, "state": state}), "IDENTITY_INVALID")
    assert issuer.refused == ["verifier"]


def test_used_code_is_refused(issuer):
    first = Client()
    used = issuer.authorize(start(first))
    finish(first, used)
    client = Client()
    state = parse_qs(urlsplit(start(client)).query)["state"][0]
    finish(client, {"code": used["code"], "state": state})
    assert (signed_in_name(client), issuer.refused) == (None, ["code"])


def test_response_that_names_another_issuer_is_refused(issuer):
    client = Client()
    answer = issuer.authorize(start(client))
    assert refused(client, finish(client, {**answer, "iss": "https://evil.example"}), "IDENTITY_INVALID")


def test_response_without_the_promised_issuer_is_refused(issuer):
    issuer.metadata["authorization_response_iss_parameter_supported"] = True
    client = Client()
    assert refused(client, sign_in(client, issuer), "IDENTITY_INVALID")
    answer = issuer.authorize(start(client))
    finish(client, {**answer, "iss": issuer.url})
    assert signed_in_name(client) == "mei"


@pytest.mark.parametrize(
    "url",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "\t//evil.example"],
)
def test_next_never_leaves_the_site(issuer, url):
    assert sign_in(Client(), issuer, next=url)["Location"] == "/"


def test_next_leads_to_a_page_of_the_site(issuer):
    assert sign_in(Client(), issuer, next="/runs/")["Location"] == "/runs/"


def test_query_of_the_start_changes_no_parameter(issuer):
    page = Client().post(
        "/sign-in/with/acme/?redirect_uri=https://evil.example&auth_params=redirect_uri%3Dx&scope=a"
    )
    query = parse_qs(urlsplit(select(page, "a", data_action="continue")[0]["href"]).query)
    assert query["redirect_uri"] == ["http://127.0.0.1:8000/sign-in/with/acme/callback/"]
    assert query["scope"] == ["openid profile email"]


def test_host_header_changes_no_address(issuer):
    page = Client().post("/sign-in/with/acme/", headers={"host": "evil.example"})
    assert b"evil.example" not in page.content


def test_sign_in_is_not_started_by_a_link_or_another_site(issuer):
    assert Client().get("/sign-in/with/acme/").status_code == 405
    assert Client(enforce_csrf_checks=True).post("/sign-in/with/acme/").status_code == 403


def test_session_key_changes_at_sign_in(issuer):
    client = Client()
    answer = issuer.authorize(start(client))
    before = client.session.session_key
    finish(client, answer)
    assert client.session.session_key != before
    assert Client(headers={"cookie": f"sessionid={before}"}).get("/account/").status_code == 302


def test_too_many_attempts_are_refused(issuer, rate_limits):
    rate_limits(sign_in=2)
    assert [Client().post("/sign-in/with/acme/").status_code for _ in range(3)] == [200, 200, 429]


def test_second_factor_is_required_after_the_issuer(issuer):
    from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret

    sign_in(Client(), issuer)
    TOTP.activate(User.objects.get(username="mei"), generate_totp_secret())
    client = Client()
    answer = sign_in(client, issuer)
    assert client.get(answer["Location"]).status_code == 200
    assert signed_in_name(client) is None
    assert client.get("/account/").status_code == 302
