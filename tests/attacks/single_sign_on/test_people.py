"""Accounts that an issuer tries to take over, and links between accounts."""

from __future__ import annotations

import pytest
from allauth.socialaccount.models import SocialAccount
from django.test import Client

from registry.models import Membership, User
from tests.attacks.single_sign_on.browser import codes, finish, refused, sign_in, signed_in_name, start
from tests.pages import select
from tests.servers.issuer import (
    run_issuer,
    settings_of,
)

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


@pytest.mark.parametrize("verified", [False, True])
def test_email_address_of_another_account_takes_nothing_over(issuer, alice, verified):
    User.objects.filter(pk=alice.pk).update(email="alice@example.com")
    issuer.claims = {"sub": "x", "preferred_username": "alice", "email": "alice@example.com"}
    issuer.claims["email_verified"] = verified
    client = Client()
    sign_in(client, issuer)
    assert signed_in_name(client) == "alice-2"
    assert User.objects.get(username="alice-2").email == ("alice@example.com" if verified else "")
    assert not Membership.objects.filter(user__username="alice-2").exists()


def test_same_subject_at_another_issuer_is_another_person(issuer, settings):
    sign_in(Client(), issuer)
    with run_issuer() as other:
        settings.SKILLQUAY_OIDC = {"acme": settings_of(issuer), "evil": settings_of(other)}
        client = Client()
        finish(client, other.authorize(start(client, "evil")), "evil")
        assert signed_in_name(client) == "mei-2"


def test_issuer_under_the_name_of_a_former_one_gets_none_of_its_people(issuer, settings):
    sign_in(Client(), issuer)
    with run_issuer() as other:
        settings.SKILLQUAY_OIDC = {"acme": settings_of(other, creates_users=False)}
        client = Client()
        sign_in(client, other)
        assert signed_in_name(client) is None


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        ("alice", "alice-2"),
        ("ALICE", "ALICE-2"),
        ("ａlice", "alice-2"),
        ("erased-01h", "user"),
        ("a\nb\0c", "abc"),
        ("a b/c", "a-b-c"),
        ("x" * 10_000, "x" * 140),
        ("<script>", "script"),
        ("\u202eetihw", "etihw"),
        ("", "user"),
        (7, "user"),
        (["root"], "user"),
    ],
)
def test_hostile_user_name_becomes_a_valid_free_one(issuer, alice, wanted, given):
    issuer.claims["preferred_username"] = wanted
    client = Client()
    sign_in(client, issuer)
    assert signed_in_name(client) == given


def test_hostile_names_and_addresses_are_stored_as_plain_text(issuer):
    issuer.claims |= {"name": "a\0\u202eb" * 200, "email": "no address\n", "email_verified": True}
    sign_in(Client(), issuer)
    user = User.objects.get(username="mei")
    assert user.email == ""
    assert len(user.first_name) <= 150
    assert user.first_name.isprintable()


def test_deactivated_person_is_refused(issuer):
    sign_in(Client(), issuer)
    User.objects.filter(username="mei").update(is_active=False)
    client = Client()
    sign_in(client, issuer)
    assert "IDENTITY_INACTIVE" in codes(client.get("/sign-in/"))
    assert signed_in_name(client) is None


def test_erased_person_is_refused_and_not_created_again(issuer, root):
    from registry.erasure.people import erase_person

    sign_in(Client(), issuer)
    erase_person(User.objects.get(username="mei"), root)
    assert "mei-1" not in SocialAccount.objects.get().uid
    client = Client()
    sign_in(client, issuer)
    assert "IDENTITY_INACTIVE" in codes(client.get("/sign-in/"))
    assert signed_in_name(client) is None
    assert User.objects.count() == 2


