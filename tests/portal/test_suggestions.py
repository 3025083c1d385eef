"""Text fields that suggest skills and teams, and forms in the main column of team pages."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.models import Team
from tests.factories.runs import make_run
from tests.factories.skills import prompt_files, publish_files
from tests.pages import parsed, select
from worker.models import Approval

pytestmark = [pytest.mark.django_db, pytest.mark.row("P3", "P11")]
TEAM = "/teams/docs/"


def suggested(page, name):
    (field,) = select(page, "input", name=name, list=f"{name}-list")
    (values,) = select(page, "datalist", id=field["list"])
    return [option["value"] for option in values.tags("option")]


@pytest.mark.parametrize(
    ("address", "field"),
    [
        (f"{TEAM}rules/", "name"),
        (f"{TEAM}secrets/", "skill"),
        (f"{TEAM}notifications/", "skill"),
        (f"{TEAM}memory/?q=x", "skill"),
        ("/memory/?q=x", "skill"),
        ("/notifications/settings/", "skill"),
    ],
)
def test_field_suggests_the_skills_that_the_user_can_see(browse, alice, private, public, address, field):
    found = suggested(browse(alice).get(address), field)
    assert {str(private), str(public)} <= set(found)


@pytest.mark.parametrize("address", ["/memory/?q=x", "/notifications/settings/"])
def test_field_suggests_no_private_skill_of_others(browse, charlie, private, address):
    assert str(private) not in suggested(browse(charlie).get(address), "skill")


def test_administrator_gets_suggestions_of_canonical_and_bundled_skills(browse, administrator, public):
    client = browse(administrator)
    for address in ("/canonical/new/", "/skills/listing/"):
        assert str(public) in suggested(client.get(address), "skill")


def test_install_link_suggests_teams_and_skills(browse, alice, private):
    assert suggested(browse(alice).get("/account/install-links/"), "target") == ["docs", str(private)]


def test_filter_of_the_activity_suggests_the_users_of_its_entries(browse, alice, bob, charlie, team, private):
    client = browse(alice)
    client.post(f"{TEAM}rules/", {"effect": "deny", "name": "docs/x"})
    assert suggested(client.get(f"{TEAM}activity/"), "person") == ["alice"]


def test_team_settings_suggest_other_teams(browse, alice, charlie, private, public):
    away = Team.objects.get(slug="elsewhere")
    publish_files(prompt_files(), team=away, user=charlie, visibility="public")
    assert suggested(browse(alice).get(f"{TEAM}settings/"), "team") == ["elsewhere"]


def test_rule_suggests_all_skills_of_a_team(browse, alice, private):
    assert "docs/:*" in suggested(browse(alice).get(f"{TEAM}rules/"), "name")


def test_filters_of_approvals_suggest_the_skills_and_teams_of_requests(browse, alice, private, team):
    for _ in range(6):
        run = make_run(private.latest, alice, team, status="waiting_approval")
        Approval.objects.create(run=run, expires_at=timezone.now() + timedelta(days=1))
    page = browse(alice).get("/approvals/")
    assert suggested(page, "skill") == [str(private)]
    assert suggested(page, "team") == ["docs"]


@pytest.mark.parametrize("tab", ["rules", "secrets", "retention", "service-accounts"])
def test_forms_are_in_the_main_column(browse, alice, team, tab):
    page = parsed(browse(alice).get(f"{TEAM}{tab}/"))
    (main,) = page.tags("main")
    assert main.select("form", method="post")
    assert not [form for aside in main.tags("aside") for form in aside.tags("form")]
