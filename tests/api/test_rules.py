"""Rules by API and command, and the decision that they make for a run."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command

from registry.identity.permissions import Scope
from registry.models import Membership, Role, Rule, Team
from tests import shell
from tests.api.conftest import MAIN_PY, assert_error
from tests.shell import refusal

pytestmark = [pytest.mark.django_db, pytest.mark.row("D6")]

TOOLS = {
    "SKILL.md": "---\nname: report\ndescription: Writes a report.\nversion: 1.0.0\n"
    "allowed-tools: [Bash]\n---\n# Report\n",
    "scripts/main.py": MAIN_PY,
}
WIDER = {**TOOLS, "SKILL.md": TOOLS["SKILL.md"].replace("1.0.0", "2.0.0").replace("[Bash]", "[Bash, Write]")}


@pytest.fixture(autouse=True)
def nobody_listens(monkeypatch):
    monkeypatch.setattr("worker.runs.request.wake", lambda: True)


@pytest.fixture
def others(publish, charlie):
    """A version of Charlie's team that everybody may run."""
    from registry.identity.actors import Actor

    away = Team.objects.get(slug="elsewhere")
    return lambda files: publish(files, team=away, actor=Actor(user=charlie), visibility="public")


def add(api, name, effect="allow", to="teams/docs/rules", **more):
    answer = api.post(to, {"effect": effect, "name": name, **more})
    assert answer.status_code == 201, answer.content
    return answer.json()


def decision(api, skill="elsewhere/report", more=""):
    return api.get(f"permissions/check?skill={skill}{more}").json()


def test_an_agent_asks_and_is_let_by_the_rule_that_it_was_offered(others, as_alice, token_api, alice, team):
    version = others(TOOLS)
    agent = token_api(alice, team=team)
    told = decision(agent)
    assert (told["outcome"], told["basis"], told["team"]) == ("ask", "none", "docs")
    assert told["unsafe_properties"] == ["allowed_tools", "scripts/"]
    assert told["suggested_rules"] == {"exact": "elsewhere/report", "prefix": "elsewhere/report:*"}
    waiting = agent.post("runs", {"skill": "elsewhere/report"}).json()
    assert waiting["status"] == "waiting_approval"
    rule = add(as_alice, told["suggested_rules"]["prefix"], version="1.0.0")
    assert rule["granted"] == {"filesystem": ["read-only"], "properties": ["scripts/"], "tools": ["Bash"]}
    assert rule["granted_to"] == str(version)
    assert decision(agent)["rule"]["id"] == rule["id"]
    run = agent.post("runs", {"skill": "elsewhere/report"})
    assert run.status_code == 202
    let = {"basis": "rule", "rule": rule["id"], "name": "elsewhere/report:*"}
    assert agent.get(f"runs/{run.json()['id']}").json()["permission"] == let
    others(WIDER)
    assert decision(agent)["added_permissions"] == {"tools": ["Write"]}
    waiting = agent.post("runs", {"skill": "elsewhere/report"}).json()
    assert waiting["approval"]["added_permissions"] == {"tools": ["Write"]}
    assert agent.post("runs", {"skill": "elsewhere/report@1.0.0"}).status_code == 202


def test_a_person_who_presses_run_has_been_asked(others, as_alice):
    others(TOOLS)
    assert decision(as_alice)["outcome"] == "ask"
    run = as_alice.post("runs", {"skill": "elsewhere/report"})
    assert run.status_code == 202
    assert run.json()["permission"] == {"basis": "person", "rule": None, "name": None}


def test_an_agent_runs_its_own_teams_scripts_unasked(version, token_api, bob):
    agent = token_api(bob)
    assert (decision(agent, "docs/summarise")["basis"]) == "safe"
    assert agent.post("runs", {"skill": "docs/summarise"}).status_code == 202


def test_a_denial_refuses_every_run_for_the_team(version, as_alice, as_bob, token_api, bob):
    rule = add(as_alice, "docs/:*", "deny")
    assert (rule["granted"], rule["granted_to"]) == ({}, None)
    for api in (as_alice, as_bob, token_api(bob)):
        document = assert_error(api.post("runs", {"skill": "docs/summarise"}), 403, "RULE_DENIED")
        assert "docs/:*" in document["message"]
        assert "/teams/docs/rules/" in document["remedy"]
        assert decision(api, "docs/summarise")["rule"]["id"] == rule["id"]


