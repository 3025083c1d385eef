"""Decisions: what changed since the request, who decides, which one counts, and when the time is over."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from registry.canonical.pins import set_canonical
from registry.core.sql import reader
from registry.core.text import choice_label
from registry.erasure import people
from registry.erasure.export import export_person
from registry.events import webhooks
from registry.events.subscriptions import subscribe
from registry.identity import tokens
from registry.identity.actors import Actor, shell_actor
from registry.models import AuditEntry, Effect, Membership, Role, Rule, Team, Version
from registry.packages.problems import Refusal
from registry.rules import decision as rules_decision
from registry.rules import edit
from tests.checks import not_none
from tests.worker.approvals.conftest import TOOLS, code, decide, fresh
from worker.approvals import decide as deciding
from worker.approvals import requests
from worker.models import Approval, ApprovalDecision, Run, RunStatus
from worker.retention import erase
from worker.runs.cancel import cancel
from worker.service.inline import execute_here
from worker.service.reaper import reap_once

pytestmark = [pytest.mark.django_db, pytest.mark.row("D6")]


# Asked again at the moment of release ---------------------------------------------------------------------
def _hold(run, agent):
    Version.objects.update(held_at=timezone.now())


def _purge(run, agent):
    Version.objects.filter(skill=run.skill).delete()


def _other_bytes(run, agent):
    Run.objects.update(digest="sha256:" + "0" * 64)


def _revoke(run, agent):
    tokens.revoke(agent.token, Actor(user=agent.user))


def _lapse(run, agent):
    type(agent.token).objects.update(expires_at=timezone.now())


def _leave(run, agent):
    Membership.objects.filter(user=agent.user).delete()


def _lock_out(run, agent):
    type(agent.user).objects.filter(pk=agent.user.pk).update(is_active=False)


def _delete_token(run, agent):
    agent.token.delete()


CHANGES = {
    _delete_token: "TOKEN_INVALID",
    _hold: "VERSION_HELD",
    _purge: "PACKAGE_MISSING",
    _other_bytes: "PACKAGE_MISSING",
    _revoke: "TOKEN_INVALID",
    _lapse: "TOKEN_INVALID",
    _leave: "NOT_FOUND",
    _lock_out: "TOKEN_INVALID",
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__.strip("_"))
@pytest.mark.parametrize("choice", [ApprovalDecision.ONCE, ApprovalDecision.EXACT, ApprovalDecision.PREFIX])
def test_what_changed_meanwhile_refuses_it_in_spite_of_an_allowance(
    asks, agent_of, bob, owner, change, choice
):
    agent = agent_of(bob)
    run = asks(actor=agent)
    change(run, agent)
    decided = decide(run, choice, owner)
    assert (decided.status, decided.failure_code) == (RunStatus.REFUSED, CHANGES[change])
    assert fresh(run).approval.decision == choice
    assert not Rule.objects.exists()


@pytest.fixture
def delivered(team, owner, publish_skill):
    """A run that a webhook's delivery asked for, and the endpoint."""
    version = publish_skill(front=TOOLS + "triggers:\n  event_types: [report.filed]\n")
    subscribe(team, version.skill, "report.filed", "start", actor=owner)
    endpoint, _secret = webhooks.create(team, name="git", actor=owner)
    envelope = webhooks.Envelope("d1", str(timezone.now().timestamp()), ())
    webhooks.deliver(endpoint, envelope, {"type": "report.filed", "data": {}})
    return Run.objects.get(), endpoint


def test_what_a_webhook_asked_for_is_let_and_keeps_its_narrow_power(delivered, owner):
    run, _endpoint = delivered
    assert (run.status, run.token, run.token_name) == (RunStatus.WAITING_APPROVAL, None, "webhook git")
    assert decide(run, ApprovalDecision.ONCE, owner).status == RunStatus.QUEUED


