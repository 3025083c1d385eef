"""A team's page and what its owners do there."""

from __future__ import annotations

import pytest

from registry.identity.actors import Actor
from registry.models import Membership, Team
from registry.secrets import values
from tests.factories.skills import publish_files
from tests.pages import part, parts

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
    assert "alice" in part(browse(bob).get("/teams/docs/"), "members")
    for person in (charlie, None):
        page = browse(person).get("/teams/docs/")
        assert page.status_code == 200  # they see its public skill
        assert "alice" not in page.text
        assert parts(page, "members") == []


def test_a_team_with_nothing_to_show_is_not_there_for_others(browse, charlie, private):
    for person in (charlie, None):
        assert browse(person).get("/teams/docs/").status_code == 404
    assert "/teams/docs/" not in browse(charlie).get("/teams/").text


def test_the_audit_is_for_maintainers(browse, alice, bob, private):
    assert "version.publish" in browse(alice).get("/teams/docs/").text
    assert "version.publish" not in browse(bob).get("/teams/docs/").text


def test_an_owner_adds_changes_and_removes_members(browse, alice, charlie, team):
    client = browse(alice)
    client.post("/teams/docs/members/", {"user": "charlie", "role": "viewer"})
    assert role_of(team, charlie) == "viewer"
    client.post(f"/teams/docs/members/{charlie.uid}/role/", {"role": "maintainer"})
    assert role_of(team, charlie) == "maintainer"
    client.post(f"/teams/docs/members/{charlie.uid}/remove/")
    assert role_of(team, charlie) is None


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


@pytest.mark.parametrize("what", ["members/", "members/{uid}/role/", "members/{uid}/remove/"])
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
    page = browse(charlie).get("/teams/docs/").text
    assert link in page
    assert '<span class="count">2</span>' in page