def test_a_tokens_own_rules_narrow_it(version, as_bob, token_api, bob):
    agent, other = token_api(bob), token_api(bob)
    path = f"tokens/{agent.token.uid}/rules"
    rule = add(as_bob, "summarise", "deny", to=path)
    assert (rule["team"], rule["token"]) == (None, agent.token.uid)
    assert as_bob.get(path).json()["items"] == [rule]
    assert_error(agent.post("runs", {"skill": "docs/summarise"}), 403, "RULE_DENIED")
    assert other.post("runs", {"skill": "docs/summarise"}).status_code == 202
    assert_error(agent.get(path), 404, "NOT_FOUND")


def test_a_rule_is_read_removed_and_put_back(version, as_alice, as_bob):
    rule = add(as_alice, "docs/summarise", "deny")
    assert as_bob.get(f"rules/{rule['id']}").json() == rule
    assert as_bob.get("teams/docs/rules").json()["items"] == [rule]
    assert_error(as_bob("DELETE", f"rules/{rule['id']}"), 403, "FORBIDDEN")
    assert as_alice("DELETE", f"rules/{rule['id']}").json()["removed_at"]
    assert as_bob.get("teams/docs/rules").json()["items"] == []
    assert as_alice.post(f"rules/{rule['id']}/restore").json()["removed_at"] is None
    assert as_bob.get("teams/docs/rules").json()["items"] == [rule]


def test_no_token_adds_removes_or_restores(version, as_alice, token_api, alice):
    rule = add(as_alice, "docs/x", "deny")
    agent = token_api(alice)
    body = {"effect": "deny", "name": "docs/y"}
    assert_error(agent.post("teams/docs/rules", body), 403, "FORBIDDEN")
    assert_error(agent("DELETE", f"rules/{rule['id']}"), 403, "FORBIDDEN")
    assert_error(agent.post(f"rules/{rule['id']}/restore"), 403, "FORBIDDEN")
    assert Rule.objects.filter(removed_at=None).count() == 1


def test_a_rule_asked_for_twice_with_one_key_is_one(version, as_alice):
    headers = {"Idempotency-Key": "k"}
    body = {"effect": "deny", "name": "docs/x"}
    answers = [as_alice.post("teams/docs/rules", body, headers=headers) for _ in range(2)]
    assert answers[0].content == answers[1].content
    assert Rule.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"effect": "allow", "name": "docs/absent"}, 404, "NOT_FOUND"),
        ({"effect": "allow", "name": "docs/summarise", "version": "9.9.9"}, 404, "NOT_FOUND"),
        ({"effect": "deny", "name": "not a name"}, 422, "RULE_NAME_INVALID"),
        ({"effect": "perhaps", "name": "x"}, 422, "FIELD_INVALID"),
        ({"effect": "deny"}, 422, "FIELD_REQUIRED"),
    ],
)
def test_what_is_no_rule_is_refused(version, as_alice, body, status, code):
    assert_error(as_alice.post("teams/docs/rules", body), status, code)


def test_a_private_skill_decides_as_an_absent_one_to_a_stranger(version, as_charlie, token_api, charlie):
    for api in (as_charlie, token_api(charlie)):
        there = api.get("permissions/check?skill=docs/summarise")
        absent = api.get("permissions/check?skill=docs/sxmmarise")
        assert_error(there, 404, "NOT_FOUND")
        same = absent.content.replace(b"sxmmarise", b"summarise").replace(
            absent["X-Request-ID"].encode(), there["X-Request-ID"].encode()
        )
        assert there.content == same


def test_a_decision_for_a_team_is_for_its_members(public_version, as_charlie, as_bob, team):
    assert_error(as_charlie.get("permissions/check?skill=docs/summarise&team=docs"), 403, "RUN_TEAM_INVALID")
    assert decision(as_charlie, "docs/summarise")["team"] == "elsewhere"
    assert decision(as_bob, "docs/summarise@1.0.0", "&team=docs")["team"] == "docs"


@pytest.mark.parametrize("scope", [Scope.READ, Scope.RUN])
def test_a_token_learns_what_it_may_run(version, token_api, bob, scope):
    assert decision(token_api(bob, scope.value), "docs/summarise")["outcome"] == "allow"


