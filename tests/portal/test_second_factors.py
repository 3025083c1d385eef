"""Second factors: apps, recovery codes and keys, at sign-in and on the user's own page."""

from __future__ import annotations

from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.utils import timezone

from registry.identity.actors import Actor
from registry.identity.tokens import issue
from registry.models import AuditEntry
from tests.factories.second_factors import (
    ORIGIN,
    STEP,
    add_app,
    add_key,
    code_of_app,
    is_signed_in,
    options,
    recovery_codes,
    sign_in,
)
from tests.factories.security_key import PRESENT, SecurityKey
from tests.pages import actions, codes, part, parts, select

pytestmark = [pytest.mark.row("P2"), pytest.mark.django_db, pytest.mark.usefixtures("https")]


def test_user_adds_an_app_and_signs_in_with_its_code(bob):
    client, _ = sign_in()
    page, secret = add_app(client)
    assert len(recovery_codes(page)) == 10
    assert secret not in Authenticator.objects.get(type="totp").data["secret"], "sealed in the database"
    assert AuditEntry.objects.filter(action="user.add_second_factor", user=bob).count() == 1
    assert part(client.get("/account/security/"), "factor")["value"] == "totp"
    other, answer = sign_in(next="/teams/")
    assert answer["Location"] == STEP
    assert other.post(STEP, {"code": code_of_app(secret, 1)})["Location"] == "/teams/"
    assert is_signed_in(other)


def test_wrong_first_code_adds_no_app(bob):
    client, _ = sign_in()
    client.get("/account/security/app/")
    page = client.post("/account/security/app/", {"code": "000000"})
    assert (page.status_code, codes(page)) == (422, ["incorrect_code"])
    assert not Authenticator.objects.exists()


def test_recovery_code_works_once_and_new_ones_replace_all(bob):
    client, _ = sign_in()
    old = recovery_codes(add_app(client)[0])
    for expected in (302, 422):
        assert sign_in()[0].post(STEP, {"code": old[0]}).status_code == expected
    assert part(client.get("/account/security/"), "codes-left")["value"] == "9"
    new = recovery_codes(client.post("/account/security/recovery-codes/"))
    assert sign_in()[0].post(STEP, {"code": old[1]}).status_code == 422
    assert sign_in()[0].post(STEP, {"code": new[0]}).status_code == 302
    assert not parts(client.get("/account/security/"), "recovery-codes")


def test_recovery_codes_are_a_text_file_that_is_never_stored(bob):
    client, _ = sign_in()
    page, _ = add_app(client)
    (link,) = select(page, "a", download="skillquay-recovery-codes.txt")
    assert link["href"].startswith("data:text/plain")
    assert "no-store" in page["Cache-Control"]


def test_key_is_added_named_used_and_removed(bob):
    client, _ = sign_in()
    key = SecurityKey()
    assert recovery_codes(add_key(client, key))
    factor = Authenticator.objects.get(type="webauthn")
    assert "Blue key" in part(client.get("/account/security/"), "factor")
    client.post(f"/account/security/keys/{factor.pk}/rename/", {"name": "Red key"})
    assert "Red key" in part(client.get("/account/security/"), "factor")
    other, _ = sign_in()
    credential = key.get(options(other.get(STEP)), origin=ORIGIN, flags=PRESENT)
    assert other.post(STEP, {"credential": credential})["Location"] == "/"
    assert is_signed_in(other)
    factor.refresh_from_db()
    assert factor.last_used_at
    client.post(f"/account/security/{factor.pk}/remove/")
    assert not Authenticator.objects.exists(), "the recovery codes go with the last factor"
    assert is_signed_in(sign_in()[0])
    actions_ = list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))
    assert actions_ == ["user.add_second_factor", "user.remove_second_factor"]


def test_passkey_signs_in_without_a_password(bob):
    key = SecurityKey()
    add_key(sign_in()[0], key, passwordless="on")
    client = Client()
    credential = key.get(client.get("/sign-in/passkey/").json(), origin=ORIGIN)
    answer = client.post("/sign-in/passkey/", {"credential": credential, "next": "/teams/"})
    assert answer["Location"] == "/teams/"
    assert is_signed_in(client)


@pytest.mark.parametrize(
    ("required", "name", "is_led"),
    [
        ("off", "bob", False),
        ("administrators", "bob", False),
        ("administrators", "root", True),
        ("all", "bob", True),
    ],
)
def test_required_second_factor_comes_before_every_other_page(
    browse, bob, administrator, settings, required, name, is_led
):
    settings.SKILLQUAY_REQUIRE_SECOND_FACTOR = required
    client, _ = sign_in(name)
    for path in ("/", "/account/tokens/", "/account/", "/teams/"):
        assert (client.get(path).get("Location") == "/account/security/") == is_led
    answer = client.get("/api/v1/me")
    refused = (403, "SECOND_FACTOR_REQUIRED")
    assert (answer.status_code, answer.json().get("code")) == (refused if is_led else (200, None))
    assert bool(parts(client.get("/account/security/"), "factor-required")) == is_led
    if is_led:
        assert recovery_codes(add_app(client)[0])
    assert client.get("/").status_code == 200
    assert client.get("/api/v1/me").status_code == 200


def test_tokens_work_without_the_required_second_factor(bob, settings):
    settings.SKILLQUAY_REQUIRE_SECOND_FACTOR = "all"
    ends = timezone.now() + timedelta(days=1)
    _, secret = issue(bob, name="x", scopes=["read"], expires_at=ends, by=Actor(user=bob))
    headers = {"authorization": f"Bearer {secret}"}
    assert Client().get("/api/v1/me", headers=headers).status_code == 200


def test_administrator_removes_the_second_factors_of_a_user(browse, bob, app, administrator):
    admin, victim = browse(administrator), browse(bob)
    page = admin.get(f"/site/users/{bob.uid}/")
    assert part(page, "second-factors")["value"] == "1"
    assert browse(bob).post(f"/site/users/{bob.uid}/reset-second-factors/").status_code == 404
    admin.post(f"/site/users/{bob.uid}/reset-second-factors/")
    assert not Authenticator.objects.exists()
    assert not is_signed_in(victim)
    assert is_signed_in(sign_in()[0])
    assert AuditEntry.objects.filter(action="user.reset_second_factors", target="bob").exists()


def test_site_at_an_address_without_names_offers_no_keys(bob, settings):
    settings.SKILLQUAY_PUBLIC_URL = "http://127.0.0.1:8000"
    client, _ = sign_in()
    page = client.get("/account/security/")
    assert parts(page, "no-keys")
    assert "add-key" not in actions(page)
    assert client.get("/account/security/keys/new/").status_code == 404
    assert Client().get("/sign-in/passkey/").status_code == 404
    assert not select(Client().get("/sign-in/"), "form", data_webauthn="get")
