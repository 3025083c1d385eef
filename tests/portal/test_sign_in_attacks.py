"""Attacks on sign-in with a password: fixation, enumeration, lock-out and redirects."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.tokens import default_token_generator
from django.db import connection
from django.test import Client
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from registry.accounts import lock_outs, users
from registry.models import FailedSignIns
from registry.packages.problems import Refusal
from tests.pages import codes, parts

pytestmark = [pytest.mark.row("P2"), pytest.mark.django_db]


def sign_in(client, username="bob", password="bob-password", **more):
    return client.post("/sign-in/", {"username": username, "password": password}, **more)


@pytest.fixture
def two_failures(monkeypatch):
    monkeypatch.setattr(lock_outs, "MAX_FAILURES", 2)


def test_sign_in_changes_the_session_key(bob):
    client = Client()
    session = client.session
    session["planted"] = "1"
    session.save()
    planted = session.session_key
    assert sign_in(client).status_code == 302
    assert client.session.session_key != planted
    assert Client(headers={"cookie": f"sessionid={planted}"}).get("/account/").status_code == 302


@pytest.mark.parametrize("reason", ["unknown", "inactive", "erased", "no password"])
def test_sign_in_answers_alike_for_each_refused_user(bob, reason):
    name = "nobody" if reason == "unknown" else "bob"
    if reason in ("inactive", "erased"):
        bob.is_active = False
        bob.save()
    if reason == "no password":
        bob.set_unusable_password()
        bob.save()
    refused, wrong = sign_in(Client(), name), sign_in(Client(), "root", "wrong")
    assert (refused.status_code, wrong.status_code) == (200, 200)
    assert parts(refused, "errors")[0].text == parts(wrong, "errors")[0].text


def test_unknown_name_costs_one_password_hash_like_a_known_one(bob, monkeypatch):
    from django.contrib.auth import hashers

    hashed = []
    encode = hashers.MD5PasswordHasher.encode
    monkeypatch.setattr(
        hashers.MD5PasswordHasher, "encode", lambda *args: hashed.append(args) or encode(*args)
    )
    counts = []
    for name in ("bob", "nobody"):
        hashed.clear()
        sign_in(Client(), name, "wrong")
        counts.append(len(hashed))
    assert counts == [1, 1]


def test_unknown_name_is_locked_out_like_a_known_one(bob, two_failures):
    answers = [[sign_in(Client(), name, "wrong") for _ in range(3)] for name in ("bob", "nobody")]
    shapes = [[(answer.status_code, codes(answer)) for answer in each] for each in answers]
    assert shapes[0] == shapes[1] == [(200, ["invalid_login"]), (429, ["LOCKED_OUT"]), (429, ["LOCKED_OUT"])]


@pytest.mark.parametrize("variant", ["BOB", "Bob", "\uff42ob", "  bob ", "b\uff4fB"])
def test_variants_of_a_name_share_its_lock_out(bob, two_failures, variant):
    sign_in(Client(), "bob", "wrong")
    sign_in(Client(), variant, "wrong")
    assert sign_in(Client()).status_code == 429


def test_host_header_does_not_avoid_the_lock_out(bob, two_failures):
    for host in ("a.example", "b.example"):
        sign_in(Client(), "bob", "wrong", headers={"host": host})
    assert sign_in(Client(), headers={"host": "c.example"}).status_code == 429


def test_lock_out_leaves_other_addresses_and_users_alone(bob, alice, two_failures):
    for _ in range(2):
        sign_in(Client(), "bob", "wrong", REMOTE_ADDR="192.0.2.1")
    assert sign_in(Client(), REMOTE_ADDR="192.0.2.1").status_code == 429
    assert sign_in(Client(), REMOTE_ADDR="192.0.2.2").status_code == 302
    assert sign_in(Client(), "alice", "alice-password", REMOTE_ADDR="192.0.2.1").status_code == 302


def test_addresses_of_one_ipv6_network_share_a_lock_out(bob, two_failures):
    for address in ("2001:db8::1", "2001:db8::2"):
        sign_in(Client(), "bob", "wrong", REMOTE_ADDR=address)
    assert sign_in(Client(), REMOTE_ADDR="2001:db8::3").status_code == 429


def test_lock_out_ends_after_its_time_and_no_attempt_prolongs_it(bob, two_failures, monkeypatch):
    now = time.time()
    monkeypatch.setattr(lock_outs, "time", lambda: now)
    for _ in range(2):
        sign_in(Client(), "bob", "wrong")
    now += lock_outs.LOCK_S - 1
    assert sign_in(Client())["Retry-After"] == "1"
    now += 1
    assert sign_in(Client()).status_code == 302


def test_success_forgets_earlier_failures(bob, two_failures):
    for _ in range(2):
        sign_in(Client(), "bob", "wrong")
        FailedSignIns.objects.update(count=1)
        assert sign_in(Client()).status_code == 302
    assert not FailedSignIns.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_attempts_at_the_same_time_are_all_counted(monkeypatch):
    monkeypatch.setattr(lock_outs, "MAX_FAILURES", 5)
    tried = []

    def attempt(_):
        try:
            with lock_outs.limited("bob", "192.0.2.1"):
                tried.append(1)
        except Refusal:
            pass
        connection.close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(attempt, range(24)))
    assert len(tried) == 5


OUTSIDE = [
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "javascript:alert(1)",
    "https://evil.example/",
    "http:evil.example",
    "https://testserver@evil.example/",
    "\t//evil.example",
    "/%09/../..//evil.example\r\nSet-Cookie: a=b",
]


@pytest.mark.parametrize("target", OUTSIDE)
def test_next_never_leads_to_another_site(bob, target):
    answer = Client().post("/sign-in/", {"username": "bob", "password": "bob-password", "next": target})
    location = answer["Location"]
    assert answer.status_code == 302
    assert location == "/" or (location.startswith("/%09/") and "\n" not in location)


def _reset_link(user):
    key = urlsafe_base64_encode(force_bytes(user.pk))
    return f"/reset-password/{key}/{default_token_generator.make_token(user)}/"


NEW = {"new_password1": "a-much-longer-one", "new_password2": "a-much-longer-one"}


def test_reset_link_works_once_and_signs_nobody_in(bob):
    link, client = _reset_link(bob), Client()
    form = client.get(link)["Location"]
    assert client.post(form, NEW)["Location"] == "/sign-in/"
    assert "_auth_user_id" not in client.session
    assert Client().get(link).status_code == 404
    assert sign_in(Client(), password=NEW["new_password1"]).status_code == 302


def test_reset_link_stops_working_after_deactivation_and_sign_in(bob, root):
    link = _reset_link(bob)
    sign_in(Client())
    assert Client().get(link).status_code == 404
    bob.refresh_from_db()
    link = _reset_link(bob)
    users.deactivate(bob, root)
    assert Client().get(link).status_code == 404


def test_reset_pages_answer_alike_for_unknown_users_and_wrong_tokens(bob):
    key = urlsafe_base64_encode(force_bytes(bob.pk))
    unknown = urlsafe_base64_encode(force_bytes(999_999))
    answers = [Client().get(f"/reset-password/{each}/abc123-{'0' * 32}/") for each in (key, unknown)]
    assert [answer.status_code for answer in answers] == [404, 404]
    texts = [answer.text.replace(key, "").replace(unknown, "") for answer in answers]
    lengths = {len(text) for text in texts}
    assert max(lengths) - min(lengths) < 60  # tokens of the form and the request


def test_new_password_ends_other_sessions(browse, bob):
    other, own = browse(bob), browse(bob)
    assert own.post("/account/password/", {"old_password": "bob-password", **NEW}).status_code == 302
    assert own.get("/account/").status_code == 200
    assert other.get("/account/").status_code == 302
    assert other.get("/api/v1/me").status_code == 401


@pytest.mark.parametrize("path", ["/", "/account/tokens/", "/account/sessions/", "/account/", "/site/users/"])
def test_one_time_password_opens_no_page_before_it_is_replaced(bob, path):
    bob.must_change_password = True
    bob.save()
    client = Client()
    sign_in(client)
    assert client.get(path)["Location"] == "/account/password/"
    same = {"old_password": "bob-password", "new_password1": "short", "new_password2": "short"}
    assert client.post("/account/password/", same).status_code == 200
    assert client.get(path)["Location"] == "/account/password/"


def test_session_cookie_is_hidden_from_scripts_and_secure_on_https(bob, settings):
    settings.SESSION_COOKIE_SECURE = True
    client = Client()
    sign_in(client, secure=True)
    cookie = client.cookies["sessionid"]
    assert (cookie["httponly"], cookie["secure"], cookie["samesite"]) == (True, True, "Lax")


@pytest.mark.parametrize(
    "path",
    [
        "/accounts/login/",
        "/accounts/signup/",
        "/accounts/password/reset/",
        "/accounts/email/",
        "/accounts/2fa/",
        "/account/login/",
        "/accounts/social/connections/",
    ],
)
def test_no_page_of_the_sign_in_library_is_served(path):
    assert Client().get(path).status_code == 404