@pytest.mark.parametrize("choice", [ApprovalDecision.ONCE, ApprovalDecision.EXACT])
def test_a_webhook_that_was_deleted_meanwhile_starts_nothing(delivered, owner, choice):
    run, endpoint = delivered
    webhooks.remove(endpoint, owner)
    decided = decide(run, choice, owner)
    assert (decided.status, decided.failure_code) == (RunStatus.REFUSED, "WEBHOOK_GONE")
    assert not Rule.objects.exists()


def test_a_webhook_whose_maker_may_run_nothing_any_more_starts_nothing(delivered, owner):
    run, endpoint = delivered
    type(endpoint).objects.update(created_by=None)
    assert decide(run, ApprovalDecision.ONCE, owner).failure_code == "WEBHOOK_OWNER_MISSING"


# A rule that came between ---------------------------------------------------------------------------------
def test_a_rule_made_while_it_is_being_asked_for_lets_it_start(asks, owner, team, publish_skill, monkeypatch):
    version, decided = publish_skill(front=TOOLS), rules_decision.decide

    @reader
    def then_a_rule_is_made(version, **more):
        found = yield from decided.reads(version, **more)
        if not Rule.objects.exists():
            edit.add_rule(team, Effect.ALLOW, "docs/hello", owner)
        return found

    monkeypatch.setattr("worker.runs.request.rules_decision.decide", then_a_rule_is_made)
    run = asks(version)
    assert (run.status, run.permission["basis"]) == (RunStatus.QUEUED, "rule")
    assert not Approval.objects.exists()


def test_what_is_canonical_by_now_starts_whatever_rule_is_made_for_it(
    asks, owner, publish_skill, administrator, team
):
    run = asks(publish_skill(front=TOOLS, visibility="public"))
    set_canonical("hello", run.skill.latest, Actor(user=administrator), reason="Ours.")
    decided = decide(run, ApprovalDecision.PREFIX, owner)
    assert (decided.status, decided.permission["basis"]) == (RunStatus.QUEUED, "canonical")
    assert fresh(run).approval.rule == Rule.objects.get()


def test_no_rule_is_kept_for_a_run_whose_time_ran_out_while_it_was_decided(asks, owner, monkeypatch):
    run = asks()
    monkeypatch.setattr("registry.rules.edit.rule_added.receivers", [])
    assert code(decide, run, ApprovalDecision.EXACT, owner) == "APPROVAL_EXPIRED"
    assert not Rule.objects.exists()
    assert fresh(run).status == RunStatus.WAITING_APPROVAL


def test_a_denial_made_meanwhile_refuses_it(asks, owner, team, monkeypatch):
    run = asks()
    monkeypatch.setattr("registry.rules.edit.rule_added.receivers", [])
    edit.add_rule(team, Effect.DENY, "docs/:*", owner)
    assert decide(run, ApprovalDecision.ONCE, owner).failure_code == "RULE_DENIED"


def test_a_renamed_skill_is_let_by_its_present_name(asks, owner):
    from registry.versions.lifecycle import rename as moving

    run = asks()
    moving.rename(run.skill, owner, slug="greeting")
    assert decide(run, ApprovalDecision.EXACT, owner).status == RunStatus.QUEUED
    assert Rule.objects.get().name == "docs/greeting"


# Who -------------------------------------------------------------------------------------------------------
ROLES = [None, Role.VIEWER, Role.MEMBER, Role.MAINTAINER, Role.OWNER]
MAY = {
    ApprovalDecision.ONCE: {Role.MAINTAINER, Role.OWNER},
    ApprovalDecision.DENIED: {Role.MAINTAINER, Role.OWNER},
    ApprovalDecision.EXACT: {Role.OWNER},
    ApprovalDecision.PREFIX: {Role.OWNER},
}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("choice", MAY)
@pytest.mark.parametrize("by_token", [False, True])
def test_only_people_decide_by_the_table(asks, agent_of, team, django_user_model, role, choice, by_token):
    run = asks()
    user = django_user_model.objects.create_user(username="somebody")
    if role:
        Membership.objects.create(team=team, user=user, role=role)
    actor = agent_of(user) if by_token and role else Actor(user=user)
    if role is None:
        assert code(decide, run, choice, actor) == "NOT_FOUND"
    elif by_token or role not in MAY[choice]:
        assert code(decide, run, choice, actor, reason="no") == "FORBIDDEN"
        assert fresh(run).status == RunStatus.WAITING_APPROVAL
    else:
        assert decide(run, choice, actor, reason="no").status != RunStatus.WAITING_APPROVAL


