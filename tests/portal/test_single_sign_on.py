"""Sign-in with a real OIDC provider: accounts, groups and teams."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import urlencode, urlsplit

import pytest
from django.test import Client

from registry.models import AuditEntry, Membership, Role, Team, User
from tests.pages import part, parts, select
from tests.servers.issuer import settings_of
from tests.site import free_port

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]

GROUPS = (
    ("engineers", "docs", "member"),
    ("leads", "docs", "owner"),
    ("engineers", "search", "viewer"),
    ("search", "search", "maintainer"),
    ("support", "support", "member"),
)
NAMES = [f"person-{number:02}" for number in range(40)]


def groups_of(number):
    """Two leads; of the others, every third is in another part of the company."""
    return ["leads"] if number < 2 else [("engineers", "search", "support")[number % 3]]


def claims_of(number, name):
    return {
        "sub": f"sub-{name}",
        "preferred_username": name,
        "given_name": name.title(),
        "email": f"{name}@example.com",
        "email_verified": True,
        "groups": groups_of(number),
    }


@pytest.fixture(scope="module")
def provider():
    """The address of a provider in its own process, which knows all people."""
    port = free_port()
    people = [f"--user-claims={json.dumps(claims_of(*each))}" for each in enumerate(NAMES)]
    command = [sys.executable, "-m", "oidc_provider_mock", "-p", str(port), "-n", "true", *people]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: is_open(port))
        yield f"http://localhost:{port}"
    finally:
        process.terminate()
        process.wait()


def is_open(port):
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def wait_for(condition, seconds=20):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.fixture
def company(settings, provider, team, rate_limits):
    settings.SKILLQUAY_OUTBOUND_ALLOW = ["localhost"]
    settings.SKILLQUAY_OIDC = {
        "acme": settings_of(provider, groups=GROUPS, administrator_group="administrators")
    }
    rate_limits()
    return [team, *(Team.objects.create(slug=slug) for slug in ("search", "support"))]


def choose_groups(provider, name, groups):
    parts = urlsplit(provider)
    claims = {"preferred_username": name, "groups": groups}
    with closing(HTTPConnection(parts.netloc)) as connection:
        headers = {"content-type": "application/json"}
        connection.request("PUT", f"/users/sub-{name}", json.dumps(claims), headers)
        assert connection.getresponse().status == 204


def sign_in(name, client=None, next_url=""):
    """Signs in as a browser does: the button, the provider's form, and the way back."""
    client = client or Client()
    page = client.post("/sign-in/with/acme/", {"next": next_url})
    address = urlsplit(select(page, "a", data_action="continue")[0]["href"])
    with closing(HTTPConnection(address.netloc)) as connection:
        headers = {"content-type": "application/x-www-form-urlencoded"}
        form = urlencode({"sub": f"sub-{name}"})
        connection.request("POST", f"{address.path}?{address.query}", form, headers)
        answer = connection.getresponse()
        back = urlsplit(answer.headers["location"])
    return client, client.get(f"{back.path}?{back.query}")


def roles_of(name):
    return dict(Membership.objects.filter(user__username=name).values_list("team__slug", "role"))


def test_first_sign_in_creates_the_account_and_returns_to_the_page(company):
    client, answer = sign_in(NAMES[0], next_url="/teams/docs/")
    assert answer["Location"] == "/teams/docs/"
    assert client.get("/teams/docs/").status_code == 200
    user = User.objects.get(username=NAMES[0])
    assert (user.first_name, user.email) == ("Person-00", "person-00@example.com")
    assert part(client.get("/account/identities/"), "identity")
    sign_in(NAMES[0])
    assert User.objects.count() == 1


@pytest.mark.full
@pytest.mark.slow("eighty requests of the provider")
def test_forty_people_get_the_roles_of_their_groups(company):
    for name in NAMES:
        sign_in(name)
    roles = Membership.objects.values_list("team__slug", "role")
    assert {pair: list(roles).count(pair) for pair in roles} == {
        ("docs", "owner"): 2,
        ("docs", "member"): 13,
        ("search", "viewer"): 13,
        ("search", "maintainer"): 12,
        ("support", "member"): 13,
    }


def test_changed_groups_change_the_roles_at_the_next_sign_in(company, provider, alice):
    other = Team.objects.create(slug="other", name="Other")
    sign_in(NAMES[3])
    user = User.objects.get(username=NAMES[3])
    Membership.objects.create(team=other, user=user, role=Role.MEMBER)
    assert roles_of(NAMES[3]) == {"docs": "member", "search": "viewer", "other": "member"}
    try:
        choose_groups(provider, NAMES[3], ["leads", "administrators"])
        sign_in(NAMES[3])
        assert roles_of(NAMES[3]) == {"docs": "owner", "other": "member"}
        assert User.objects.get(pk=user.pk).is_superuser
        choose_groups(provider, NAMES[3], [])
        User.objects.create_user("root", is_superuser=True)
        sign_in(NAMES[3])
        assert roles_of(NAMES[3]) == {"other": "member"}
        assert not User.objects.get(pk=user.pk).is_superuser
    finally:
        choose_groups(provider, NAMES[3], groups_of(3))
    recorded = AuditEntry.objects.filter(team=company[0], user=user).order_by("pk")
    assert [entry.action for entry in recorded] == ["member.add", "member.role", "member.remove"]
    assert {entry.detail["issuer"] for entry in recorded} == {provider}


def test_session_is_listed_and_ends_as_every_other(company):
    client, _answer = sign_in(NAMES[4])
    assert len(parts(client.get("/account/sessions/"), "session")) == 1
    client.post("/sign-out/")
    assert client.get("/account/").status_code == 302


def test_sign_in_page_has_a_button_for_each_issuer(company, settings):
    assert len(select(Client().get("/sign-in/"), "button", data_action="issuer")) == 1
    settings.SKILLQUAY_OIDC = {}
    assert not select(Client().get("/sign-in/"), "button", data_action="issuer")
    assert Client().post("/sign-in/with/acme/").status_code == 404


def test_issuer_that_can_not_be_reached_is_named_on_the_sign_in_page(company, settings):
    settings.SKILLQUAY_OIDC = {"acme": settings_of("http://localhost:9")}
    client = Client()
    page = client.post("/sign-in/with/acme/", follow=True)
    assert "OUTBOUND_FAILED" in [shown.attributes.get("data-code") for shown in parts(page, "message")]


def test_person_is_still_signed_in_after_linking(company, alice):
    client = Client()
    client.force_login(alice)
    client.post("/account/security/confirm/", {"password": "alice-password"})
    page = client.post("/account/identities/", {"issuer": "acme"})
    assert select(page, "meta", http_equiv="refresh")
    assert client.get("/account/").status_code == 200
