"""The pages of users: list, invitation, one-time password, one user, and the links that people get."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from registry.models import Invitation, Membership, User
from tests.pages import part, parts

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


@pytest.fixture
def admin(browse, administrator):
    return browse(administrator)


def path_in(answer, start):
    found = re.search(rf"https?://[^/]+({start}[^\s<]+)", answer.content.decode())
    assert found
    return found[1]


def test_invited_person_joins_the_team_and_is_signed_in(admin, team):
    given = {"form": "invite", "invite-email": "mei@example.com", "invite-team": "docs"}
    made = admin.post("/site/users/", {**given, "invite-role": "member", "invite-days": "7"})
    part(made, "invited")
    link = path_in(made, "/join/")
    stranger = Client()
    assert parts(stranger.get(link), "sign-in")
    weak = stranger.post(link, {"username": "mei", "password": "12345678"})
    assert weak.status_code == 422
    joined = stranger.post(link, {"username": "mei", "password": "correct horse battery"}, follow=True)
    assert joined.redirect_chain == [("/teams/docs/", 302)]
    assert Membership.objects.get(user__username="mei").role == "member"
    assert Client().get(link).status_code == 404


def test_signed_in_person_joins_the_team_with_the_present_account(admin, browse, charlie, team):
    given = {"form": "invite", "invite-team": "docs", "invite-role": "viewer", "invite-days": "1"}
    link = path_in(admin.post("/site/users/", given), "/join/")
    theirs = browse(charlie)
    part(theirs.get(link), "join")
    theirs.post(link)
    assert Membership.objects.get(user=charlie, team=team).role == "viewer"


def test_created_user_gets_a_one_time_password_that_is_shown_once(admin):
    made = admin.post("/site/users/", {"form": "create", "create-username": "mei"})
    part(made, "created")
    assert User.objects.get(username="mei").must_change_password
    assert not parts(admin.get("/site/users/"), "created")


def test_refused_user_keeps_what_was_typed(admin, alice):
    refused = admin.post("/site/users/", {"form": "create", "create-username": "alice"})
    assert refused.status_code == 422
    assert b'value="alice"' in refused.content


def test_list_is_filtered(admin, alice, bob):
    User.objects.filter(pk=bob.pk).update(is_active=False)
    shown = parts(admin.get("/site/users/?state=inactive"), "user")
    assert [row["value"] for row in shown] == ["bob"]
    assert parts(admin.get("/site/users/?q=nobody"), "empty")


def test_user_is_deactivated_and_reactivated(admin, alice, team):
    page = f"/site/users/{alice.uid}/"
    shown = admin.post(f"{page}deactivate/", follow=True)
    assert part(shown, "needs-owner")
    assert not User.objects.get(pk=alice.pk).is_active
    assert not parts(admin.post(f"{page}reactivate/", follow=True), "needs-owner")
    assert User.objects.get(pk=alice.pk).is_active


def test_password_reset_shows_a_link_that_works_once(admin, bob):
    link = path_in(admin.post(f"/site/users/{bob.uid}/reset-password/"), "/reset-password/")
    form = Client()
    address = form.get(link, follow=True).redirect_chain[-1][0]
    chosen = {"new_password1": "correct horse battery", "new_password2": "correct horse battery"}
    form.post(address, chosen)
    bob.refresh_from_db()
    assert bob.check_password("correct horse battery")
    assert Client().get(link, follow=True).status_code == 404


def test_administrator_rights_are_given_and_taken(admin, bob, administrator):
    admin.post(f"/site/users/{bob.uid}/administrator/", {"administrator": "1"})
    assert User.objects.get(pk=bob.pk).is_superuser
    admin.post(f"/site/users/{bob.uid}/administrator/", {"administrator": "0"})
    assert not User.objects.get(pk=bob.pk).is_superuser
    last = admin.post(f"/site/users/{administrator.uid}/administrator/", {"administrator": "0"}, follow=True)
    assert "LAST_ADMINISTRATOR" in [shown.attributes.get("data-code") for shown in parts(last, "message")]


def test_invitation_is_revoked(admin, root):
    made = admin.post("/site/users/", {"form": "invite", "invite-role": "member", "invite-days": "7"})
    assert not parts(Client().get(path_in(made, "/join/")), "sign-in")  # it is for new accounts only
    assert len(parts(admin.get("/site/users/"), "invitation")) == 1
    admin.post(f"/site/users/invitations/{Invitation.objects.get().uid}/revoke/")
    assert parts(admin.get("/site/users/"), "invitation") == []


@pytest.mark.parametrize("path", ["", "{uid}/", "{uid}/deactivate/", "{uid}/reset-password/"])
def test_users_do_not_exist_for_others(browse, alice, bob, path):
    address = "/site/users/" + path.format(uid=bob.uid)
    assert browse(alice).get(address).status_code in (404, 405)
    assert browse(alice).post(address).status_code in (404, 405)
    assert User.objects.get(pk=bob.pk).is_active