def test_a_stranger_who_sees_the_team_reads_no_rule_of_it(public_version, as_charlie, as_alice, anonymous):
    rule = add(as_alice, "docs/x", "deny")
    for api, status in ((as_charlie, 403), (anonymous, 403)):
        assert api.get("teams/docs/rules").status_code == status
    assert_error(as_charlie.get(f"rules/{rule['id']}"), 404, "NOT_FOUND")


def test_a_match_says_to_an_agent_whether_somebody_is_to_be_asked(publish, as_alice, token_api, alice):
    publish(TOOLS)
    agent = token_api(alice)

    def row(api):
        found = api.post("match", {"utterance": "report"}).json()["results"][0]
        return found["can"]["run"], found["needs"]["approval"]

    assert (row(agent), row(as_alice)) == ((True, True), (True, False))
    allowance = add(as_alice, "docs/report")
    assert row(agent) == (True, False)
    as_alice("DELETE", f"rules/{allowance['id']}")
    add(as_alice, "docs/report", "deny")
    assert (row(agent), row(as_alice)) == ((False, False), (False, False))


@pytest.mark.row("D11")
def test_what_its_author_keeps_for_people_no_agent_starts(publish, as_alice, token_api, alice):
    kept = TOOLS["SKILL.md"].replace("name: ", "disable-model-invocation: true\nname: ")
    publish({**TOOLS, "SKILL.md": kept})
    agent = token_api(alice)
    for allowed in (False, True):
        told = assert_error(agent.post("runs", {"skill": "docs/report"}), 403, "NOT_FOR_AGENTS")
        assert "/skills/docs/report/run/" in told["remedy"]
        found = agent.get("permissions/check?skill=docs/report").json()
        assert (found["outcome"], found["basis"], found["suggested_rules"]) == ("deny", "skill", None)
        assert (found["rule"], found["added_permissions"]) == (None, {})
        if not allowed:
            add(as_alice, "docs/report")
    assert as_alice.post("runs", {"skill": "docs/report"}).status_code == 202
    add(as_alice, "docs/report", "deny")
    assert agent.get("permissions/check?skill=docs/report").json()["basis"] == "rule"


# From the shell
def decided(skill, query="", by="alice"):
    return shell.api("GET", f"permissions/check?skill={skill}{query}", by=by)[1]


def test_shell_allows_lists_removes_and_restores(version, others, alice):
    others(TOOLS)
    asked = ("elsewhere/report", "&team=docs")
    assert decided(*asked)["outcome"] == "ask"
    body = {"effect": "allow", "name": "elsewhere/report", "version": "1.0.0"}
    status, rule = shell.api("POST", "teams/docs/rules", body, by="alice")
    assert (status, rule["effect"]) == (0, "allow")
    assert decided(*asked)["basis"] == "rule"
    assert [row["id"] for row in shell.api("GET", "teams/docs/rules", by="alice")[1]["items"]] == [rule["id"]]
    assert shell.api("DELETE", f"rules/{rule['id']}")[1]["removed_at"]
    assert decided(*asked)["outcome"] == "ask"
    assert shell.api("POST", f"rules/{rule['id']}/restore")[1]["removed_at"] is None
    body = {"effect": "deny", "name": "elsewhere/:*"}
    assert shell.api("POST", "teams/docs/rules", body, by="alice")[0] == 0
    assert decided(*asked)["outcome"] == "deny"


def test_shell_sets_rules_of_a_token_and_refuses_a_member(version, token_api, bob):
    token = token_api(bob).token
    body = {"effect": "deny", "name": "summarise"}
    assert shell.api("POST", f"tokens/{token.uid}/rules", body, by="bob")[0] == 0
    out = StringIO()
    words = ("docs/summarise", "--token", token.uid, "--as", "bob", "--json")
    call_command("check_permission", *words, stdout=out)
    found = json.loads(out.getvalue())
    assert (found["outcome"], found["rule"]["token"]) == ("deny", token.uid)
    body = {"effect": "allow", "name": "docs/summarise"}
    assert refusal("POST", "teams/docs/rules", body, by="bob") == "FORBIDDEN"


def test_a_maintainer_denies_and_an_owner_allows(version, as_bob, bob):
    Membership.objects.filter(user=bob).update(role=Role.MAINTAINER)
    add(as_bob, "docs/x", "deny")
    assert_error(as_bob.post("teams/docs/rules", {"effect": "allow", "name": "docs/:*"}), 403, "FORBIDDEN")