def test_the_caller_does_not_let_their_own_agent(asks, bob):
    assert code(decide, asks(), ApprovalDecision.ONCE, Actor(user=bob)) == "FORBIDDEN"


def test_an_administrator_and_the_shell_decide(asks, administrator):
    for actor in (Actor(user=administrator), shell_actor()):
        assert decide(asks(), ApprovalDecision.ONCE, actor).status == RunStatus.QUEUED


def test_no_owner_keeps_a_rule_for_a_skill_that_they_do_not_see(asks, agent_of, charlie, bob, owner):
    """Bob works for another team too: its private skill is run for Docs, whose owner may let it once."""
    away = Team.objects.get(slug="elsewhere")
    from registry.packages.read_package import read_files
    from registry.versions.publishing.publish import publish

    files = [("SKILL.md", b"---\nname: far\ndescription: Far.\n---\n"), ("scripts/far.py", b"print('{}')")]
    version = publish(read_files(files), team=away, actor=Actor(user=charlie)).version
    Membership.objects.create(team=away, user=bob, role=Role.MEMBER)
    token, _secret = tokens.issue(
        bob,
        name="both",
        scopes=["run"],
        expires_at=timezone.now() + timedelta(hours=1),
        by=Actor(user=bob),
    )
    agent = Actor(user=bob, token=token, scopes=frozenset({"run"}))
    run = asks(version, actor=agent, team=Team.objects.get(slug="docs"))
    assert not_none(requests.find_approval_document(run, owner))["exact_rule"] is None
    assert code(decide, run, ApprovalDecision.EXACT, owner) == "APPROVAL_RULE_IMPOSSIBLE"
    assert not requests.approvals(Actor(user=charlie)).exists()
    assert decide(run, ApprovalDecision.ONCE, owner).status == RunStatus.QUEUED


def test_a_stranger_finds_no_approval(asks, charlie, owner):
    run = asks()
    stranger = Actor(user=charlie)
    assert code(requests.find, run.uid, stranger) == "NOT_FOUND"
    assert not requests.approvals(stranger).exists()
    assert requests.find_approval_document(run, stranger) is None
    assert not Approval.objects.decidable_by(stranger).exists()
    assert Approval.objects.decidable_by(owner).get().run == run


# One winner ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("second", [ApprovalDecision.ONCE, ApprovalDecision.EXACT, ApprovalDecision.DENIED])
def test_what_is_decided_is_not_decided_again(asks, owner, administrator, second):
    run = asks()
    approval = requests.find(run.uid, owner)
    decide(run, ApprovalDecision.ONCE, owner)
    with pytest.raises(Refusal) as refused:
        deciding.decide(approval, second, Actor(user=administrator), reason="late")
    assert refused.value.code == "APPROVAL_DECIDED"
    assert refused.value.problems[0].params["status"] == choice_label(RunStatus.QUEUED)
    assert fresh(run).status == RunStatus.QUEUED
    assert not Rule.objects.exists()


def test_what_its_caller_cancelled_is_not_decided(asks, owner, bob):
    run = asks()
    assert cancel(run, actor=Actor(user=bob))
    assert code(decide, run, ApprovalDecision.ONCE, owner) == "APPROVAL_DECIDED"
    assert not_none(requests.find_approval_document(fresh(run), owner))["state"] == "cancelled"
    assert fresh(run).status == RunStatus.CANCELLED


