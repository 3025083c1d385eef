"""A team's page and what its owners do there."""

from __future__ import annotations

import re

import pytest

from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import Membership, Team, Token, User
from registry.packages.problems import Refusal
from registry.secrets import values
from registry.versions.lifecycle import yank
from tests.factories.skills import publish_files
from tests.pages import part, parts, select

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


def role_of(team, user):
    return Membership.objects.filter(team=team, user=user).values_list("role", flat=True).first()


def test_a_team_is_made_and_its_maker_owns_it(browse, charlie):
    answer = browse(charlie).post("/teams/new/", {"name": "Data room", "slug": "data-room"})
    assert answer["Location"] == "/teams/data-room/"
    assert role_of(Team.objects.get(slug="data-room"), charlie) == "owner"


@pytest.mark.parametrize("slug", ["docs", "Bad Slug", "new", "a" * 65, ""])
def test_a_team_needs_a_free_short_name(browse, charlie, team, slug):
    page = browse(charlie).post("/teams/new/", {"name": "X", "slug": slug})
    assert page.status_code == 200
    assert "error-summary" in page.text


def test_members_are_shown_to_members_alone(browse, alice, bob, charlie, public):
    assert "alice" in part(browse(bob).get("/teams/docs/members/"), "members")
    for person in (charlie, None):
        page = browse(person).get("/teams/docs/")
        assert page.status_code == 200  # they see its public skill
        assert "alice" not in page.text
    assert browse(charlie).get("/teams/docs/members/").status_code == 404


def test_a_team_with_nothing_to_show_is_not_there_for_others(browse, charlie, private):
    for person in (charlie, None):
        assert browse(person).get("/teams/docs/").status_code == 404
    assert "/teams/docs/" not in browse(charlie).get("/teams/").text


def test_the_audit_is_for_maintainers(browse, alice, bob, private):
    activity = parts(browse(alice).get("/teams/docs/activity/"), "activity", value="version.publish")
    assert "alice" in activity[0]
    assert browse(bob).get("/teams/docs/activity/").status_code == 403


def test_an_owner_adds_changes_and_removes_members(browse, alice, charlie, team):
    client = browse(alice)
    client.post("/teams/docs/members/", {"user": "charlie", "role": "viewer"})
    assert role_of(team, charlie) == "viewer"
    client.post(f"/teams/docs/members/{charlie.uid}/role/", {"role": "maintainer"})
    assert role_of(team, charlie) == "maintainer"
    client.post(f"/teams/docs/members/{charlie.uid}/remove/")
    assert role_of(team, charlie) is None


def test_removal_of_a_member_can_be_undone(browse, alice, bob, team):
    client = browse(alice)
    page = client.post(f"/teams/docs/members/{bob.uid}/remove/", follow=True)
    undo = part(page, "message").tags("form")[0]["action"]
    assert role_of(team, bob) is None
    client.post(undo)
    assert role_of(team, bob) == "member"
    assert browse(bob).post(undo).status_code == 403


@pytest.mark.parametrize(
    ("person", "tabs"),
    [
        (
            "alice",
            [
                "",
                "members",
                "service-accounts",
                "activity",
                "notifications",
                "rules",
                "memory",
                "secrets",
                "limits",
                "retention",
                "settings",
            ],
        ),
        ("bob", ["", "members", "rules", "memory", "secrets", "limits", "retention", "settings"]),
        ("charlie", []),
    ],
)
def test_tabs_show_what_the_user_may_open(browse, request, public, person, tabs):
    client = browse(request.getfixturevalue(person))
    links = [
        link for nav in select(client.get("/teams/docs/"), "nav", class_="tabs") for link in nav.tags("a")
    ]
    assert [link["href"] for link in links] == [f"/teams/docs/{tab}/".replace("//", "/") for tab in tabs]
    assert all(client.get(link["href"]).status_code == 200 for link in links)


@pytest.mark.parametrize(
    "form", [{"user": "nobody", "role": "member"}, {"user": "bob", "role": "member"}, {"user": ""}]
)
def test_a_member_that_cannot_be_added_is_said_beside_the_form(browse, alice, bob, form):
    page = browse(alice).post("/teams/docs/members/", form)
    assert page.status_code == 400
    assert "error-summary" in page.text


