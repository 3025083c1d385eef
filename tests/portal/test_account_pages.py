"""Signing in, the first password, language and theme, tokens."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.identity.actors import Actor
from registry.identity.tokens import actor_of, issue
from registry.models import Token
from registry.packages.problems import Refusal
from tests.pages import codes, part, parts, select

pytestmark = pytest.mark.django_db


def test_a_person_signs_in_and_out_with_their_language(browse, bob):
    bob.language = "zh-hans"
    bob.save()
    client = browse()
    answer = client.post("/sign-in/", {"username": "bob", "password": "bob-password", "next": "/teams/"})
    assert answer["Location"] == "/teams/"
    assert 'lang="zh-hans"' in client.get("/").text
    assert client.get("/sign-out/").status_code == 405
    client.post("/sign-out/")
    assert client.get("/account/").status_code == 302


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_nobody_is_sent_elsewhere(browse, bob, elsewhere):
    client = browse()
    form = {"username": "bob", "password": "bob-password", "next": elsewhere}
    assert client.post("/sign-in/", form)["Location"] == "/"
    form = {"language": "zh-hans", "next": elsewhere}
    assert client.post("/preferences/language/", form)["Location"] == "/"


def test_a_wrong_password_shows_an_error_above_the_form(browse, bob):
    page = browse().post("/sign-in/", {"username": "bob", "password": "wrong"})
    assert page.status_code == 200
    assert parts(page, "errors")


def test_too_many_wrong_passwords_lock_the_account_for_a_while(browse, bob, monkeypatch):
    monkeypatch.setattr("registry.accounts.lock_outs.MAX_FAILURES", 3)
    client = browse()
    answers = [client.post("/sign-in/", {"username": "bob", "password": f"wrong{n}"}) for n in range(4)]
    assert answers[-1].status_code == 429
    assert codes(answers[-1]) == ["LOCKED_OUT"]


def test_a_one_time_password_opens_only_the_page_that_ends_it(browse, bob, private):
    bob.must_change_password = True
    bob.save()
    client = browse(bob)
    for address in ("/", "/skills/", "/account/tokens/", "/teams/docs/"):
        assert client.get(address)["Location"] == "/account/password/"
    new = {"new_password1": "a-much-longer-one", "new_password2": "a-much-longer-one"}
    assert client.post("/account/password/", {"old_password": "wrong", **new}).status_code == 200
    assert client.post("/account/password/", {"old_password": "bob-password", **new}).status_code == 302
    assert client.get("/").status_code == 200
    bob.refresh_from_db()
    assert bob.check_password("a-much-longer-one")


@pytest.mark.row("P8")
def test_language_and_theme_are_kept_without_javascript(browse, bob):
    client = browse(bob)
    client.post("/preferences/language/", {"language": "zh-hans", "next": "/skills/"})
    client.post("/preferences/theme/", {"theme": "dark"})
    text = client.get("/").text
    assert 'lang="zh-hans" data-theme="dark"' in text
    bob.refresh_from_db()
    assert bob.language == "zh-hans"
    client.post("/preferences/language/", {"language": "xx"})
    client.post("/preferences/theme/", {"theme": "pink"})
    assert 'lang="zh-hans" data-theme="dark"' in client.get("/").text


def test_account_change_of_email_needs_confirmation(browse, bob):
    client = browse(bob)
    assert client.post("/account/", {"first_name": "Bob", "email": bob.email}).url == "/account/"
    form = {"first_name": "Robert", "last_name": "B", "email": "bob@example.org"}
    refused = client.post("/account/", form)  # a link for a new password goes to this address
    assert refused.url.startswith("/account/security/confirm/?next=")
    bob.refresh_from_db()
    assert (bob.first_name, bob.email) != ("Robert", "bob@example.org")
    client.post("/account/security/confirm/", {"password": "bob-password", "next": "/account/"})
    assert client.post("/account/", form).url == "/account/"
    bob.refresh_from_db()
    assert (bob.first_name, bob.email) == ("Robert", "bob@example.org")


@pytest.mark.row("P2")
def test_a_token_is_shown_once_and_works(browse, bob, team):
    client = browse(bob)
    form = {"name": "my agent", "scopes": ["read", "run"], "expires_at": "30", "team": "docs"}
    page = client.post("/account/tokens/", form)
    secret = page.context["secret"]
    examples = parts(page, "token-use")
    clients = ("claude", "codex", "mcp", "npm", "git", "python", "curl", "env")
    assert [example["value"] for example in examples] == [f"token-{name}" for name in clients]
    assert all(secret in example for example in examples)
    assert page.text.count(secret) == 1 + len(clients)
    assert "no-store" in page["Cache-Control"]
    assert actor_of(secret).team_ids == {team.pk}
    later = client.get("/account/tokens/").text
    assert secret not in later
    assert "my agent" in later


@pytest.mark.row("P2")
def test_page_of_a_new_token_shows_its_first_use(browse, bob, charlie):
    client = browse(bob)
    page = client.post("/account/tokens/", {"name": "x", "scopes": ["read"], "expires_at": "30", "team": ""})
    token = Token.objects.get()
    waiting = part(page, "connection")
    address = f"/account/tokens/{token.uid}/connection/"
    assert (waiting["state"], waiting["hx-get"]) == ("waiting", address)
    assert part(client.get(address), "connection")["state"] == "waiting"
    actor_of(page.context["secret"])
    for seen in (client.get(address), client.get(f"/account/tokens/{token.uid}/")):
        done = part(seen, "connection")
        assert done["state"] == "connected"
        assert "hx-get" not in done.attributes
    assert browse(charlie).get(address).status_code == 404


@pytest.mark.row("P2")
@pytest.mark.parametrize(
    "change", [{"scopes": []}, {"expires_at": "9999"}, {"team": "elsewhere"}, {"name": ""}]
)
def test_a_token_is_not_made_of_anything_else(browse, bob, charlie, change):
    form = {"name": "x", "scopes": ["read"], "expires_at": "30", "team": ""} | change
    page = browse(bob).post("/account/tokens/", form)
    assert parts(page, "errors")
    assert not Token.objects.exists()


@pytest.mark.row("P2")
def test_only_its_owner_revokes_a_token(browse, bob, charlie):
    ends = timezone.now() + timedelta(days=1)
    token, secret = issue(bob, name="x", scopes=["read"], expires_at=ends, by=Actor(user=bob))
    assert browse(charlie).post(f"/account/tokens/{token.uid}/revoke/").status_code == 404
    assert browse(bob).get(f"/account/tokens/{token.uid}/revoke/").status_code == 405
    assert browse(bob).post(f"/account/tokens/{token.uid}/revoke/").status_code == 302
    with pytest.raises(Refusal):
        actor_of(secret)


@pytest.mark.row("P8")
@pytest.mark.django_db
def test_pages_of_the_account_lead_to_each_other(browse, alice):
    client = browse(alice)
    pages = [link["href"] for link in part(client.get("/account/"), "account-tabs").tags("a")]
    assert len(pages) == 6
    for address in pages:
        links = part(client.get(address), "account-tabs").tags("a")
        assert [link["href"] for link in links] == pages
        assert [link["href"] for link in links if link.attributes.get("aria-current")] == [address]


@pytest.mark.row("P2")
def test_token_that_is_created_to_install_a_skill_is_in_its_commands(browse, bob, private):
    client = browse(bob)
    links = select(client.get(f"/skills/{private}/"), "a", **{"data-action": "token-for-install"})
    address = links[0]["href"]
    assert part(client.get(address), "to-install")["value"] == str(private)
    form = {"name": "x", "scopes": ["read"], "expires_at": "30", "team": ""}
    page = client.post(address, form)
    secret, lines = page.context["secret"], parts(page, "token-install")
    assert {line["value"] for line in lines} >= {"new-install-claude", "new-install-npm", "new-install-git"}
    assert all(secret in line and "SKILLQUAY_TOKEN" not in line for line in lines)
    assert not parts(client.get(address), "token-install")


@pytest.mark.row("P2")
def test_token_page_ignores_a_skill_that_its_reader_cant_see(browse, charlie, private):
    for label in (str(private), "no/such", "x" * 5000, "\0/\0"):
        page = browse(charlie).get("/account/tokens/", {"skill": label})
        assert (page.status_code, parts(page, "to-install")) == (200, [])
