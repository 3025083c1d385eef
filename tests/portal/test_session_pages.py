"""The pages on which users and administrators end sessions."""

from __future__ import annotations

import pytest

from portal.pages.account.presenters import client_name
from tests.pages import part, parts, select

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


def end_form(page):
    (row,) = parts(page, "session", state="other")
    return row.tags("form")[0]["action"]


def is_signed_in(client):
    return client.get("/account/").status_code == 200


def test_user_ends_one_session(browse, bob):
    here, there = browse(bob), browse(bob)
    assert is_signed_in(there)
    here.post(end_form(here.get("/account/sessions/")))
    assert (is_signed_in(here), is_signed_in(there)) == (True, False)
    page = here.get("/account/sessions/")
    assert part(page, "session")["state"] == "current"
    assert not select(page, "button", data_action="confirm")


def test_user_ends_all_other_sessions(browse, bob):
    here, *others = [browse(bob) for _ in range(3)]
    here.post("/account/sessions/end-others/")
    assert [is_signed_in(client) for client in (here, *others)] == [True, False, False]


def test_session_of_another_user_does_not_exist(browse, alice, bob):
    mine, other = browse(bob), browse(bob)
    address = end_form(mine.get("/account/sessions/"))
    assert browse(alice).post(address).status_code == 404
    assert is_signed_in(other)


def test_administrator_ends_all_sessions_of_a_user(browse, administrator, alice, bob):
    theirs, admin = browse(bob), browse(administrator)
    address = f"/site/users/{bob.uid}/end-sessions/"
    assert browse(alice).post(address).status_code == 404
    assert is_signed_in(theirs)
    assert parts(admin.post(address, follow=True), "message")
    assert not is_signed_in(theirs)


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox · Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537 Chrome/142.0 Safari/537 Edg/142.0", "Edge · Windows"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) Version/18 Safari/605", "Safari · macOS"),
        ("curl/8.0", "Unknown browser"),
    ],
)
def test_client_is_named_after_browser_and_system(user_agent, name):
    assert client_name(user_agent) == name