def test_a_member_manages_nobody_but_may_leave(browse, alice, bob, charlie, team):
    client = browse(bob)
    assert client.post("/teams/docs/members/", {"user": "charlie", "role": "viewer"}).status_code == 403
    client.post(f"/teams/docs/members/{alice.uid}/role/", {"role": "viewer"})
    client.post(f"/teams/docs/members/{alice.uid}/remove/")
    assert role_of(team, alice) == "owner"
    assert client.post(f"/teams/docs/members/{bob.uid}/remove/")["Location"] == "/teams/"
    assert role_of(team, bob) is None


def test_the_last_owner_stays(browse, alice, team):
    page = browse(alice).post(f"/teams/docs/members/{alice.uid}/remove/", follow=True)
    assert part(page, "message", kind="error")["code"] == "LAST_OWNER"
    assert role_of(team, alice) == "owner"


@pytest.mark.parametrize(
    "what", ["members/", "members/{uid}/role/", "members/{uid}/remove/", "members/{uid}/restore/"]
)
def test_a_stranger_reaches_no_member(browse, alice, charlie, team, private, what):
    address = "/teams/docs/" + what.format(uid=alice.uid)
    assert browse(charlie).post(address, {"user": "charlie", "role": "owner"}).status_code == 404
    assert browse(None).post(address).status_code in (302, 404)
    assert role_of(team, charlie) is None


@pytest.mark.row("C6")
def test_secret_shows_when_and_by_whom_it_was_set(browse, alice, team):
    values.put_secret(team, "API_KEY", "a-value", Actor(user=alice))
    origin = part(browse(alice).get("/teams/docs/secrets/"), "secret-origin")
    [time] = origin.tags("time")
    assert time.text
    assert [name.text for name in origin.tags("bdi")] == ["alice"]


def test_of_a_team_with_very_many_skills_the_page_shows_some_and_leads_to_all(
    browse, charlie, public, monkeypatch
):
    link = '<a href="/skills/?team=docs">'
    assert link not in browse(charlie).get("/teams/docs/").text
    head = b"---\nname: second\ndescription: Another one.\nversion: 1.0.0\n---\n# Second\n"
    maker = Membership.objects.get(team=public.team, role="owner").user
    publish_files({"SKILL.md": head}, team=public.team, user=maker, visibility="public")
    monkeypatch.setattr("portal.pages.teams.views._MAX_SKILLS", 1)
    page = browse(charlie).get("/teams/docs/")
    assert link in page.text
    assert part(page, "skill-count").text == "2"


def test_owner_invites_by_link_and_a_person_with_an_account_joins(browse, alice, charlie, team):
    page = browse(alice).post(
        "/teams/docs/members/", {"invite": "1", "invite-role": "viewer", "invite-days": "7"}
    )
    link = re.search(r"/join/[^\s<]+", part(page, "invited").text)
    assert link
    assert part(browse(alice).get(link[0]), "member")
    assert len(parts(browse(alice).get("/teams/docs/members/"), "invitation")) == 1
    anonymous = browse().get(link[0])
    assert not select(anonymous, "input", name="password")  # only administrators invite new accounts
    assert browse().post(link[0], {"username": "mei", "password": "correct horse"}).status_code == 422
    assert not User.objects.filter(username="mei").exists()
    browse(charlie).post(link[0])
    assert role_of(team, charlie) == "viewer"


def test_member_leaves_after_a_confirmation_and_undoes_it(browse, bob, charlie, team, private):
    client = browse(bob)
    assert "1" in part(client.get("/teams/docs/leave/"), "private-skills")
    assert role_of(team, bob) == "member"
    page = client.post("/teams/docs/leave/", follow=True)
    undo = part(page, "message").tags("form")[0]["action"]
    assert role_of(team, bob) is None
    assert client.get("/teams/docs/").status_code == 404
    assert browse(charlie).post(undo).status_code == 404
    assert role_of(team, charlie) is None
    client.post(undo)
    assert role_of(team, bob) == "member"


def test_only_owner_cannot_leave(browse, alice, team):
    assert part(browse(alice).get("/teams/docs/leave/"), "only-owner")
    page = browse(alice).post("/teams/docs/leave/", follow=True)
    assert part(page, "message")["code"] == "LAST_OWNER"
    assert role_of(team, alice) == "owner"


