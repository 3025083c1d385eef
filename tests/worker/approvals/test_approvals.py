"""Runs that wait for approval: when they wait, and what each decision does."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from registry.canonical.pins import set_canonical
from registry.identity.actors import Actor
from registry.models import AuditEntry, Effect, Rule
from registry.rules import decision as rules_decision
from registry.rules import edit
from tests.checks import not_none
from tests.plans import whole_reads
from tests.worker.approvals.conftest import TOOLS, code, decide, fresh
from worker.approvals import decide as deciding
from worker.approvals import requests
from worker.models import Approval, ApprovalDecision, Run, RunStatus
from worker.queue import claims
from worker.run_views.events import read_heads
from worker.runs.cancel import cancel
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("D6")]


# Asked -----------------------------------------------------------------------------------------------------
def test_what_asks_waits_and_no_worker_claims_it(asks, wake_calls):
    run = asks()
    assert run.status == RunStatus.WAITING_APPROVAL
    assert claims.claim_next("w") is None
    assert wake_calls == []
    approval = fresh(run).approval
    assert (
        approval.requested_permissions["tools"],
        approval.added_permissions,
        approval.unsafe_properties,
    ) == (["Bash"], {}, ["allowed_tools"])
    assert approval.expires_at - run.created_at == timedelta(hours=72)


def test_a_person_who_presses_run_does_not_wait(asks, owner):
    run = asks(actor=owner)
    assert (run.status, run.permission["basis"]) == (RunStatus.QUEUED, "person")
    assert not Approval.objects.exists()


def test_what_no_rule_may_allow_is_refused_before_anybody_is_asked(asks, owner, team, publish_skill):
    version = publish_skill(front=TOOLS)
    edit.add_rule(team, Effect.DENY, "docs/hello", owner)
    assert code(asks, version) == "RULE_DENIED"
    assert not Run.objects.exists()


def test_one_idempotency_key_is_one_run_that_waits(asks):
    assert asks(idempotency_key="k") == asks(idempotency_key="k")


def test_the_decision_comes_before_a_cached_answer(asks, owner, publish_skill):
    version = publish_skill(front=TOOLS + "cacheable: true\ncache_scope: team\n")
    assert execute_here(asks(version, actor=owner)).status == RunStatus.SUCCEEDED
    assert asks(version, actor=owner).cached_from_id
    run = asks(version)
    assert run.status == RunStatus.WAITING_APPROVAL
    assert run.cached_from_id is None
    answered = decide(run, ApprovalDecision.ONCE, owner)
    assert (answered.status, answered.permission["basis"]) == (RunStatus.SUCCEEDED, "approval")
    assert answered.cached_from_id
    assert answered.result["outputs"]["greeting"] == "hello you"


def test_a_wider_version_waits_and_shows_what_is_new(asks, owner, publish_skill, team):
    first = publish_skill(front=TOOLS)
    edit.add_rule(team, Effect.ALLOW, "docs/hello", owner)
    assert asks(first).status == RunStatus.QUEUED
    wider = publish_skill(number="2.0.0", front="allowed-tools: [Bash, Write]\nshell: bash\n")
    run = asks(wider)
    assert run.approval.added_permissions == {"shell": ["bash"], "tools": ["Write"]}


# Every part of the permission set: a rule and the canonical pass hold for what they were given for ----------
PARTS = {
    "hosts": "security:\n  network: allowlist\n  network_allowlist: [{}.example]\n",
    "environment": "security:\n  environment: {{MODE: {}}}\n",
    "secrets": "security:\n  secrets: [{}]\n",
    "tools": "allowed-tools: [{}]\n",
    "hooks": "hooks:\n  PreToolUse:\n    - command: [{}]\n",
    "shell": "shell: {}\n",
    "skills": "requires: [{}]\nshell: bash\n",
    "properties": "a-new-field: {}\n",
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("by", ["rule", "canonical"])
def test_an_allowance_does_not_reach_to_what_is_new_in_any_part(
    part, by, publish_skill, team, owner, administrator
):
    version = publish_skill(front=PARTS[part].format("one"), visibility="public")
    assert rules_decision.decide(version, team=team).outcome == "ask"
    if by == "rule":
        edit.add_rule(team, Effect.ALLOW, "docs/hello", owner)
    else:
        set_canonical("hello", version, Actor(user=administrator), reason="Ours.")
    assert (found := rules_decision.decide(version, team=team)).outcome == "allow"
    assert found.by == by
    more = rules_decision.decide(
        publish_skill(number="2.0.0", front=PARTS[part].format("two"), visibility="public"), team=team
    )
    assert (more.outcome, list(more.added_permissions.document())) == ("ask", [part])


def test_who_waits_for_a_decision_learns_that_it_was_made_or_that_the_run_is_over(asks, owner, bob):
    let, cancelled, expired, waiting = (asks() for _ in range(4))
    decide(let, ApprovalDecision.ONCE, owner)
    cancel(cancelled, actor=Actor(user=bob))
    deciding.expire(timezone.now())
    Approval.objects.filter(run=expired).update(expires_at=timezone.now())
    deciding.expire(timezone.now())
    now = read_heads([run.uid for run in (let, cancelled, expired, waiting)])
    heads = [now[run.uid] for run in (let, cancelled, expired, waiting)]
    assert [head.needs_approval for head in heads] == [False, False, False, True]


# Decided ---------------------------------------------------------------------------------------------------
def test_allowed_once_it_runs_and_the_next_one_asks_again(asks, owner, wake_calls):
    run = asks()
    decided = decide(run, ApprovalDecision.ONCE, owner)
    assert decided.status == RunStatus.QUEUED
    assert decided.permission == {"basis": "approval", "rule": None, "name": "alice"}
    assert not Rule.objects.exists()
    ended = execute_here(decided)
    assert ended.status == RunStatus.SUCCEEDED
    assert asks().status == RunStatus.WAITING_APPROVAL


@pytest.mark.parametrize(
    ("choice", "name"), [(ApprovalDecision.EXACT, "docs/hello"), (ApprovalDecision.PREFIX, "docs/hello:*")]
)
def test_a_rule_is_kept_and_lets_everything_start_that_it_covers(asks, owner, publish_skill, choice, name):
    one, other = asks(), asks()
    longer = asks(publish_skill("hello-again", front=TOOLS))
    elsewhere = asks(publish_skill("apart", front=TOOLS))
    decided = decide(one, choice, owner)
    rule = Rule.objects.get()
    assert (rule.effect, rule.name, rule.granted["tools"]) == ("allow", name, ["Bash"])
    assert decided.permission == {"basis": "rule", "rule": rule.uid, "name": name}
    assert fresh(other).status == RunStatus.QUEUED
    assert fresh(other).approval.rule == fresh(one).approval.rule == rule
    covered = choice == ApprovalDecision.PREFIX
    assert (fresh(longer).status == RunStatus.QUEUED) is covered
    assert fresh(elsewhere).status == RunStatus.WAITING_APPROVAL
    assert asks().status == RunStatus.QUEUED


def test_a_rule_lets_no_version_start_that_asks_for_more(asks, owner, publish_skill):
    narrow = asks(publish_skill(front=TOOLS))
    wide = asks(publish_skill(number="2.0.0", front="allowed-tools: [Bash, Write]\n"))
    decide(narrow, ApprovalDecision.EXACT, owner)
    assert fresh(wide).status == RunStatus.WAITING_APPROVAL
    assert fresh(narrow).status == RunStatus.QUEUED


def test_denied_it_never_runs_and_its_caller_reads_why(asks, owner, bob):
    run = asks()
    decided = decide(run, ApprovalDecision.DENIED, owner, reason="Not on a Friday.")
    assert (decided.status, decided.failure_code) == (RunStatus.REFUSED, "APPROVAL_DENIED")
    assert "Not on a Friday." in decided.message
    assert decided.started_at is None
    told = not_none(requests.find_approval_document(decided, Actor(user=bob)))
    assert (told["state"], told["reason"], told["decided_by"]) == (
        "denied",
        "Not on a Friday.",
        "alice",
    )


@pytest.mark.parametrize("empty", ["allowed-tools: []", "hooks: {}", "shell:", "a-new-field: []"])
def test_what_means_nothing_asks_nobody(publish_skill, team, empty):
    assert rules_decision.decide(publish_skill(front=empty + "\n"), team=team).outcome == "allow"


def test_the_example_of_document_d_asks_with_both_rules_on_offer(asks, publish_skill):
    """Its tools, its hook and its shell make it ask; what else it says is on the safe list."""
    front = (
        'when_to_use: "review this"\nallowed-tools: [Read, Grep, Glob]\nargument-hint: "<file>"\n'
        "arguments: [path]\nmodel: opus\neffort: high\nagent: code-reviewer\nuser-invocable: true\n"
        'disable-model-invocation: false\npaths: ["src/**/*.ts"]\n'
        'hooks:\n  PreToolUse:\n    - command: ["echo", "checking"]\nshell: ["bash"]\n'
    )
    run = asks(publish_skill("code-review", front=front))
    assert run.approval.unsafe_properties == ["allowed_tools", "hooks", "shell"]
    told = not_none(requests.find_approval_document(run, Actor(user=run.caller)))
    assert (told["exact_rule"], told["prefix_rule"]) == ("docs/code-review", "docs/code-review:*")


def test_a_denial_says_why(asks, owner):
    run = asks()
    assert code(decide, run, ApprovalDecision.DENIED, owner, reason=" ") == "TEXT_INVALID"
    assert fresh(run).status == RunStatus.WAITING_APPROVAL


def test_a_denial_may_be_kept_as_a_rule_for_all_that_wait(asks, owner):
    run, other = asks(), asks()
    decide(run, ApprovalDecision.DENIED, owner, reason="Never.", rule=True)
    rule = Rule.objects.get()
    assert (rule.effect, rule.name) == ("deny", "docs/hello")
    assert fresh(run).failure_code == "APPROVAL_DENIED"
    assert (fresh(other).status, fresh(other).failure_code) == (RunStatus.REFUSED, "RULE_DENIED")
    assert fresh(run).approval.rule == fresh(other).approval.rule == rule


def test_rules_made_elsewhere_decide_what_waits(asks, owner, team):
    run = asks()
    edit.add_rule(team, Effect.ALLOW, "docs/:*", owner)
    assert (fresh(run).status, fresh(run).approval.decision) == (RunStatus.QUEUED, ApprovalDecision.PREFIX)
    rule = edit.remove_rule(Rule.objects.get(), owner)
    again = asks()
    assert again.status == RunStatus.WAITING_APPROVAL
    edit.restore_rule(rule, owner)
    assert fresh(again).status == RunStatus.QUEUED


def test_a_tokens_own_rule_decides_for_that_token_alone(asks, agent_of, alice, owner):
    mine, other = agent_of(alice), agent_of(alice)
    runs = [asks(actor=agent) for agent in (mine, other)]
    edit.add_rule(mine.token, Effect.ALLOW, "docs/hello", owner)
    assert [fresh(run).status for run in runs] == [RunStatus.QUEUED, RunStatus.WAITING_APPROVAL]


def test_what_is_decided_is_written_down(asks, owner, team):
    run = asks()
    decide(run, ApprovalDecision.EXACT, owner)
    entry = AuditEntry.objects.get(action="approval.exact")
    assert (entry.user, entry.team, entry.target) == (owner.user, team, run.uid)
    assert entry.detail == {"skill": "docs/hello", "rule": "allow docs/hello"}


def test_list_needs_as_many_queries_for_six_requests_as_for_one(asks, alice, client):
    client.force_login(alice)
    counts = []
    for more in (1, 5):
        runs = [asks(inputs={"name": str(number)}) for number in range(more)]
        client.get("/api/v1/approvals")  # reads the session's user, and compiles
        with CaptureQueriesContext(connection) as queries:
            rows = client.get("/api/v1/approvals").json()["items"]
        assert {row["exact_rule"] for row in rows} == {"docs/hello"}
        assert rows[0]["run"] == runs[-1].uid
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_rule_names_of_a_page_look_up_each_skill(asks, owner):
    asks()
    found = list(requests.approvals(owner))
    assert requests.exact_rule_names(found, owner) == {found[0].pk: "docs/hello"}
    assert whole_reads(lambda: requests.exact_rule_names(found, owner)) == []
