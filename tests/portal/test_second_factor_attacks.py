"""Attacks on second factors: codes, keys, half a sign-in, and changes without confirmation."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from allauth.mfa.models import Authenticator
from django.db import connection
from django.test import Client

from registry.accounts import lock_outs, users
from tests.factories.second_factors import (
    ORIGIN,
    STEP,
    add_app,
    add_key,
    code_of_app,
    is_signed_in,
    options,
    sign_in,
)
from tests.factories.security_key import PRESENT, SecurityKey
from tests.pages import codes

pytestmark = [pytest.mark.row("P2"), pytest.mark.django_db, pytest.mark.usefixtures("https")]


@pytest.mark.parametrize("target", ["//evil.example", "/\\evil.example", "https://evil.example/"])
def test_passkey_sign_in_leads_to_no_other_site(bob, target):
    key = SecurityKey()
    add_key(sign_in()[0], key, passwordless="on")
    client = Client()
    credential = key.get(client.get("/sign-in/passkey/").json(), origin=ORIGIN)
    form = {"credential": credential, "next": target}
    assert client.post("/sign-in/passkey/", form)["Location"] == "/"


def test_passkey_of_an_inactive_user_signs_nobody_in(bob, root):
    key = SecurityKey()
    add_key(sign_in()[0], key, passwordless="on")
    users.deactivate(bob, root)
    client = Client()
    credential = key.get(client.get("/sign-in/passkey/").json(), origin=ORIGIN)
    assert client.post("/sign-in/passkey/", {"credential": credential})["Location"] == "/sign-in/"
    assert "_auth_user_id" not in client.session


def test_key_without_user_verification_does_not_replace_the_password(bob):
    key = SecurityKey()
    add_key(sign_in()[0], key)
    client = Client()
    credential = key.get(client.get("/sign-in/passkey/").json(), origin=ORIGIN, flags=PRESENT)
    client.post("/sign-in/passkey/", {"credential": credential})
    assert not is_signed_in(client)


ORIGINS = [
    "https://evil.example",
    "http://quay.example",
    "https://sub.quay.example",
    "https://quay.example:8443",
    "https://quay.example.evil.example",
    "null",
]


@pytest.mark.parametrize("origin", ORIGINS)
def test_key_that_answers_another_origin_is_refused(bob, origin):
    key = SecurityKey()
    add_key(sign_in()[0], key)
    client, _ = sign_in()
    credential = key.get(options(client.get(STEP)), origin=origin)
    assert client.post(STEP, {"credential": credential}).status_code == 422
    assert not is_signed_in(client)


def test_new_key_from_another_origin_is_refused(bob):
    client, _ = sign_in()
    page = client.get("/account/security/keys/new/")
    credential = SecurityKey().create(options(page), origin="https://evil.example")
    page = client.post("/account/security/keys/new/", {"name": "x", "credential": credential})
    assert page.status_code == 422
    assert not Authenticator.objects.exists()


def test_key_must_answer_the_challenge_of_its_own_session(bob):
    key = SecurityKey()
    add_key(sign_in()[0], key)
    (first, _), (second, _) = sign_in(), sign_in()
    stolen = key.get(options(first.get(STEP)), origin=ORIGIN)
    second.get(STEP)
    assert second.post(STEP, {"credential": stolen}).status_code == 422
    first.get(STEP)  # a new challenge
    assert first.post(STEP, {"credential": stolen}).status_code == 422


def test_answer_of_a_key_works_once(bob):
    key = SecurityKey()
    add_key(sign_in()[0], key)
    client, _ = sign_in()
    credential = key.get(options(client.get(STEP)), origin=ORIGIN)
    assert client.post(STEP, {"credential": credential}).status_code == 302
    client.post("/sign-out/")
    client.post("/sign-in/", {"username": "bob", "password": "bob-password"})
    assert client.post(STEP, {"credential": credential}).status_code == 422


def test_key_of_another_user_is_refused(bob, alice):
    mine, other = SecurityKey(), SecurityKey()
    add_key(sign_in()[0], mine)
    add_key(sign_in("alice")[0], other)
    client, _ = sign_in()
    credential = other.get(options(client.get(STEP)), origin=ORIGIN)
    assert client.post(STEP, {"credential": credential}).status_code == 422


MALFORMED = ["", "{", "[]", "1", "null", "{}", '{"response": 1}', '{"response": {"clientDataJSON": "e30"}}']


@pytest.mark.parametrize("credential", MALFORMED)
def test_malformed_answers_of_keys_are_refused(bob, credential):
    key = SecurityKey()
    add_key(client := sign_in()[0], key)
    form = {"name": "x", "credential": credential}
    client.get("/account/security/keys/new/")
    assert client.post("/account/security/keys/new/", form).status_code == 422
    assert Client().post("/sign-in/passkey/", form)["Location"] == "/sign-in/"
    other, _ = sign_in()
    assert other.post(STEP, form).status_code == 422


@pytest.mark.parametrize("field", ["attestationObject", "authenticatorData", "signature", "userHandle"])
@pytest.mark.parametrize("value", ["", "AA", "o2M", "!", 7, None])
def test_damaged_answers_of_keys_are_refused(bob, field, value):
    key = SecurityKey()
    client, _ = sign_in()
    add_key(client, key, passwordless="on")

    def damage(text):
        credential = json.loads(text)
        if field in credential["response"]:
            credential["response"][field] = value
        return json.dumps(credential)

    if field == "attestationObject":
        page = client.get("/account/security/keys/new/")
        form = {"name": "x", "credential": damage(SecurityKey().create(options(page), origin=ORIGIN))}
        assert client.post("/account/security/keys/new/", form).status_code == 422
        return
    other = Client()
    credential = damage(key.get(other.get("/sign-in/passkey/").json(), origin=ORIGIN))
    other.post("/sign-in/passkey/", {"credential": credential})
    assert not is_signed_in(other)


def test_code_of_an_app_works_once_as_long_as_it_is_valid(bob, app):
    code = code_of_app(periods=1)
    assert sign_in()[0].post(STEP, {"code": code}).status_code == 302
    for variant in (code, f" {code[:3]} {code[3:]}", f"{code[:3]}-{code[3:]}"):
        page = sign_in()[0].post(STEP, {"code": variant})
        assert (page.status_code, codes(page)) == (422, ["incorrect_code"])


def test_first_code_of_an_app_does_not_sign_in_afterwards(bob):
    client, _ = sign_in()
    _, secret = add_app(client)
    assert sign_in()[0].post(STEP, {"code": code_of_app(secret)}).status_code == 422


@pytest.mark.django_db(transaction=True)
def test_code_of_an_app_works_once_in_processes_with_own_connections(bob, app):
    code = code_of_app()
    clients = [sign_in()[0] for _ in range(6)]

    def enter(client):
        try:
            return client.post(STEP, {"code": code}).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(enter, clients))
    assert sorted(answers) == [302] + [422] * 5


def test_code_for_an_old_period_is_refused(bob, app):
    for periods in (-3, -2, 2, 3):
        assert sign_in()[0].post(STEP, {"code": code_of_app(periods=periods)}).status_code == 422


def test_guesses_of_codes_lock_the_second_factor_for_all_addresses(bob, app, monkeypatch):
    monkeypatch.setattr(lock_outs, "MAX_FAILURES", 3)
    answers = []
    for number in range(4):
        client, _ = sign_in()
        address = f"192.0.2.{number}"
        answers.append(client.post(STEP, {"code": f"00000{number}"}, REMOTE_ADDR=address))
    assert [answer.status_code for answer in answers] == [422, 422, 429, 429]
    assert codes(answers[-1]) == ["LOCKED_OUT"]
    assert sign_in()[0].post(STEP, {"code": code_of_app()}).status_code == 429


def test_password_does_not_end_the_lock_out_of_the_second_factor(bob, app, monkeypatch):
    monkeypatch.setattr(lock_outs, "MAX_FAILURES", 2)
    client, _ = sign_in()
    client.post(STEP, {"code": "000000"})
    client, _ = sign_in()
    assert client.post(STEP, {"code": "000001"}).status_code == 429


@pytest.mark.parametrize(
    "path", ["/account/", "/account/security/", "/account/tokens/", "/teams/new/", "/account/security/app/"]
)
def test_half_a_sign_in_opens_no_page(bob, app, path):
    client, _ = sign_in()
    answer = client.get(path)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in/")


def test_half_a_sign_in_opens_no_api_and_no_private_page(bob, app, private):
    client, _ = sign_in()
    assert client.get("/api/v1/me").status_code == 401
    assert client.get("/skills/docs/weekly-report/").status_code == 404
    assert client.get("/account/export/").status_code == 302


def test_second_step_needs_the_first(bob, app):
    client = Client()
    assert client.get(STEP)["Location"] == "/sign-in/"
    assert client.post(STEP, {"code": code_of_app()})["Location"] == "/sign-in/"
    assert not is_signed_in(client)


def test_second_step_ends_after_its_time(bob, app, monkeypatch):
    client, _ = sign_in()
    session = client.session
    session["account_login"]["initiated_at"] -= 901
    session.save()
    assert client.post(STEP, {"code": code_of_app()})["Location"] == "/sign-in/"


@pytest.mark.parametrize("change", ["password", "inactive"])
def test_second_step_ends_when_the_account_changes(bob, app, change):
    client, _ = sign_in()
    if change == "password":
        bob.set_password("another-long-one")
    else:
        bob.is_active = False
    bob.save()
    assert client.post(STEP, {"code": code_of_app()})["Location"] == "/sign-in/"
    assert not is_signed_in(client)


def test_each_step_of_sign_in_changes_the_session_key(bob, app):
    client = Client()
    session = client.session
    session["planted"] = "1"
    session.save()
    keys = [session.session_key]
    client.post("/sign-in/", {"username": "bob", "password": "bob-password"})
    keys.append(client.session.session_key)
    client.post(STEP, {"code": code_of_app()})
    keys.append(client.session.session_key)
    assert len(set(keys)) == 3


def test_second_factor_of_an_invited_or_reset_account_is_not_skipped(bob, app, root):
    link = users.reset_password(bob, root)
    client = Client()
    form = client.get(link.removeprefix(ORIGIN))["Location"]
    new = {"new_password1": "a-much-longer-one", "new_password2": "a-much-longer-one"}
    assert client.post(form, new)["Location"] == "/sign-in/"
    answer = client.post("/sign-in/", {"username": "bob", "password": "a-much-longer-one"})
    assert answer["Location"] == STEP


CHANGES = [
    ("GET", "/account/security/app/"),
    ("POST", "/account/security/app/"),
    ("GET", "/account/security/keys/new/"),
    ("POST", "/account/security/recovery-codes/"),
    ("POST", "/account/security/{pk}/remove/"),
]


@pytest.mark.parametrize(("method", "path"), CHANGES)
def test_changes_need_a_recent_confirmation(bob, app, method, path):
    client, _ = sign_in()
    client.post(STEP, {"code": code_of_app()})
    session = client.session
    for record in session["account_authentication_methods"]:
        record["at"] -= 301
    session.save()
    answer = client.generic(method, path.format(pk=app.pk))
    assert answer["Location"].startswith("/account/security/confirm/?next=")
    assert Authenticator.objects.filter(pk=app.pk).exists()
    back = {"password": "wrong", "next": "//evil.example"}
    assert client.post("/account/security/confirm/", back).status_code == 422
    back["password"] = "bob-password"
    assert client.post("/account/security/confirm/", back)["Location"] == "/account/security/"
    client.post(f"/account/security/{app.pk}/remove/")
    assert not Authenticator.objects.filter(pk=app.pk).exists()


def test_wrong_confirmations_are_limited(bob, app, monkeypatch):
    client, _ = sign_in()
    client.post(STEP, {"code": code_of_app()})
    monkeypatch.setattr(lock_outs, "MAX_FAILURES", 2)
    answers = [client.post("/account/security/confirm/", {"password": "wrong"}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [422, 429, 429]


def test_code_and_key_confirm_like_the_password(browse, bob, app):
    client = browse(bob)
    target = {"next": "/account/security/keys/new/"}
    answer = client.post("/account/security/confirm/", {"code": code_of_app(), **target})
    assert answer["Location"] == target["next"]
    key = SecurityKey()
    add_key(client, key)
    other = browse(bob)
    credential = key.get(options(other.get("/account/security/confirm/")), origin=ORIGIN)
    answer = other.post("/account/security/confirm/", {"credential": credential, **target})
    assert answer["Location"] == target["next"]


def test_factors_of_other_users_do_not_exist(browse, bob, charlie, app):
    client = Client()
    client.post("/sign-in/", {"username": "charlie", "password": "charlie-password"})
    assert client.post(f"/account/security/{app.pk}/remove/").status_code == 404
    assert client.post(f"/account/security/keys/{app.pk}/rename/", {"name": "x"}).status_code == 404