# Erased ----------------------------------------------------------------------------------------------------
@pytest.mark.row("P12")
def test_an_erased_run_keeps_that_it_was_decided_and_nothing_of_what_was_said(asks, owner):
    run = asks(inputs={"input_path": "secret plans.txt"})
    decide(run, ApprovalDecision.DENIED, owner, reason="No secret plans.")
    erase.erase_run(fresh(run), actor=owner)
    told = json.dumps([requests.approval_row(fresh(run).approval, owner), fresh(run).message])
    assert "secret plans" not in told
    assert "Bash" not in told
    assert (fresh(run).approval.decision, fresh(run).approval.decided_by) == (
        ApprovalDecision.DENIED,
        owner.user,
    )
    details = AuditEntry.objects.filter(target=run.uid).values_list("detail", flat=True)
    assert "secret plans" not in json.dumps(list(details))


def test_a_person_takes_home_what_they_decided(asks, owner, alice, bob):
    run = asks()
    decide(run, ApprovalDecision.EXACT, owner)
    (found,) = export_person(alice, owner)["decisions"]
    assert (found["run"], found["decision"], found["rule"]) == (run.uid, "exact", "allow docs/hello")
    assert export_person(bob, Actor(user=bob))["decisions"] == []


def test_what_an_erased_person_decided_stands_without_their_name(asks, owner, bob, team):
    let, denied = asks(), asks()
    decide(let, ApprovalDecision.ONCE, owner)
    decide(denied, ApprovalDecision.DENIED, owner, reason="Not today.")
    Membership.objects.filter(user=bob).update(role=Role.OWNER)
    people.erase_person(owner.user, owner)
    for run in (let, denied):
        run = fresh(run)
        told = json.dumps(
            [requests.find_approval_document(run, Actor(user=bob)), run.permission, run.message]
        )
        assert "alice" not in told
        assert run.approval.decided_by.username.startswith("erased-")
    assert "Not today." in fresh(denied).message
    assert (fresh(let).status, fresh(denied).failure_code) == (RunStatus.QUEUED, "APPROVAL_DENIED")


# Time ------------------------------------------------------------------------------------------------------
def _time_passes():
    Approval.objects.update(expires_at=timezone.now())


def test_the_reaper_refuses_what_nobody_decided(asks, owner):
    run = asks()
    reap_once()
    assert fresh(run).status == RunStatus.WAITING_APPROVAL
    _time_passes()
    reap_once()
    run = fresh(run)
    assert (run.status, run.failure_code) == (RunStatus.REFUSED, "APPROVAL_EXPIRED")
    assert run.approval.decision == ApprovalDecision.EXPIRED
    assert deciding.expire(timezone.now()) == []
    assert code(decide, run, ApprovalDecision.ONCE, owner) == "APPROVAL_DECIDED"


def test_nobody_decides_what_has_expired_before_the_reaper_comes(asks, owner, team):
    run = asks()
    _time_passes()
    assert code(decide, run, ApprovalDecision.ONCE, owner) == "APPROVAL_EXPIRED"
    edit.add_rule(team, Effect.ALLOW, "docs/:*", owner)
    assert fresh(run).status == RunStatus.WAITING_APPROVAL


def test_the_site_says_how_long_a_run_waits(asks, settings):
    settings.SKILLQUAY_APPROVAL_HOURS = 2
    run = asks()
    assert run.approval.expires_at - run.created_at == timedelta(hours=2)


def test_waiting_is_no_part_of_how_long_it_ran(asks, owner):
    run = asks()
    Run.objects.update(created_at=timezone.now() - timedelta(days=2))
    ended = execute_here(decide(run, ApprovalDecision.ONCE, owner))
    assert (not_none(ended.finished_at) - not_none(ended.started_at)).total_seconds() < 60
