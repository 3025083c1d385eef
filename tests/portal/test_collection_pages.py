"""Pages of collections: the list, one collection with its commands, and the forms of maintainers."""

from __future__ import annotations

import pytest

from registry.collections import edit
from registry.collections.edit import ChosenSkill
from registry.identity.actors import Actor
from registry.models import Collection, Visibility
from tests.factories.runs import make_run
from tests.pages import codes, messages, part, parts

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]
FORM = {"title": "First steps", "description": "For new people.", "visibility": "public"}


@pytest.fixture
def start(team, alice, private, public):
    chosen = [ChosenSkill("docs/weekly-report", "1.2.0"), ChosenSkill("docs/kind-review")]
    return edit.create(
        team, "start", Actor(user=alice), title="First steps", visibility="public", chosen=chosen
    )


def values(page, name):
    return [each["value"] for each in parts(page, name)]


def test_maintainer_creates_changes_and_deletes(browse, alice, team, private, public):
    client = browse(alice)
    lines = {"skills": "docs/kind-review\n\n docs/weekly-report@1.2.0 \n"}
    made = client.post("/collections/new/", {**FORM, **lines, "team": "docs", "slug": "start"}, follow=True)
    assert made.redirect_chain == [("/collections/docs/start/", 302)]
    assert values(made, "member") == ["docs/kind-review", "docs/weekly-report"]
    assert [each["state"] for each in parts(made, "member")] == ["latest", "pinned"]
    form = client.get("/collections/docs/start/edit/")
    assert "docs/kind-review\ndocs/weekly-report@1.2.0" in form.text
    changed = client.post(
        "/collections/docs/start/edit/", {**FORM, "skills": "docs/weekly-report"}, follow=True
    )
    assert messages(changed) == ["success"]
    assert values(changed, "member") == ["docs/weekly-report"]
    gone = client.post("/collections/docs/start/delete/", follow=True)
    assert gone.redirect_chain == [("/collections/", 302)]
    assert not Collection.objects.exists()


def test_refusal_stands_in_the_form(browse, alice, team, private):
    fields = {**FORM, "skills": "docs/absent", "team": "docs", "slug": "start"}
    page = browse(alice).post("/collections/new/", fields)
    assert page.status_code == 422
    assert codes(part(page, "errors")) == ["NOT_FOUND"]
    assert "docs/absent" in page.text


def test_page_shows_each_person_their_skills_and_commands(browse, alice, charlie, start, settings):
    settings.SKILLQUAY_PUBLIC_URL = "https://skills.example.org"
    page = browse(alice).get("/collections/docs/start/")
    assert values(page, "member") == ["docs/weekly-report", "docs/kind-review"]
    assert "start.private.git" in part(page, "install", value="install-claude")
    assert not parts(page, "install", value="install-skills")
    page = browse(charlie).get("/collections/docs/start/")
    assert values(page, "member") == ["docs/kind-review"]
    assert "weekly-report" not in page.text
    shown = part(page, "install", value="install-claude").text
    assert "marketplace add https://skills.example.org/collections/docs/start.git" in shown
    assert "plugin install kind-review@docs-start" in shown
    assert "https://skills.example.org/collections/docs/start" in part(
        page, "install", value="install-skills"
    )
    assert not parts(page, action="edit")


def test_rows_show_the_last_runs_that_the_reader_can_see(browse, alice, charlie, team, start, public):
    make_run(public.latest, alice, team)
    shown, hidden = (browse(user).get("/collections/docs/start/") for user in (alice, charlie))
    assert [strip["value"] for strip in parts(shown, "strip")] == ["100"]
    assert not parts(hidden, "strip")
    assert not parts(browse().get("/collections/docs/start/"), "strip")


def test_plugin_commands_install_every_skill_of_the_collection(browse, alice, start):
    page = browse(alice).get("/collections/docs/start/")
    for name, command in (("claude", "claude plugin install"), ("codex", "codex plugin add")):
        shown = part(page, "install", value=f"install-{name}").text
        assert f"{command} weekly-report@docs-start {command} kind-review@docs-start" in shown


def test_plugin_commands_of_many_skills_are_cut(browse, alice, start, monkeypatch):
    monkeypatch.setattr("portal.pages.collections.presenters._MAX_PLUGINS", 1)
    shown = part(browse(alice).get("/collections/docs/start/"), "install", value="install-claude").text
    assert "weekly-report@docs-start" in shown
    assert "kind-review@docs-start" not in shown


def test_list_names_visible_collections_and_own_teams(browse, alice, bob, charlie, start):
    edit.change(start, Actor(user=alice), visibility=Visibility.PRIVATE)
    page = browse(bob).get("/collections/?team=docs")
    assert values(page, "collection") == ["docs/start"]
    assert values(page, "computed") == ["docs"]
    assert not parts(page, action="new")
    assert parts(browse(alice).get("/collections/"), action="new")
    for client in (browse(charlie), browse()):
        page = client.get("/collections/?team=docs")
        assert not values(page, "collection")
        assert not values(page, "computed")
        assert client.get("/collections/docs/start/").status_code == 404


def test_computed_collection_can_be_read_but_not_edited(browse, alice, public):
    page = browse(alice).get("/collections/docs/all/")
    assert values(page, "member") == ["docs/kind-review"]
    assert "kind-review@docs" in part(page, "install", value="install-claude")
    assert browse(alice).post("/collections/docs/all/edit/", {**FORM, "skills": ""}).status_code == 422
    assert messages(browse(alice).post("/collections/docs/all/delete/", follow=True)) == ["error"]


def test_members_can_not_edit(browse, bob, start):
    for path in ("edit/", "delete/"):
        assert browse(bob).post(f"/collections/docs/start/{path}", {**FORM, "skills": ""}).status_code in (
            302,
            403,
        )
    assert Collection.objects.get().items.count() == 2
