"""What a team uses, by API, page and command: members read, administrators set."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.pages import part, parts, select
from tests.shell import api
from worker.models import TeamDailyUsage
from worker.quotas.team_limits import today

pytestmark = [pytest.mark.django_db, pytest.mark.row("C6")]
ADDRESS = "/api/v1/teams/docs/limits"


def _set(client, **limits):
    return client.patch(ADDRESS, limits, content_type="application/json")


def test_an_administrator_sets_and_a_member_reads(client, administrator, bob, team):
    client.force_login(administrator)
    TeamDailyUsage.objects.create(team=team, day=today(), runs=8, cpu_ms=1500)
    answer = _set(client, runs_per_day=10)
    assert answer.status_code == 200
    client.force_login(bob)
    limits = {row["name"]: row for row in client.get(ADDRESS).json()["limits"]}
    wanted = {
        "name": "runs_per_day",
        "used": 8,
        "limit": 10,
        "overridden": True,
        "near_limit": True,
        "exhausted": False,
    }
    assert limits["runs_per_day"] == wanted
    assert (limits["cpu_seconds_per_day"]["used"], limits["cpu_seconds_per_day"]["limit"]) == (1, None)
    assert _set(client, runs_per_day=99).status_code == 403
    page = client.get("/teams/docs/limits/")
    assert part(page, "limit", value="runs_per_day")["state"] == "near"
    assert not parts(page, "set-limits")


def test_the_page_sets_and_says_what_is_wrong(client, administrator, team):
    client.force_login(administrator)
    assert client.post("/teams/docs/limits/", {"runs_per_day": "-1"}).status_code == 422
    assert (
        client.post("/teams/docs/limits/", {"runs_per_day": "5", "stored_bytes": "3000000"}).status_code
        == 302
    )
    page = client.get("/teams/docs/limits/").content.decode()
    assert 'value="5"' in page
    assert "3.0 MB" in [cell.text for cell in select(page, "td")]


def test_a_stranger_learns_nothing(client, charlie, team):
    client.force_login(charlie)
    for address in (ADDRESS, "/teams/docs/limits/"):
        assert (
            client.get(address).status_code
            == client.get(address.replace("docs", "absent")).status_code
            == 404
        )


def test_a_wrong_number_is_refused_with_its_place(client, administrator, team):
    client.force_login(administrator)
    answer = _set(client, runs_per_day="many")
    assert answer.status_code in (400, 422)
    assert answer.json()["problems"][0]["path"] == "runs_per_day"


def test_shell_sets_and_shows_limits(team):
    document = api("PATCH", "teams/docs/limits", {"runs_per_day": 7})[1]
    assert [row["limit"] for row in document["limits"] if row["name"] == "runs_per_day"] == [7]
    document = api("PATCH", "teams/docs/limits", {"runs_per_day": None})[1]
    assert not any(row["overridden"] for row in document["limits"])
    assert api("GET", "teams/docs/limits") == (0, document)


def test_who_asks_beyond_a_day_s_limit_is_told_when_and_what_helps(client, administrator, bob, version, team):
    client.force_login(administrator)
    TeamDailyUsage.objects.create(team=team, day=today(), runs=10)
    _set(client, runs_per_day=10)
    client.force_login(bob)
    asked = {"skill": str(version.skill), "inputs": {}}
    answer = client.post("/api/v1/runs", asked, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (429, "TEAM_RUNS_EXCEEDED")
    assert 1 <= int(answer["Retry-After"]) <= 86_400
    left = timedelta(days=1) - (timezone.now() - timezone.now().replace(hour=0, minute=0, second=0))
    assert abs(int(answer["Retry-After"]) - left.total_seconds()) < 60
