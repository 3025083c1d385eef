"""Runs that wait for somebody's leave, by API and by command."""

from __future__ import annotations

import pytest

from registry.models import Membership, Role
from tests.api.conftest import MAIN_PY, assert_error
from tests.shell import api
from worker.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.row("D6")]

FILES = {
    "SKILL.md": "---\nname: report\ndescription: Writes a report.\nversion: 1.0.0\n"
    "allowed-tools: [Bash]\n---\n# Report\n",
    "scripts/main.py": MAIN_PY,
}


@pytest.fixture(autouse=True)
def nobody_listens(monkeypatch):
    monkeypatch.setattr("worker.runs.request.wake", lambda: True)


@pytest.fixture
def agent(token_api, bob):
    return token_api(bob, "run", "read")


@pytest.fixture
def waiting(publish, agent):
    publish(FILES)
    answer = agent.post("runs", {"skill": "docs/report"})
    assert answer.status_code == 202, answer.content
    return answer.json()


def say(api, run, decision="once", **more):
    return api.post(f"runs/{run['id']}/approval", {"decision": decision, **more})


def test_an_agent_is_told_what_waits_where_and_for_what(waiting, agent):
    assert (waiting["status"], waiting["permission"]) == ("waiting_approval", None)
    told = waiting["approval"]
    assert told["page_url"].endswith(f"/runs/{waiting['id']}/")
    assert (told["state"], told["requested_permissions"]["tools"], told["added_permissions"]) == (
        "waiting",
        ["Bash"],
        {},
    )
    assert (told["exact_rule"], told["prefix_rule"]) == ("docs/report", "docs/report:*")
    assert [row["id"] for row in agent.get("runs?status=waiting_approval").json()["items"]] == [waiting["id"]]
    assert agent.get(f"runs/{waiting['id']}").json()["approval"] == told


def test_a_maintainer_lists_and_lets_one_start(waiting, agent, as_bob, bob):
    Membership.objects.filter(user=bob).update(role=Role.MAINTAINER)
    (row,) = as_bob.get("approvals?state=waiting&skill=docs/report&team=docs").json()["items"]
    assert (row["run"], row["caller"], row["token"]) == (waiting["id"], "bob", "test")
    assert as_bob.get("approvals?state=decided").json()["items"] == []
    assert say(as_bob, waiting).json()["status"] == "queued"
    told = agent.get(f"runs/{waiting['id']}").json()
    assert (told["approval"]["state"], told["approval"]["decided_by"]) == ("once", "bob")
    assert told["permission"] == {"basis": "approval", "rule": None, "name": "bob"}
    assert as_bob.get("approvals?state=waiting").json()["items"] == []


def test_an_owner_keeps_the_rule_and_the_next_call_runs(waiting, agent, as_alice):
    told = say(as_alice, waiting, "prefix").json()
    assert (told["status"], told["permission"]["name"]) == ("queued", "docs/report:*")
    assert agent.post("runs", {"skill": "docs/report"}).json()["status"] == "queued"


def test_a_denial_tells_its_reason_to_the_caller(waiting, agent, as_alice):
    assert_error(say(as_alice, waiting, "denied"), 422, "TEXT_INVALID")
    assert say(as_alice, waiting, "denied", reason="Not here.").json()["status"] == "refused"
    told = agent.get(f"runs/{waiting['id']}").json()
    assert (told["failure_code"], told["approval"]["reason"]) == ("APPROVAL_DENIED", "Not here.")
    assert "Not here." in told["message"]
    assert_error(say(as_alice, waiting), 409, "APPROVAL_DECIDED")


def test_no_token_and_no_member_decides(waiting, token_api, alice, as_bob):
    assert_error(say(token_api(alice), waiting), 403, "FORBIDDEN")
    assert_error(say(as_bob, waiting), 403, "FORBIDDEN")
    assert Run.objects.get().status == "waiting_approval"


def test_a_stranger_sees_neither_the_run_nor_the_approval(waiting, as_charlie, anonymous):
    assert as_charlie.get("approvals").json()["items"] == []
    assert_error(as_charlie.get(f"runs/{waiting['id']}"), 404, "NOT_FOUND")
    assert_error(as_charlie.get(f"runs/{waiting['id']}/approval"), 404, "NOT_FOUND")
    assert_error(say(as_charlie, waiting), 404, "NOT_FOUND")
    assert_error(anonymous.get("approvals"), 401, "SIGN_IN_REQUIRED")


def test_a_skills_authors_learn_nothing_of_who_asks(publish, charlie, as_alice, token_api):
    publish(FILES, visibility="public")
    run = token_api(charlie).post("runs", {"skill": "docs/report"}).json()
    assert run["status"] == "waiting_approval"
    assert "approval" not in as_alice.get(f"runs/{run['id']}").json()
    assert as_alice.get("approvals").json()["items"] == []


def test_its_caller_cancels_it(waiting, agent, as_alice):
    assert agent.post(f"runs/{waiting['id']}/cancel").json()["status"] == "cancelled"
    assert agent.get(f"runs/{waiting['id']}/approval").json()["state"] == "cancelled"
    assert_error(say(as_alice, waiting), 409, "APPROVAL_DECIDED")


def test_a_decision_that_is_sent_twice_with_one_key_is_one(waiting, as_alice):
    body, headers = {"decision": "once"}, {"Idempotency-Key": "k"}
    answers = [as_alice.post(f"runs/{waiting['id']}/approval", body, headers=headers) for _ in range(2)]
    assert [each.status_code for each in answers] == [200, 200]
    assert answers[0].content == answers[1].content


@pytest.mark.parametrize("body", [{}, {"decision": "expired"}, {"decision": "once", "more": 1}])
def test_what_is_no_decision_is_refused(waiting, as_alice, body):
    assert as_alice.post(f"runs/{waiting['id']}/approval", body).status_code == 422


# From the shell
def test_shell_lists_and_decides(waiting):
    def listed(query="?state=waiting"):
        return [row["run"] for row in api("GET", f"approvals{query}")[1]["items"]]

    def decide(decision, by="", **more):
        return api("POST", f"runs/{waiting['id']}/approval", {"decision": decision, **more}, by=by)

    assert listed() == [waiting["id"]]
    assert decide("once", by="bob")[0] == 1
    status, decided = decide("denied", by="alice", reason="No.")
    assert (status, decided["approval"]["state"]) == (0, "denied")
    assert api("GET", f"runs/{waiting['id']}/approval")[1]["decided_by"] == "alice"
    assert (listed(), len(listed(""))) == ([], 1)
    status, error = decide("once")
    assert (status, error["code"]) == (1, "APPROVAL_DECIDED")