def test_owner_hands_the_team_to_a_member(browse, alice, bob, team):
    client = browse(alice)
    assert [one["value"] for one in select(client.get("/teams/docs/members/"), "option", value=bob.uid)]
    client.post("/teams/docs/members/transfer/", {"to": bob.uid})
    assert (role_of(team, alice), role_of(team, bob)) == ("maintainer", "owner")


def test_archived_team_says_so_and_is_unarchived_by_its_owner(browse, alice, bob, team, private):
    assert browse(bob).post("/teams/docs/archive/", follow=True).status_code == 200
    assert not Team.objects.get(slug="docs").archived_at
    page = browse(alice).post("/teams/docs/archive/", follow=True)
    undo = part(page, "message").tags("form")[0]["action"]
    for path in ("/teams/docs/", "/teams/docs/members/", "/teams/docs/settings/", "/teams/docs/activity/"):
        assert part(browse(alice).get(path), "archived"), path
    assert not parts(browse(alice).get("/teams/docs/"), action="publish")
    assert browse(alice).get("/skills/docs/weekly-report/").status_code == 200
    browse(alice).post(undo)
    page = browse(alice).get("/teams/docs/")
    assert not parts(page, "archived")
    assert parts(page, action="publish")


def test_owner_creates_a_service_account_with_a_token(browse, alice, bob, team):
    client = browse(alice)
    path = client.post("/teams/docs/service-accounts/", {"name": "ci", "role": "member"})["Location"]
    assert part(client.get("/teams/docs/service-accounts/"), "service-account")["value"] == "docs-ci"
    made = client.post(path, {"name": "build", "scopes": ["publish"], "expires_at": "30"})
    secret = re.search(r"sq_\w+", part(made, "secret").text)
    assert secret
    assert tokens.actor_of(secret[0]).user == User.objects.get(username="docs-ci")
    assert "docs-ci" not in part(client.get("/teams/docs/members/"), "members")
    for person in (bob, None):
        assert browse(person).get(path).status_code in (302, 403)
    client.post(f"{path}role/", {"account-role": "viewer"})
    assert role_of(team, User.objects.get(username="docs-ci")) == "viewer"
    client.post(f"{path}deactivate/")
    assert not User.objects.get(username="docs-ci").is_active


def test_token_is_rotated_revoked_and_restored_on_its_page(browse, alice, charlie):
    client = browse(alice)
    made = client.post("/account/tokens/", {"name": "ci", "scopes": ["read"], "expires_at": "30"})
    secrets = re.findall(r"sq_[0-9A-Za-z]{49}", part(made, "secret").text)
    path = f"/account/tokens/{Token.objects.get().uid}/"
    rotated = client.post(path, {"overlap_hours": "0"})
    part(rotated, "secret")
    with pytest.raises(Refusal):
        tokens.actor_of(secrets[0])
    assert browse(charlie).get(path).status_code == browse(charlie).post(f"{path}revoke/").status_code == 404
    page = client.post(f"{path}revoke/", follow=True)
    assert Token.objects.get().revoked_at
    client.post(part(page, "message").tags("form")[0]["action"])
    assert Token.objects.get().revoked_at is None


def test_list_and_page_of_a_team_count_unlisted_skills(
    browse, alice, bob, charlie, actor_of, public, private
):
    yank.yank(private.versions.get(), actor_of(alice), reason="Wrong")
    (own,) = parts(browse(bob).get("/teams/"), "team")
    page = browse(bob).get("/teams/docs/")
    shown = [row["value"] for row in parts(page, "skill")]
    hidden = part(page, "unlisted").select("li")
    assert [own["value"], part(page, "skill-count").text] == ["2", "2"]
    assert (shown, [row["value"] for row in hidden]) == ([str(public)], [private.slug])
    assert browse(bob).get(hidden[0].tags("a")[0]["href"]).status_code == 200
    assert not parts(browse(charlie).get("/teams/docs/"), "unlisted")


def test_page_of_members_disables_leaving_for_the_only_owner(browse, alice, bob, team):
    assert part(browse(alice).get("/teams/docs/members/"), "only-owner")
    assert not parts(browse(bob).get("/teams/docs/members/"), "only-owner")
    Membership.objects.filter(user=bob).update(role="owner")
    assert not parts(browse(alice).get("/teams/docs/members/"), "only-owner")
