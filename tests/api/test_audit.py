"""The audit log of the site and of a team through the API."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from registry.identity import audit, client_address
from registry.identity.actors import Actor, shell_actor
from registry.models import AuditEntry, Membership, Token

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


@pytest.fixture
def log(alice, bob, team):
    audit.record(Actor(user=alice), "version.yank", "docs/report@1.0.0", team=team, reason="Wrong")
    audit.record(Actor(user=bob, token=Token(name="ci")), "member.add", "charlie", team=team)
    audit.record(Actor(), "user.create", "mei")


def targets(answer):
    assert answer.status_code == 200, answer.content
    return [entry["target"] for entry in answer.json()["items"]]


@pytest.fixture
def script(token_api, administrator):
    """A token of an administrator; its own entry in the log is outside the groups that the tests ask for."""
    return token_api(administrator, "administer")


def test_administrator_reads_the_whole_log_page_by_page(script, log):
    first = script("get", "audit?limit=2&since=2026-01-01")
    assert len(targets(first)) == 2
    rest = script("get", f"audit?limit=2&since=2026-01-01&cursor={first.json()['next_cursor']}")
    assert {*targets(first), *targets(rest)} >= {"docs/report@1.0.0", "charlie", "mei"}


def test_maintainer_reads_the_team_s_log_with_who_and_how(token_api, alice, log):
    answer = token_api(alice, "settings")("get", "teams/docs/audit")
    assert targets(answer) == ["charlie", "docs/report@1.0.0"]
    added, yanked = answer.json()["items"]
    assert (added["user"], added["token"], added["team"]) == ("bob", "ci", "docs")
    assert (yanked["action"], yanked["detail"]) == ("version.yank", {"reason": "Wrong"})


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("person=bob", ["charlie"]),
        ("group=skills", ["docs/report@1.0.0"]),
        ("target=report", ["docs/report@1.0.0"]),
        ("until=2000-01-01", []),
    ],
)
def test_filters_select_entries(as_alice, log, query, expected):
    assert targets(as_alice.get(f"teams/docs/audit?{query}")) == expected


@pytest.mark.parametrize("query", ["group=x", "since=yesterday", "who=bob", "cursor=x"])
def test_invalid_query_is_refused(as_alice, team, query):
    assert as_alice.get(f"teams/docs/audit?{query}").status_code == 400


def test_log_is_for_administrators_and_maintainers(as_alice, as_bob, as_charlie, anonymous, token_api, alice):
    assert as_alice.get("audit").status_code == 403
    assert as_bob.get("teams/docs/audit").status_code == 403
    assert as_charlie.get("teams/docs/audit").status_code == 404
    assert anonymous.get("teams/docs/audit").status_code == 401
    assert token_api(alice, "read")("get", "teams/docs/audit").status_code == 403


def addresses(answer):
    return {entry["target"]: entry["address"] for entry in answer.json()["items"]}


def test_entry_has_the_client_address(as_alice, team, charlie):
    as_alice.client.defaults["REMOTE_ADDR"] = "198.51.100.7"
    as_alice.post("teams/docs/members", {"username": "charlie"})
    entry = as_alice.get("teams/docs/audit").json()["items"][0]
    assert (entry["action"], entry["address"]) == ("member.add", "198.51.100.7")


def test_maintainers_see_addresses_of_present_members_and_administrators_see_all(
    as_alice, token_api, administrator, alice, bob, charlie, team
):
    for user in (bob, charlie):
        with client_address.bind("2001:db8::7"):
            audit.record(Actor(user=user), "version.report", user.username, team=team)
    known = {"bob": "2001:db8::7", "charlie": "2001:db8::7"}
    assert addresses(as_alice.get("teams/docs/audit?target=b")) == {"bob": known["bob"]}
    assert addresses(as_alice.get("teams/docs/audit")) == {**known, "charlie": ""}
    assert addresses(token_api(administrator, "administer")("get", "audit?group=skills")) == known


def test_background_work_has_no_address(team, alice):
    assert audit.record(Actor(user=alice), "team.settings", "docs", team=team).address == ""


def test_shell_that_acts_as_a_user_records_both(administrator, alice, team, capsys):
    call_command("api", "PATCH", "/api/v1/teams/docs", '{"name": "Papers"}', "--as", "alice")
    entry = AuditEntry.objects.get(action="team.rename")
    assert (entry.user, entry.as_user, entry.token_name) == (administrator, alice, audit.SHELL)
    assert entry.address == ""
    found = audit.entries(shell_actor(), audit.AuditFilter(person="alice"))
    assert entry in found


@pytest.mark.parametrize(("is_member", "capacity"), [(True, ""), (False, "administrator")])
def test_administrator_outside_the_team_is_marked(administrator, team, is_member, capacity):
    if is_member:
        Membership.objects.create(team=team, user=administrator, role="member")
    entry = audit.record(Actor(user=administrator), "team.settings", "docs", team=team)
    assert entry.capacity == capacity