def test_subject_that_looks_like_a_sealed_one_is_another_person(issuer, root):
    from registry.erasure.people import erase_person

    sign_in(Client(), issuer)
    erase_person(User.objects.get(username="mei"), root)
    issuer.claims = {"sub": SocialAccount.objects.get().uid, "preferred_username": "eve"}
    client = Client()
    sign_in(client, issuer)
    assert "IDENTITY_INACTIVE" in codes(client.get("/sign-in/"))
    assert signed_in_name(client) is None


def test_unknown_person_is_refused_if_the_issuer_creates_no_users(issuer, configure):
    configure(creates_users=False)
    client = Client()
    assert refused(client, sign_in(client, issuer), "IDENTITY_UNKNOWN")
    assert not User.objects.exists()


CONFIRM = "/account/security/confirm/"


def link(client, issuer):
    page = client.post("/account/identities/", {"issuer": "acme"})
    if page.status_code != 200:
        return page
    (button,) = select(page, "a", data_action="continue")
    return finish(client, issuer.authorize(button["href"]))


def confirm(client):
    return client.post(CONFIRM, {"password": "alice-password", "next": "/account/identities/"})


def test_link_requires_a_confirmation(issuer, alice):
    client = Client()
    client.force_login(alice)
    assert link(client, issuer)["Location"].startswith(CONFIRM)
    client.post(CONFIRM, {"password": "wrong"})
    assert link(client, issuer)["Location"].startswith(CONFIRM)
    assert not SocialAccount.objects.exists()
    assert confirm(client)["Location"] == "/account/identities/"
    link(client, issuer)
    assert SocialAccount.objects.get().user == alice
    mine = Client()
    sign_in(mine, issuer)
    assert signed_in_name(mine) == "alice"


def test_user_without_a_password_confirms_with_the_issuer(issuer):
    client = Client()
    sign_in(client, issuer)
    session = client.session
    session["account_authentication_methods"][0]["at"] -= 3600
    session.save()
    refused = client.post("/account/identities/unlink/", {"identity": SocialAccount.objects.get().pk})
    assert refused["Location"].startswith(CONFIRM)
    (button,) = select(client.get(refused["Location"]), "button", data_action="issuer")
    assert button["data-value"] == "acme"
    assert sign_in(client, issuer, next="/account/identities/")["Location"] == "/account/identities/"
    assert select(client.post("/account/identities/", {"issuer": "acme"}), "a", data_action="continue")


def test_link_is_not_completed_in_the_session_of_another_user(issuer, alice, bob):
    client = Client()
    client.force_login(alice)
    confirm(client)
    page = client.post("/account/identities/", {"issuer": "acme"})
    answer = issuer.authorize(select(page, "a", data_action="continue")[0]["href"])
    session = client.session
    session["_auth_user_id"], session["_auth_user_hash"] = str(bob.pk), bob.get_session_auth_hash()
    session.save()
    finish(client, answer)
    assert "SIGN_IN_EXPIRED" in codes(client.get("/account/identities/"))
    assert not SocialAccount.objects.exists()


def test_identity_of_another_account_is_not_linked(issuer, alice):
    sign_in(Client(), issuer)
    client = Client()
    client.force_login(alice)
    confirm(client)
    link(client, issuer)
    assert SocialAccount.objects.get().user.username == "mei"


def test_only_the_owner_unlinks_and_never_the_last_way_in(issuer, alice):
    theirs = Client()
    sign_in(theirs, issuer)
    linked = SocialAccount.objects.get()
    other = Client()
    other.force_login(alice)
    confirm(other)
    other.post("/account/identities/unlink/", {"identity": linked.pk})
    theirs.post("/account/identities/unlink/", {"identity": linked.pk})
    assert SocialAccount.objects.exists()
    user = linked.user
    user.set_password("correct horse battery")
    user.save()
    theirs.force_login(user)
    theirs.post(CONFIRM, {"password": "correct horse battery"})
    theirs.post("/account/identities/unlink/", {"identity": linked.pk})
    assert not SocialAccount.objects.exists()
