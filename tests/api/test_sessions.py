"""Sessions through the API: a user's own, and those of others for administrators."""

from __future__ import annotations

import pytest

from registry.models import AuditEntry, UserSession
from tests.api.conftest import session_api

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


@pytest.fixture
def others(bob):
    """Two more sessions of Bob; each was used, so that its client is known."""
    clients = [session_api(bob), session_api(bob)]
    for api in clients:
        assert is_signed_in(api)
    return clients


@pytest.fixture
def script(token_api, administrator):
    return token_api(administrator, "administer")


def is_signed_in(api):
    return api.get("me").status_code == 200


def items(answer):
    assert answer.status_code == 200, answer.content
    return answer.json()["items"]


def test_user_lists_own_sessions_and_the_current_one(as_bob, as_alice, others):
    assert is_signed_in(as_bob)
    found = items(as_bob.get("me/sessions"))
    assert [session["current"] for session in found] == [True, False, False]
    assert {session["address"] for session in found} == {"127.0.0.1"}
    assert len(items(as_alice.get("me/sessions"))) == 1


def test_user_ends_one_session(as_bob, others):
    uid = items(others[0].get("me/sessions"))[0]["id"]
    assert as_bob("DELETE", f"me/sessions/{uid}").status_code == 204
    assert [is_signed_in(api) for api in (as_bob, *others)] == [True, False, True]
    assert as_bob("DELETE", f"me/sessions/{uid}").status_code == 404


def test_user_ends_all_other_sessions(as_bob, as_alice, others):
    assert as_bob("DELETE", "me/sessions").json() == {"ended": 2}
    assert [is_signed_in(api) for api in (as_bob, as_alice, *others)] == [True, True, False, False]


def test_session_of_another_user_is_not_found(as_alice, others):
    uid = items(others[0].get("me/sessions"))[0]["id"]
    assert as_alice("DELETE", f"me/sessions/{uid}").status_code == 404
    assert is_signed_in(others[0])


@pytest.mark.parametrize(("method", "path"), [("GET", "me/sessions"), ("DELETE", "me/sessions")])
def test_token_does_not_manage_the_sessions_of_its_owner(token_api, bob, others, method, path):
    assert token_api(bob)(method, path).status_code == 403
    assert is_signed_in(others[0])


def test_administrator_lists_and_ends_sessions_of_a_user(script, others):
    assert len(items(script("get", "users/bob/sessions"))) == 2
    assert script("DELETE", "users/bob/sessions").json() == {"ended": 2}
    assert not any(map(is_signed_in, others))
    assert AuditEntry.objects.get(action="user.end_sessions").target == "bob"


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_sessions_of_others_are_for_administrators(as_alice, as_charlie, anonymous, others, method):
    for api, status in ((as_alice, 404), (as_charlie, 404), (anonymous, 401)):
        assert api(method, "users/bob/sessions").status_code == status
    assert is_signed_in(others[0])


def test_deactivation_ends_sessions_at_once(script, others):
    assert script("post", "users/bob/deactivate").status_code == 200
    assert not UserSession.objects.filter(user__username="bob").exists()
    assert not any(map(is_signed_in, others))


def test_sessions_of_one_user_are_read_without_those_of_others(
    bob, alice, others, as_alice, django_assert_num_queries
):
    from registry.accounts import sessions

    assert is_signed_in(as_alice)
    with django_assert_num_queries(1) as queries:
        assert len(sessions.list_sessions(bob)) == 2
    assert '"user_id" =' in queries[0]["sql"]
